"""The Write tool: a whole file."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.diff import unified_diff
from norma.domain.tools.encodings import UTF8, spoken
from norma.domain.tools.limits import counted
from norma.domain.tools.places import asked_about, failed, locate, shown, use_of
from norma.domain.tools.remembered import Remembered
from norma.domain.tools.schemas import inputs, text, words
from norma.domain.tools.text_file import NotEncodable, TextFile, binary_kind
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
        require_encodable(arguments["content"], "content")
        return Action(
            "Write",
            Effects(reads=True, writes=True),
            shows=f"{asked_about(found)}\n{arguments['content']}",
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
                refuse_outdated(self._remembered, run.session, path, old.stamp, name)
            data, note = _like(old, content)
            stamp = await self._workspace.write(path, data, stamp=old.stamp if old else "")
        except OSError as error:
            raise failed(error, name) from error
        self._remembered.saw(run.session, path, stamp)
        run.progress(_difference(old, content, name))
        did = "Overwrote" if old else "Created"
        return ToolOutput.of(f"{did} {name} ({counted(len(data), 'byte')}{note}).")

    async def _old(self, path: str) -> FileContent | None:
        try:
            return await self._workspace.read(path, limit=MOST_COMPARED_BYTES)
        except FileNotFoundError:
            return None


def refuse_outdated(remembered: Remembered, session: str, path: str, stamp: str, name: str) -> None:
    """Raise ToolFailed if *session* knows the file at *path* as it was before somebody else changed it."""
    if remembered.outdated(session, path, stamp):
        raise ToolFailed(f"{name} was changed after it was read; Read it again first. Nothing was changed.")


def require_encodable(text: str, name: str) -> None:
    """Raise Refused unless *text* can be written as UTF-8: a lone surrogate can't."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{name} has a character that can't be written as UTF-8: {error.reason}.") from error


def _like(old: FileContent | None, content: str) -> tuple[bytes, str]:
    """The bytes of *content* in the form of the *old* file, and what is to be said of that."""
    if old is None or not old.data or binary_kind(old.data):
        return content.encode(), ""
    form = TextFile.of(old.data, cut=old.whole_size > len(old.data))
    try:
        data = form.encoded(form.plain(content))
    except NotEncodable as error:
        return content.encode(), f", now in UTF-8: {error}"
    kept = [spoken(form.encoding)] if form.encoding != UTF8 else ["the mark in front"] if form.mark else []
    kept += ["CR LF"] if form.crlf else []
    return data, f", keeping {' and '.join(kept)}" if kept else ""


def _difference(old: FileContent | None, content: str, name: str) -> str:
    if old is None:
        return unified_diff("", content, name) or f"{name} is new and empty"
    if binary_kind(old.data) or old.whole_size > len(old.data):
        return f"{name}: {counted(old.whole_size, 'byte')} replaced"
    return unified_diff(TextFile.of(old.data).text, content, name) or f"{name} stays as it was"
