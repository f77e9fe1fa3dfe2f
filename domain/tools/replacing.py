"""Exact replacement of text, and what to say when it can't be done."""

from collections.abc import Iterator, Mapping
from typing import Any

from norma.domain.model.values import frozen
from norma.domain.tools.places import encodable


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
    return (mark + line for line in encodable(text).split("\n"))


def _near(text: str, wanted: str) -> str:
    """Where lines are the same but for their ends or the blanks around them: the usual reasons."""
    one_end = text.replace("\r\n", "\n")
    place = one_end.find(wanted.replace("\r\n", "\n"))
    if place >= 0:
        line = one_end.count("\n", 0, place) + 1
        return f"; line {line} and what follows differ from it only in line ends: Read says which are \\r\\n"
    stripped, lines = _stripped(text), _stripped(wanted.strip())
    # A part of a line, or whole lines.
    place = f"\n{stripped}\n".find(f"\n{lines}\n") if "\n" in lines else stripped.find(lines)
    if lines and place >= 0:
        line = stripped.count("\n", 0, place) + 1
        return f"; line {line} and what follows differ from it only in blanks: copy them exactly"
    return "; Read shows what the file holds"


def _stripped(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n"))
