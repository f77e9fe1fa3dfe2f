"""Tables as Markdown: rows of cells, spans spread out, the first row as the head (contract F3)."""

from typing import Any

from attrs import define, field

_WIDEST = 200
_MOST_SPAN = 1000
_LONG = 2000
_WORDY = 400
"""Characters of a cell; two cells like that side by side are a layout."""


@define
class Cell:
    """One cell: its text as Markdown, and how many columns and rows it takes."""

    text: str
    columns: int = 1
    rows: int = 1


@define
class Table:
    """
    A table while it is read. *caption* stands before it.

    *layout*: it arranges a page rather than holds data.
    """

    layout: bool = False
    caption: str = ""
    rows: list[list[str | Cell]] = field(factory=list)
    _spans: bool = False

    def begin_row(self) -> None:
        """The next cells are in a new row."""
        self.rows.append([])

    def add_words(self, text: str, node: Any) -> None:
        """A cell of words alone; its spans are as the markup has them."""
        if not self.rows:
            self.rows.append([])
        if len(text) > _LONG:
            self.layout = True
        if node.keys() and (node.get("colspan") or node.get("rowspan")):
            self._spans = True
            self.rows[-1].append(Cell(text, _span(node.get("colspan")), _span(node.get("rowspan"))))
        else:
            self.rows[-1].append(text)

    def add_blocks(self, text: str, node: Any) -> None:
        """A cell with elements in it, written as Markdown."""
        if _holds_blocks(text):
            self.layout = True
        self.add_words(text, node)

    def markdown(self) -> str:
        """All of it: a table, or its cells as blocks where it only arranges them."""
        rows = [row for row in self.rows if row]
        caption = f"\n\n{self.caption}\n\n" if self.caption else "\n\n"
        if not rows:
            return caption
        if self._arranges(rows):
            cells = (_text(cell).strip() for row in rows for cell in row)
            return caption + "\n\n".join(filter(None, cells)) + "\n\n"
        return caption + "\n".join(_lines(_spread(rows) if self._spans else _plain_grid(rows))) + "\n\n"

    def _arranges(self, rows: list[list[str | Cell]]) -> bool:
        if self.layout or max(map(len, rows)) == 1:
            return True
        return len(rows) == 1 and sum(len(_text(cell)) > _WORDY for cell in rows[0]) > 1


def _text(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _plain_grid(rows: list[list[str | Cell]]) -> list[list[str]]:
    return [[_flat(_text(cell)) for cell in row] for row in rows]


def _holds_blocks(text: str) -> bool:
    """Whether a cell holds what no cell can: a heading or a block of code."""
    return "\0" in text or text.startswith("#") or "\n#" in text


def _lines(grid: list[list[str]]) -> list[str]:
    width = min(_WIDEST, max(len(row) for row in grid))
    lines = [_line(row, width) for row in grid]
    lines.insert(1, "|" + " --- |" * width)
    return lines


def _line(row: list[str], width: int) -> str:
    if len(row) < width:
        row = row + [""] * (width - len(row))
    return "| " + " | ".join(row) + " |"


def _spread(rows: list[list[str | Cell]]) -> list[list[str]]:
    """Each cell where it stands; what a span covers besides is empty."""
    grid: list[list[str]] = []
    covered: dict[int, int] = {}
    for cells in rows:
        row: list[str] = []
        for one in cells:
            cell = Cell(one) if isinstance(one, str) else one
            _pass(row, covered)
            for number in range(cell.columns):
                if len(row) >= _WIDEST and number:
                    break
                if cell.rows > 1:
                    covered[len(row)] = cell.rows - 1
                row.append(_flat(cell.text) if number == 0 else "")
        _pass(row, covered)
        grid.append(row)
    return grid


def _pass(row: list[str], covered: dict[int, int]) -> None:
    """Leave empty what a cell of a row above covers."""
    while covered.get(len(row), 0) > 0:
        covered[len(row)] -= 1
        row.append("")


def _flat(text: str) -> str:
    text = text.strip()
    if "|" in text:
        text = text.replace("|", "\\|")
    if "\n" in text:
        text = "<br>".join(line.strip() for line in text.split("\n") if line.strip())
    return text


def _span(text: str | None) -> int:
    """A span as browsers read it."""
    digits = (text or "").strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return 1
    return max(1, min(int(digits), _MOST_SPAN))
