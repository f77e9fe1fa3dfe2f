"""The Read tool: a text file with line numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.limits import counted, page
from norma.domain.tools.places import asked_about, failed, locate, shown, use_of
from norma.domain.tools.schemas import inputs, whole, words
from norma.domain.tools.text_file import MARK, binary_kind
from norma.ports.files import FileContent, Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

LINES = 2000
LINE_CHARACTERS = 2000
MOST_BYTES = 8 << 20
"""Read from the front of a file; splitting more than this into lines would hold up the loop."""

SPEC = ToolSpec(
    "Read",
    "Show a text file with line numbers. A relative path starts at the first workspace root. Shows up to "
    f"{LINES} lines; for more, call again with the offset that the answer names. Lines over "
    f"{LINE_CHARACTERS} characters are cut. The numbers and the tab behind them are not part of the file. "
    "Folders: use LS.",
    inputs(
        {"file_path": words("The file, absolute or relative to the first workspace root.")},
        {
            "offset": whole("The first line to show, counted from 1.", minimum=0),
            "limit": whole(f"How many lines to show, {LINES} if not given.", minimum=1),
        },
    ),
)


class Read(Tool):
    """Reads inside the workspace; outside, the policy is asked."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        found = locate(self._workspace, arguments["file_path"])
        return Action(
            "Read",
            Effects(reads=True),
            shows=asked_about(found),
            rule=path_rule("Read", found.path),
            paths=(use_of(found, "read"),),
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        path = run.action.paths[0].path
        name = shown(self._workspace, path)
        try:
            content = await self._workspace.read(path, limit=MOST_BYTES)
        except OSError as error:
            raise failed(error, name) from error
        first = max(1, int(run.arguments.get("offset", 1)))
        return ToolOutput.of(_view(content, name, first, int(run.arguments.get("limit", LINES))))


def _view(content: FileContent, name: str, first: int, limit: int) -> str:
    kind = binary_kind(content.data)
    if kind is not None:
        return f"[{name} is a binary file ({kind}, {content.whole_size} bytes) and is not shown]"
    if not content.data:
        return f"[{name} is empty]"
    lines = content.data.removeprefix(MARK).split(b"\n")
    if not lines[-1]:
        lines.pop()
    cut_file = content.whole_size > len(content.data)
    beyond = (
        f"only the first {len(content.data)} of its {content.whole_size} bytes can be read this way; "
        "use Grep, or Bash with sed, for the rest"
        if cut_file
        else ""
    )
    if first > len(lines):
        at_least = "at least " if cut_file else ""
        size = f"{at_least}{counted(len(lines), 'line')}"
        return page([]).text(f"{name} has {size}; offset {first} is behind its end", beyond)
    return _shown(lines, first, limit, beyond)


def _shown(lines: Sequence[bytes], first: int, limit: int, beyond: str) -> str:
    texts = [_decoded(line) for line in lines[first - 1 : first - 1 + limit]]
    fit = page([f"{number:>6}\t{_cut(text)}" for number, text in enumerate(texts, first)])
    end = first + len(fit.lines)
    long = [number for number in range(first, end) if len(texts[number - first]) > LINE_CHARACTERS]
    left = len(lines) - end + 1
    return fit.text(
        f"{counted(left, 'more line')}; continue with offset={end}" if left else "",
        _cut_note(long),
        "bytes that are no UTF-8 are shown as \ufffd" if _has_other_bytes(lines[first - 1 : end - 1]) else "",
        beyond if not left else "",
    )


def _decoded(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _has_other_bytes(lines: Sequence[bytes]) -> bool:
    try:
        b"\n".join(lines).decode()
    except UnicodeDecodeError:
        return True
    return False


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"


def _cut_note(numbers: Sequence[int]) -> str:
    """Which lines are shown in part; empty for none."""
    if not numbers:
        return ""
    some = ", ".join(map(str, numbers[:10])) + (" and others" if len(numbers) > 10 else "")
    noun = "line" if len(numbers) == 1 else "lines"
    return f"cut at {LINE_CHARACTERS} characters: {noun} {some}; Bash with cut -c shows the rest"
