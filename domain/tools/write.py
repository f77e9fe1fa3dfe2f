"""The Write tool: a whole file."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.asking import MOST_SHOWN, question, require_as_shown, small
from norma.domain.tools.limits import counted
from norma.domain.tools.places import failed, locate, printable, shown, use_of
from norma.domain.tools.remembered import Remembered
from norma.domain.tools.rewriting import Rewriting, write_shown
from norma.domain.tools.schemas import inputs, text, words
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import FileContent, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

MOST_COMPARED_BYTES = 1 << 20

SPEC = ToolSpec(
    "Write",
    "Write a whole text file, in place of what is there; missing folders are made. For a change to a part of "
    "a file use Edit.",
    inputs(
        {
            "file_path": words("The file, absolute or relative to the first workspace root."),
            "content": text("All that the file shall hold."),
        }
    ),
)


class Write(Tool):
    """
    Writes what was asked, or nothing if the file has changed since the session knew it.

    A file that is there keeps its mode, its encoding and, if all its lines end so, CR LF.
    """

    def __init__(self, workspace: Workspace, remembered: Remembered) -> None:
        self._workspace = workspace
        self._remembered = remembered

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits()

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        found = locate(self._workspace, arguments["file_path"])
        if not found.exists and arguments["file_path"].rpartition("/")[2] in ("", ".", ".."):
            raise Refused(f"{printable(arguments['file_path'])} is the path of a folder; name a file in it.")
        require_encodable(arguments["content"], "content")
        name = shown(self._workspace, found.path)
        old = self._workspace.peek(found.path, MOST_SHOWN)
        lines = write_shown(old, arguments["content"], name, exists=found.exists)
        return Action(
            "Write",
            Effects(reads=True, writes=True),
            shows=question(found, lines),
            rule=path_rule("Edit", found.path),
            paths=(use_of(found, "write"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        path = run.action.paths[0].path
        name = shown(self._workspace, path)
        content: str = run.arguments["content"]
        try:
            old = await self._old(path)
            if old is not None:
                refuse_outdated(self._remembered, run.session, path, old, name)
            lines = write_shown(small(old) if old else None, content, name, exists=old is not None)
            require_as_shown(run, lines, name)
            rewriting = _rewriting(old, content)
            stamp = await self._workspace.write(path, rewriting.data, stamp=old.stamp if old else "")
        except OSError as error:
            raise failed(error, name) from error
        self._remembered.saw(run.session, path, FileContent(rewriting.data, len(rewriting.data), stamp))
        run.progress(_told(old, rewriting, name))
        did = "Overwrote" if old else "Created"
        note = f", {rewriting.note}" if rewriting.note else ""
        return ToolOutput.of(f"{did} {name} ({counted(len(rewriting.data), 'byte')}{note}).")

    async def _old(self, path: str) -> FileContent | None:
        try:
            return await self._workspace.read(path, limit=MOST_COMPARED_BYTES)
        except FileNotFoundError:
            return None


def refuse_outdated(remembered: Remembered, session: str, path: str, content: FileContent, name: str) -> None:
    """Raise ToolFailed if *session* knows the file at *path* as it was before somebody else changed it."""
    if remembered.outdated(session, path, content):
        raise ToolFailed(f"{name} was changed after it was read; Read it again first. Nothing was changed.")


def require_encodable(text: str, name: str) -> None:
    """Raise Refused unless *text* can be written as UTF-8: a lone surrogate can't."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{name} has a character that can't be written as UTF-8: {error.reason}.") from error


def _rewriting(old: FileContent | None, content: str) -> Rewriting:
    if old is None:
        return Rewriting.of(None, content)
    return Rewriting.of(old.data, content, cut=old.whole_size > len(old.data))


def _told(old: FileContent | None, rewriting: Rewriting, name: str) -> str:
    if old is None and not rewriting.after:
        return f"{name} is new and empty"
    size = old.whole_size if old else 0
    return rewriting.difference(name) or f"{name}: {counted(size, 'byte')} replaced"
