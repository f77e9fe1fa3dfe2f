"""Which texts a match can't be without: looking for those first skips most files at the speed of memory."""

from typing import NamedTuple

from norma.adapters.grep.expression import Alternatives, Char, Concat, Node, Repeat

MOST = 8
"""More texts than this cost more to look for than they save."""
MOST_AT_ONCE = 3


class Needles(NamedTuple):
    """
    Every match holds one of *texts* (UTF-8); with *folded* they are ASCII, in lower case, and what they
    match may not be.
    """

    texts: tuple[bytes, ...]
    folded: bool

    @property
    def plain_parts(self) -> tuple[bytes, ...]:
        """The longest part of each text without k and s, which other letters than ASCII's fold to as well."""
        return tuple(max(text.replace(b"k", b"s").split(b"s"), key=len) for text in self.texts)

    @property
    def worth(self) -> int:
        """The length of the shortest text: the longer, the rarer."""
        return min(map(len, self.texts))


def needles(node: Node) -> tuple[Needles, ...]:
    """What to look for, the rarest first: a match needs all of them. Empty where every text might match."""
    found = sorted(required(node), key=lambda needle: needle.worth, reverse=True)
    return tuple(dict.fromkeys(found))[:MOST_AT_ONCE]


def required(node: Node) -> list[Needles]:
    """All that every match of *node* holds."""
    if isinstance(node, Char):
        return of_characters((node,))
    if isinstance(node, Concat):
        plain = [needle for run in runs(node.items) for needle in of_characters(run)]
        return plain + [
            needle for item in node.items if not isinstance(item, Char) for needle in required(item)
        ]
    if isinstance(node, Repeat) and node.low > 0:
        return required(node.item)
    if isinstance(node, Alternatives):
        return of_alternatives([needles(item) for item in node.items])
    return []


def of_alternatives(parts: list[tuple[Needles, ...]]) -> list[Needles]:
    """The best of each part, if every part has one and they can be looked for in the same way."""
    if not all(parts):
        return []
    best = [part[0] for part in parts]
    texts = tuple(dict.fromkeys(text for needle in best for text in needle.texts))
    alike = len({needle.folded for needle in best}) == 1
    return [Needles(texts, best[0].folded)] if alike and len(texts) <= MOST else []


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


def of_characters(run: tuple[Char, ...]) -> list[Needles]:
    text = "".join(chr(char.code) for char in run)
    if not run[0].fold:
        return [Needles((text.encode(),), False)]
    return [Needles((text.lower().encode(),), True)] if text.isascii() else []
