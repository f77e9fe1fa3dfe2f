"""The Read tool: a text file with line numbers, the text of a PDF, or an image."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.blocks import Text
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import path_rule
from norma.domain.tools.documents import MOST_BYTES as MOST_PDF_BYTES
from norma.domain.tools.documents import START as PDF
from norma.domain.tools.documents import Excerpt, PageStarts
from norma.domain.tools.encodings import spoken
from norma.domain.tools.images import MOST_BYTES as MOST_IMAGE_BYTES
from norma.domain.tools.images import image, media_type
from norma.domain.tools.limits import counted, page
from norma.domain.tools.notebook import ENDING, NOTE, notebook_text
from norma.domain.tools.places import asked_about, encodable, failed, locate, shown, use_of
from norma.domain.tools.remembered import Remembered
from norma.domain.tools.schemas import inputs, whole, words
from norma.domain.tools.text_file import TextFile, binary_kind
from norma.ports.documents import Documents, NotInstalled, Unreadable
from norma.ports.errors import ToolFailed
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
    "Images are shown as such, notebooks by their cells, PDFs by the text of their pages. Folders: use LS.",
    inputs(
        {"file_path": words("The file, absolute or relative to the first workspace root.")},
        {
            "offset": whole("The first line to show, counted from 1.", minimum=0),
            "limit": whole(f"How many lines to show, {LINES} if not given.", minimum=1),
        },
    ),
)


class Read(Tool):
    """Reads inside the workspace; outside, the policy is asked. Without *documents* PDFs are described."""

    def __init__(
        self, workspace: Workspace, remembered: Remembered, documents: Documents | None = None
    ) -> None:
        self._workspace = workspace
        self._remembered = remembered
        self._documents = documents
        self._starts = PageStarts()

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
        name = shown(self._workspace, run.action.paths[0].path)
        content = await self._content(run, name, MOST_BYTES)
        first = max(1, int(run.arguments.get("offset", 1)))
        limit = int(run.arguments.get("limit", LINES))
        if content.data.startswith(PDF) and self._documents is not None:
            return ToolOutput.of(await self._pages(run, name, content, first, limit, self._documents))
        kind = media_type(content.data)
        if kind is not None and content.whole_size <= min(MOST_IMAGE_BYTES, len(content.data)):
            size = counted(content.whole_size, "byte")
            return ToolOutput((Text(f"[{name}: {kind}, {size}]"), image(content.data, kind, name)))
        return ToolOutput.of(_view(content, name, first, limit))

    async def _content(self, run: ToolRun, name: str, most: int) -> FileContent:
        path = run.action.paths[0].path
        try:
            content = await self._workspace.read(path, limit=most)
        except OSError as error:
            raise failed(error, name) from error
        self._remembered.saw(run.session, path, content)
        return content

    async def _pages(
        self, run: ToolRun, name: str, content: FileContent, first: int, limit: int, documents: Documents
    ) -> str:
        """The lines of a PDF. Raises ToolFailed where none of them can be had."""
        if len(content.data) < content.whole_size <= MOST_PDF_BYTES:
            content = await self._content(run, name, MOST_PDF_BYTES)
        if len(content.data) < content.whole_size:
            return _described(content, name, f"; PDFs of up to {MOST_PDF_BYTES} bytes are")
        excerpt = Excerpt(self._starts.of(run.action.paths[0].path, content.stamp), first, limit)
        try:
            await documents.read(content.data, excerpt.take, first=excerpt.page)
        except NotInstalled as error:
            return _described(content, name, f"; {error}")
        except (Unreadable, TimeoutError) as error:
            if excerpt.is_empty:
                raise ToolFailed(f"{name} is a PDF, but {_why(error, excerpt)}.") from error
            fault = f"the reading ended after {excerpt.reached}: {error}"
            return excerpt.text(name, fault, final=isinstance(error, Unreadable))
        return excerpt.text(name)


def _why(error: Exception, excerpt: Excerpt) -> str:
    """What kept a PDF from being shown, and whether it helps to ask again."""
    if isinstance(error, TimeoutError) and excerpt.reached:
        return f"{error}; this call came to {excerpt.reached}, and the next one goes on from there"
    return str(error)


def _described(content: FileContent, name: str, more: str = "") -> str:
    kind = binary_kind(content.data)
    return f"[{name} is a binary file ({kind}, {content.whole_size} bytes) and is not shown{more}]"


def _view(content: FileContent, name: str, first: int, limit: int) -> str:
    if binary_kind(content.data) is not None:
        return _described(content, name)
    if not content.data:
        return f"[{name} is empty]"
    cut_file = content.whole_size > len(content.data)
    file = TextFile.of(content.data, cut=cut_file)
    cells = notebook_text(content.data) if name.endswith(ENDING) and not cut_file else None
    if cells == "":
        return f"[{name} is a notebook without cells]"
    if not file.text:
        return f"[{name} is empty, but for the mark of {spoken(file.encoding)} in front]"
    lines = (file.text if cells is None else cells).split("\n")
    if not lines[-1]:
        lines.pop()
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
    if cells is not None:
        return _shown(lines, first, limit, beyond, NOTE)
    # Where all lines end alike, none has a CR any more.
    some = enumerate(lines[first - 1 : first - 1 + limit], first)
    crlf = {number for number, line in some if line.endswith("\r")}
    if not file.text.endswith("\n"):
        crlf.discard(len(lines))  # a CR there ends no line
    return _shown(lines, first, limit, beyond, file.note, crlf)


def _shown(
    lines: Sequence[str], first: int, limit: int, beyond: str, encoding: str, crlf: Collection[int] = ()
) -> str:
    chosen = enumerate(lines[first - 1 : first - 1 + limit], first)
    texts = [line[:-1] if number in crlf else line for number, line in chosen]
    fit = page([f"{number:>6}\t{_cut(text)}" for number, text in enumerate(texts, first)])
    end = first + len(fit.lines)
    long = [number for number in range(first, end) if len(texts[number - first]) > LINE_CHARACTERS]
    left = len(lines) - end + 1
    text = fit.text(
        f"{counted(left, 'more line')}; continue with offset={end}" if left else "",
        _cut_note(long),
        _mixed_note([number for number in range(first, end) if number in crlf]),
        encoding,
        "" if _encodable(fit.lines) else "bytes that are no UTF-8 are shown as \ufffd",
        beyond if not left else "",
    )
    return encodable(text)


def _encodable(lines: Sequence[str]) -> bool:
    try:
        "".join(lines).encode()
    except UnicodeEncodeError:
        return False
    return True


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"


def _cut_note(numbers: Sequence[int]) -> str:
    """Which lines are shown in part; empty for none."""
    if not numbers:
        return ""
    return f"cut at {LINE_CHARACTERS} characters: {_named(numbers)}; Bash with cut -c shows the rest"


def _mixed_note(numbers: Sequence[int]) -> str:
    """Which lines end in CR LF where not all do; empty for none."""
    if not numbers:
        return ""
    ends = "ends" if len(numbers) == 1 else "end"
    return f"{_named(numbers)} {ends} in CR LF, which not all lines do: for Edit they end in \\r\\n"


def _named(numbers: Sequence[int]) -> str:
    some = ", ".join(map(str, numbers[:10])) + (" and others" if len(numbers) > 10 else "")
    return f"{'line' if len(numbers) == 1 else 'lines'} {some}"
