"""Exact replacement of text, and what to say when it can't be done."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from norma.domain.model.values import frozen


class NotReplaceable(ValueError):
    """
    The old text is not there, or not once. *hint* says what would help; it may speak of the whole file,
    *reason* only of what is wrong.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason + hint)
        self.reason = reason
        self.hint = hint


@frozen
class Replacement:
    """*old* becomes *new*, *everywhere* or in the one place where it is."""

    old: str
    new: str
    everywhere: bool = False

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Replacement":
        """As the Edit tool gets it."""
        return cls(arguments["old_string"], arguments["new_string"], arguments.get("replace_all", False))

    def fault(self) -> str | None:
        """What is wrong with it whatever the file holds."""
        if self.old == self.new:
            return "old_string and new_string are the same"
        return None

    def apply(self, text: str) -> tuple[str, int]:
        """The new text and the number of places. Raises NotReplaceable."""
        count = text.count(self.old)
        if count == 0:
            raise NotReplaceable("old_string was not found", _near(text, self.old))
        if count > 1 and not self.everywhere:
            raise NotReplaceable(
                f"old_string was found {count} times",
                "; add lines around it to name one place, or set replace_all",
            )
        return text.replace(self.old, self.new), count

    def shown(self) -> str:
        """As a person is shown it before saying yes."""
        head = "every place of" if self.everywhere else "the one place of"
        return "\n".join([head, *_quoted("- ", self.old), "becomes", *_quoted("+ ", self.new)])


def _quoted(mark: str, text: str) -> Iterator[str]:
    return (mark + line for line in text.split("\n"))


def _near(text: str, wanted: str) -> str:
    """Where lines are the same but for blanks around them: the usual reason."""
    lines = [line.strip() for line in wanted.strip().split("\n")]
    place = _place(lines, [line.strip() for line in text.split("\n")])
    if place is None:
        return "; Read shows what the file holds"
    return f"; line {place} and what follows differ from it only in blanks: copy them exactly"


def _place(wanted: Sequence[str], lines: Sequence[str]) -> int | None:
    """The number of the line where *wanted* begins, or where its only line is part of one."""
    if len(wanted) == 1:
        return next((number for number, line in enumerate(lines, 1) if wanted[0] and wanted[0] in line), None)
    size = len(wanted)
    starts = (number for number, line in enumerate(lines) if line == wanted[0])
    return next((start + 1 for start in starts if list(lines[start : start + size]) == list(wanted)), None)
