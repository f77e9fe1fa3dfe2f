r"""
Writes a pattern's tree for each engine, so that both mean the same by it.

What is said here once for both: a line ends before LF or CR LF, and `$` matches before either. `\w`
is a letter, a number or `_` of any script; `\s` is Unicode's white space. In Python a byte that is
no UTF-8 arrives as a surrogate, which nothing matches, as in Rust.
"""

from typing import TypeAlias, assert_never

from norma.adapters.grep.expression import Alternatives, Anchor, Char, Class, Concat, Dot, Node, Repeat

Ranges: TypeAlias = tuple[tuple[int, int], ...]

META = frozenset("\\.+*?()|[]{}^$#&-~")
RUST_PERL = {"d": r"\d", "w": r"\p{L}\p{N}_", "s": r"\s"}
SPACE = "\\t\\x0b\\x0c\\r "
WIDE_SPACE = SPACE + "\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
NOT_UTF8 = "\\udc80-\\udcff"


def for_ripgrep(node: Node) -> str:
    """*node* in the syntax of ripgrep 13 and newer, which adds the multi-line flag itself."""
    if isinstance(node, Char):
        return f"(?i:{rust_char(node.code)})" if node.fold else rust_char(node.code)
    if isinstance(node, Class):
        return f"(?i:{rust_class(node)})" if node.fold else rust_class(node)
    if isinstance(node, Dot):
        return "(?s:.)" if node.newline else r"[^\n]"
    if isinstance(node, Anchor):
        return rust_anchor(node.kind)
    if isinstance(node, Concat):
        return "(?:" + "".join(for_ripgrep(item) for item in node.items) + ")"
    if isinstance(node, Alternatives):
        return "(?:" + "|".join(for_ripgrep(item) for item in node.items) + ")"
    if isinstance(node, Repeat):
        return f"(?:{for_ripgrep(node.item)}){bounds(node)}"
    assert_never(node)


def rust_char(code: int) -> str:
    char = chr(code)
    if char in META:
        return "\\" + char
    return char if char.isprintable() else f"\\x{{{code:x}}}"


def rust_class(node: Class) -> str:
    members = [rust_char(low) + (f"-{rust_char(high)}" if high > low else "") for low, high in node.ranges]
    members += [rust_perl(letter) for letter in node.perl]
    if not members:
        return r"[^\n]"
    return f"[{'^' * node.negated}{''.join(members)}]"


def rust_perl(letter: str) -> str:
    return RUST_PERL[letter] if letter.islower() else f"[^{RUST_PERL[letter.lower()]}]"


def rust_anchor(kind: str) -> str:
    return {"^": "^", "$": r"(?:\r?$)", "b": r"\b", "B": r"\B"}[kind]


def for_python(node: Node, *, multiline: bool, wide: bool) -> str:
    """
    *node* for `re` on text, with `re.MULTILINE`, and without *wide* with `re.ASCII` too.

    *wide* is for text that may hold more than ASCII.
    """
    return PythonSpelling(
        "" if multiline else "\\n", NOT_UTF8 if wide else "", WIDE_SPACE if wide else SPACE
    ).of(node)


class PythonSpelling:
    """One way to write for `re`: *line_feed* and *not_utf8* are what no class matches."""

    def __init__(self, line_feed: str, not_utf8: str, space: str) -> None:
        self.never = line_feed + not_utf8
        self.not_utf8 = not_utf8
        self.perl = {"d": "\\d", "w": "\\w", "s": space + ("" if line_feed else "\\n")}

    def of(self, node: Node) -> str:
        if isinstance(node, Char):
            return self.folded(((node.code, node.code),)) if node.fold else python_char(node.code)
        if isinstance(node, Class):
            return self.character_class(node)
        if isinstance(node, Dot):
            excluded = self.not_utf8 if node.newline else "\\n" + self.not_utf8
            return f"[^{excluded}]" if excluded else "(?s:.)"
        if isinstance(node, Anchor):
            return self.anchor(node.kind)
        if isinstance(node, Concat):
            return "(?:" + "".join(self.of(item) for item in node.items) + ")"
        if isinstance(node, Alternatives):
            return "(?:" + "|".join(self.of(item) for item in node.items) + ")"
        if isinstance(node, Repeat):
            return f"(?:{self.of(node.item)}){bounds(node)}"
        assert_never(node)

    def anchor(self, kind: str) -> str:
        if kind == "B" and self.not_utf8:
            return f"(?:\\B(?<![{self.not_utf8}])(?![{self.not_utf8}]))"
        return {"^": "^", "$": "(?:\\r?$)", "b": "\\b", "B": "\\B"}[kind]

    def folded(self, ranges: Ranges) -> str:
        """One character of *ranges* in any case."""
        members = f"[{self.members(ranges, fold=True)}]"
        return members if is_ascii(ranges) else f"(?i:{members})"

    def members(self, ranges: Ranges, *, fold: bool) -> str:
        """*ranges* as they stand in a class; with *fold* the other cases of ASCII letters are spelt out."""
        if fold:
            ranges = (*ranges, *other_cases(ranges, wide=bool(self.not_utf8)))
        return "".join(
            python_char(low) + (f"-{python_char(high)}" if high > low else "") for low, high in ranges
        )

    def character_class(self, node: Class) -> str:
        written = self.plain_class(node)
        return f"(?i:{written})" if node.fold and not is_ascii(node.ranges) else written

    def plain_class(self, node: Class) -> str:
        members = self.members(node.ranges, fold=node.fold)
        members += "".join(self.perl[letter] for letter in node.perl if letter.islower())
        complements = [self.perl[letter.lower()] for letter in node.perl if letter.isupper()]
        if not complements:
            return f"[{members}]" if not node.negated else self.none_of(members)
        if len(complements) == 1 and not members:
            return f"[{complements[0]}]" if node.negated else self.none_of(complements[0])
        either = "|".join(
            [f"[{members}]"] * bool(members) + [f"[^{complement}]" for complement in complements]
        )
        if node.negated:
            return f"(?:(?!{either}){self.none_of('')})"
        return f"(?:(?={self.none_of('')})(?:{either}))"

    def none_of(self, members: str) -> str:
        """A character that is none of *members*, nor one that never matches."""
        return f"[^{members}{self.never}]" if members or self.never else "(?s:.)"


def is_ascii(ranges: Ranges) -> bool:
    return all(high < 0x80 for _, high in ranges)


def other_cases(ranges: Ranges, *, wide: bool) -> Ranges:
    """
    The ASCII letters in *ranges* in their other case.

    With *wide* also the long s and the Kelvin sign, which Unicode folds to s and k; Python would add the
    dotless i, which Unicode doesn't.
    """
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        for first, last, shift in ((0x41, 0x5A, 32), (0x61, 0x7A, -32)):
            start, end = max(low, first), min(high, last)
            if start <= end:
                found.append((start + shift, end + shift))
    for code, same in ((0x6B, 0x212A), (0x73, 0x17F)):
        if wide and any(low <= upper <= high for low, high in ranges for upper in (code, code - 32)):
            found.append((same, same))
    return tuple(found)


def python_char(code: int) -> str:
    char = chr(code)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def bounds(node: Repeat) -> str:
    """The repetition of *node* as both engines write it."""
    lazy = "?" * node.lazy
    if (node.low, node.high) == (0, None):
        return "*" + lazy
    if (node.low, node.high) == (1, None):
        return "+" + lazy
    if (node.low, node.high) == (0, 1):
        return "?" + lazy
    high = "" if node.high is None else str(node.high)
    return f"{{{node.low},{high}}}{lazy}"
