"""Which texts a match can't be without: looking for those first skips most files at the speed of memory."""

from typing import NamedTuple

from norma.adapters.grep.expression import Alternatives, Char, Concat, Node, Repeat

MOST = 8
"""More texts than this cost more to look for than they save."""


class Needles(NamedTuple):
    """
    Every match holds one of *texts* (UTF-8); with *folded* they are in lower case and the match may not be.

    A folded text is ASCII, and says nothing about what is not: other letters may count as the same
    as an ASCII one.
    """

    texts: tuple[bytes, ...]
    folded: bool

    @property
    def worth(self) -> int:
        """The length of the shortest text: the longer, the rarer."""
        return min(map(len, self.texts))


def needles(node: Node) -> Needles | None:
    """The best texts to look for, or None where every text might match."""
    if isinstance(node, Char):
        return of_characters((node,))
    if isinstance(node, Concat):
        return best([*map(of_characters, runs(node.items)), *map(needles, node.items)])
    if isinstance(node, Repeat) and node.low > 0:
        return needles(node.item)
    if isinstance(node, Alternatives):
        parts = [needles(item) for item in node.items]
        found = [part for part in parts if part is not None]
        texts = tuple(text for part in found for text in part.texts)
        if len(found) == len(parts) and len({part.folded for part in found}) == 1 and len(texts) <= MOST:
            return Needles(texts, found[0].folded)
    return None


def best(found: list[Needles | None]) -> Needles | None:
    """The most worth of *found*; texts that must be matched in lower case count as half."""
    known = [needle for needle in found if needle is not None]
    return max(known, key=lambda needle: needle.worth / (2 if needle.folded else 1), default=None)


def runs(items: tuple[Node, ...]) -> list[tuple[Char, ...]]:
    """The stretches of plain characters in *items*, each in or out of regard for case."""
    found: list[list[Char]] = []
    last: Char | None = None
    for item in items:
        if not isinstance(item, Char):
            last = None
            continue
        if last is None or last.fold != item.fold:
            found.append([])
        found[-1].append(item)
        last = item
    return [tuple(run) for run in found]


def of_characters(run: tuple[Char, ...]) -> Needles | None:
    text = "".join(chr(char.code) for char in run)
    if not run[0].fold:
        return Needles((text.encode(),), False)
    return Needles((text.lower().encode(),), True) if text.isascii() else None
