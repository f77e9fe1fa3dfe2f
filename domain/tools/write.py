"""The Write tool: a whole file."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.diff import unified_diff
from norma.domain.tools.limits import counted
from norma.domain.tools.places import asked_about, failed, locate, shown, use_of
from norma.domain.tools.schemas import inputs, text, words
from norma.domain.tools.text_file import TextFile, binary_kind
from norma.ports.errors import Refused
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
    """Writes what was asked, or nothing if the file changes meanwhile."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

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
            await self._workspace.write(path, content.encode(), stamp=old.stamp if old else "")
        except OSError as error:
            raise failed(error, name) from error
        run.progress(_difference(old, content, name))
        did = "Overwrote" if old else "Created"
        return ToolOutput.of(f"{did} {name} ({counted(len(content.encode()), 'byte')}).")

    async def _old(self, path: str) -> FileContent | None:
        try:
            return await self._workspace.read(path, limit=MOST_COMPARED_BYTES)
        except FileNotFoundError:
            return None


def require_encodable(text: str, name: str) -> None:
    """Raise Refused unless *text* can be written as UTF-8: a lone surrogate can't."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{name} has a character that can't be written as UTF-8: {error.reason}.") from error


def _difference(old: FileContent | None, content: str, name: str) -> str:
    if old is None:
        return unified_diff("", content, name) or f"{name} is new and empty"
    if binary_kind(old.data) or old.whole_size > len(old.data):
        return f"{name}: {counted(old.whole_size, 'byte')} replaced"
    return unified_diff(TextFile.of(old.data).text, content, name) or f"{name} stays as it was"
