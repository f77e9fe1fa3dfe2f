"""How much a tool shows, and how it says that there is more."""

from collections.abc import Sequence

from norma.domain.model.values import frozen

OUTPUT_CHARACTERS = 28_000
"""Of a tool's own text; with its notes it stays under what one result may hold."""

LONGEST_WAIT_S = 590.0
"""The engine ends a tool after 600 s if its host says nothing else; who only waits gives back before that."""


@frozen
class Page:
    """The first lines that fit; *left* others do not."""

    lines: tuple[str, ...]
    left: int

    def text(self, *notes: str) -> str:
        """The lines, then each note in square brackets on a line of its own; empty notes are left out."""
        return "\n".join([*self.lines, *(f"[{note}]" for note in notes if note)])


def page(lines: Sequence[str]) -> Page:
    """Cut at a line's end, so that no line is shown in part; one line is always shown."""
    room = OUTPUT_CHARACTERS
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0 and number > 0:
            return Page(tuple(lines[:number]), len(lines) - number)
    return Page(tuple(lines), 0)


def rest(size: int, offset: int, shown: int, noun: str, plural: str | None = None) -> str:
    """The note on a part of a list of *size* rows: how to see what is behind it. Empty if nothing is."""
    left = size - offset - shown
    if left > 0:
        return f"{left} more of {counted(size, noun, plural)}; continue with offset={offset + shown}"
    if size and offset >= size:
        return f"there is nothing behind the first {counted(size, noun, plural)}"
    return ""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
