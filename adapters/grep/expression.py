"""
The regular expressions that both backends share, as a tree.

Perl's syntax as far as Rust's `regex` and Python's `re` mean the same by it: no look-around and no
back-references, which also makes every expression of the dialect matchable in linear time. A pattern
is read once into this tree and written out anew for each engine, so that neither sees a spelling
that the other reads differently. Two kindnesses beyond both engines: a `{` that begins no repetition
and a `[` inside a class are literal characters.
"""

from typing import NamedTuple, TypeAlias

MAX_REPEAT = 1000
"""The highest count in a repetition, and the highest product of nested ones."""
MAX_DEPTH = 50


class PatternError(ValueError):
    """The pattern is outside the shared dialect; the message says where and what would be right."""


class Char(NamedTuple):
    """One character; *fold*: in any case."""

    code: int
    fold: bool


class Class(NamedTuple):
    """
    One character out of *ranges* and of the Perl classes in *perl* (letters of `dwsDWS`), or none
    of them.
    """

    ranges: tuple[tuple[int, int], ...]
    perl: str
    negated: bool
    fold: bool


class Dot(NamedTuple):
    """Any character; *newline*: also a line feed."""

    newline: bool


class Anchor(NamedTuple):
    """A place between characters: `^` and `$` of a line, `b` and `B` for a word's edge or none."""

    kind: str


class Concat(NamedTuple):
    """All of *items*, one after the other; none of them matches the empty string."""

    items: "tuple[Node, ...]"


class Alternatives(NamedTuple):
    """The first of *items* that lets the rest match."""

    items: "tuple[Node, ...]"


class Repeat(NamedTuple):
    """*item* from *low* to *high* times (None: without end), as often as possible or, *lazy*, as seldom."""

    item: "Node"
    low: int
    high: int | None
    lazy: bool


Node: TypeAlias = Char | Class | Dot | Anchor | Concat | Alternatives | Repeat


def expansion(node: Node) -> int:
    """How many single characters *node* has once its counted repetitions are written out."""
    if isinstance(node, Concat | Alternatives):
        return 1 + sum(expansion(item) for item in node.items)
    if isinstance(node, Repeat):
        return max(node.low, node.high or 0, 1) * expansion(node.item)
    return 1


def minds_no_case(node: Node) -> bool:
    """Whether every character of *node* ignores case, and there is one."""
    if isinstance(node, Char):
        return node.fold
    if isinstance(node, Class):
        return node.fold or not node.ranges
    if isinstance(node, Concat | Alternatives):
        return len(node.items) > 0 and all(minds_no_case(item) for item in node.items)
    return minds_no_case(node.item) if isinstance(node, Repeat) else True


def lowered(node: Node) -> Node:
    """*node*, which minds no case, for text in lower case."""
    if isinstance(node, Char):
        char = chr(node.code).lower() if node.code < 0x80 else chr(node.code)
        return Char(ord(char), False)
    if isinstance(node, Concat):
        return Concat(tuple(lowered(item) for item in node.items))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(lowered(item) for item in node.items))
    if isinstance(node, Repeat):
        return Repeat(lowered(node.item), node.low, node.high, node.lazy)
    return node


def looks_behind(node: Node) -> bool:
    """Whether the character in front of a place can decide about a match there: `^`, `\\b` or `\\B`."""
    if isinstance(node, Concat | Alternatives):
        return any(map(looks_behind, node.items))
    if isinstance(node, Repeat):
        return looks_behind(node.item)
    return isinstance(node, Anchor) and node.kind in {"^", "b", "B"}
