"""Reads a pattern of the shared dialect into the tree of `expression`."""

import re
from typing import NamedTuple

from norma.adapters.grep.expression import (
    MAX_DEPTH,
    MAX_REPEAT,
    Alternatives,
    Anchor,
    Char,
    Class,
    Concat,
    Dot,
    Node,
    PatternError,
    Repeat,
    expansion,
)

LINE_FEED = 10
CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
PERL = "dwsDWS"
POSIX = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\x01\x7f",
    "blank": "\t\t  ",
    "cntrl": "\x01\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZ__az",
    "xdigit": "09AFaf",
}
REPETITION = re.compile(r"\{(?:(\d+)(,?)(\d*)|,(\d+))\}")
HEX = re.compile(
    r"x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})"
)
NAMED_CLASS = re.compile(r"\[:([a-z]+):\]")
NAME = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_]*>")
FLAGS = re.compile(r"\?([ims]*)(?:-([ims]+))?([:)])")
MULTILINE_HINT = "set multiline to match across lines"
HINTS = {
    "A": "use ^, which is the start of a line",
    "z": "use $, which is the end of a line",
    "Z": "use $, which is the end of a line",
    "<": r"use \b for the edge of a word",
    ">": r"use \b for the edge of a word",
    "p": r"use \w, \d or a class such as [A-Z]",
    "P": r"use \W, \D or a class such as [^A-Z]",
    "k": "back-references are not supported",
    "g": "back-references are not supported",
}


class Flags(NamedTuple):
    """The inline flags in force: `i`, and `s`."""

    fold: bool
    dot_newline: bool


def parse(pattern: str, *, multiline: bool = False, ignore_case: bool = False) -> Node:
    """
    The tree of *pattern*.

    Without *multiline* nothing matches a line feed; a pattern that spells one out is an error. With
    it `.` matches one too, unless `(?-s)` says otherwise.

    Raises PatternError.
    """
    return Parser(pattern, multiline).whole(Flags(ignore_case, multiline))


class Parser:
    """Recursive descent over *pattern*; one use."""

    def __init__(self, pattern: str, multiline: bool) -> None:
        self.pattern = pattern
        self.multiline = multiline
        self.at = 0
        self.depth = 0

    def whole(self, flags: Flags) -> Node:
        if any(0xD800 <= ord(char) <= 0xDFFF for char in self.pattern):
            raise self.error("the pattern is not valid Unicode", hint="use . for a byte that is no UTF-8")
        node = self.alternatives(flags)
        if self.at < len(self.pattern):
            raise self.error("this ) closes no group", hint=r"write \) for the character")
        if expansion(node) > MAX_REPEAT * 10:
            raise self.error("the repetitions are too many", hint="use smaller counts")
        return node

    def error(self, what: str, *, at: int | None = None, hint: str) -> PatternError:
        at = self.at if at is None else at
        return PatternError(f"{self.pattern!r} is no valid pattern: at character {at + 1}, {what}; {hint}.")

    def peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    def alternatives(self, flags: Flags) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("groups are nested too deep", hint=f"{MAX_DEPTH} levels are the limit")
        branches: list[Node] = []
        while True:
            branch, flags = self.branch(flags)
            branches.append(branch)
            if self.peek() != "|":
                break
            self.at += 1
        self.depth -= 1
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def branch(self, flags: Flags) -> tuple[Node, Flags]:
        """One alternative; a flag group in it counts to the end of the enclosing group."""
        items: list[Node] = []
        while (char := self.peek()) and char not in "|)":
            found = FLAGS.match(self.pattern, self.at + 1) if char == "(" else None
            if found and found[3] == ")":
                flags = self.changed(flags, found)
                continue
            items.append(self.repeated(self.atom(flags), start=self.at))
        return (items[0] if len(items) == 1 else Concat(tuple(items))), flags

    def changed(self, flags: Flags, found: re.Match[str]) -> Flags:
        on, off = found[1] or "", found[2] or ""
        if not on and not off and found[3] == ")":
            raise self.error("this group has no flags", hint="(?i) ignores case")
        if "m" in off:
            raise self.error("m can't be switched off", hint="^ and $ always belong to a line")
        self.at = found.end()
        return Flags(
            ("i" in on or flags.fold) and "i" not in off,
            ("s" in on or flags.dot_newline) and "s" not in off and self.multiline,
        )

    def atom(self, flags: Flags) -> Node:
        char = self.peek()
        self.at += 1
        if char == "(":
            return self.group(flags)
        if char == "[":
            return self.bracket(flags)
        if char == ".":
            return Dot(flags.dot_newline)
        if char in "^$":
            return Anchor(char)
        if char == "\\":
            return self.escape(flags)
        if char in "*+?" or (char == "{" and REPETITION.match(self.pattern, self.at - 1)):
            raise self.error(
                "there is nothing to repeat", at=self.at - 1, hint=rf"write \{char} for the character"
            )
        return self.literal(ord(char), flags, self.at - 1)

    def literal(self, code: int, flags: Flags, at: int) -> Char:
        if code == LINE_FEED and not self.multiline:
            raise self.error("a line feed can't match within one line", at=at, hint=MULTILINE_HINT)
        if code == 0:
            raise self.error("NUL can't match", at=at, hint="files that hold a NUL are binary and skipped")
        return Char(code, flags.fold)

    def group(self, flags: Flags) -> Node:
        start = self.at - 1
        if self.peek() == "?":
            named = NAME.match(self.pattern, self.at)
            found = FLAGS.match(self.pattern, self.at)
            if named:
                self.at = named.end()
            elif found:
                flags = self.changed(flags, found)
            else:
                raise self.unsupported_group(start)
        node = self.alternatives(flags)
        if self.peek() != ")":
            raise self.error(
                "this ( is never closed", at=start, hint=r"close it, or write \( for the character"
            )
        self.at += 1
        return node

    def unsupported_group(self, start: int) -> PatternError:
        rest = self.pattern[start:]
        if rest.startswith(("(?=", "(?!", "(?<=", "(?<!")):
            return self.error("look-around is not supported", at=start, hint="match the surroundings as well")
        if rest.startswith("(?P="):
            return self.error("back-references are not supported", at=start, hint="spell the text out")
        return self.error("this kind of group is not supported", at=start, hint="use (…), (?:…) or (?i)")

    def escape(self, flags: Flags) -> Node:
        """What follows a backslash outside a class."""
        char = self.peek()
        if char and char in "bB":
            self.at += 1
            return Anchor(char)
        if char and char in PERL:
            self.at += 1
            return Class((), char, False, False)
        start = self.at - 1
        return self.literal(self.escaped_code(), flags, start)

    def escaped_code(self) -> int:
        char = self.peek()
        if not char:
            raise self.error(
                "the pattern ends in a backslash", at=self.at - 1, hint=r"write \\ for the character"
            )
        if found := HEX.match(self.pattern, self.at):
            code = int(next(digits for digits in found.groups() if digits), 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise self.error("this is no character's number", hint="the highest is 10FFFF")
            self.at = found.end()
            return code
        if char in CONTROLS:
            self.at += 1
            return CONTROLS[char]
        if char.isascii() and not char.isalnum() and char.isprintable() and char not in "<>":
            self.at += 1
            return ord(char)
        hint = HINTS.get(
            char, "back-references are not supported" if char.isdigit() else "write it without the backslash"
        )
        raise self.error(f"\\{char} is not supported", at=self.at - 1, hint=hint)

    def bracket(self, flags: Flags) -> Class:
        start = self.at - 1
        ranges: list[tuple[int, int]] = []
        perl = ""
        negated = self.peek() == "^"
        self.at += negated
        first = True
        while first or self.peek() != "]":
            first = False
            if not self.peek():
                raise self.error(
                    "this [ is never closed", at=start, hint=r"close it, or write \[ for the character"
                )
            if posix := self.posix():
                ranges += posix
                continue
            low = self.member()
            if isinstance(low, str):
                perl += low
                continue
            ranges.append((low, self.upper(low)))
        self.at += 1
        if not self.multiline:
            ranges = without_line_feed(ranges)
            if not (ranges or perl or negated):
                raise self.error("a line feed can't match within one line", at=start, hint=MULTILINE_HINT)
        return Class(tuple(sorted(set(ranges))), perl, negated, flags.fold)

    def posix(self) -> list[tuple[int, int]]:
        found = NAMED_CLASS.match(self.pattern, self.at)
        if not found:
            return []
        edges = POSIX.get(found[1])
        if edges is None:
            raise self.error(f"[:{found[1]}:] is no known class", hint=f"known are {', '.join(POSIX)}")
        self.at = found.end()
        return [(ord(edges[i]), ord(edges[i + 1])) for i in range(0, len(edges), 2)]

    def member(self) -> int | str:
        """One character of a class, or the letter of a Perl class."""
        char = self.peek()
        self.at += 1
        if char != "\\":
            return ord(char)
        if (letter := self.peek()) and letter in PERL:
            self.at += 1
            return letter
        return self.escaped_code()

    def upper(self, low: int) -> int:
        """The end of the range that begins with *low*."""
        if self.peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return low
        start = self.at
        self.at += 1
        high = self.member()
        if isinstance(high, str) or high < low:
            raise self.error(
                "this range has no end above its start", at=start, hint=r"write \- for the character"
            )
        return high

    def repeated(self, node: Node, *, start: int) -> Node:
        bounds = self.bounds()
        if bounds is None:
            return node
        if isinstance(node, Anchor):
            raise self.error("an edge can't be repeated", at=start - 1, hint="leave the repetition out")
        lazy = self.peek() == "?"
        self.at += lazy
        at = self.at
        if self.bounds() is not None:
            raise self.error("this repeats a repetition", at=at, hint="put the inner one in (?:…)")
        low, high = bounds
        result = Repeat(node, low, high, lazy)
        if max(low, high or 0) > MAX_REPEAT or expansion(result) > MAX_REPEAT * 10:
            raise self.error("the repetition is too long", at=at, hint=f"{MAX_REPEAT} times is the limit")
        return result

    def bounds(self) -> tuple[int, int | None] | None:
        char = self.peek()
        if char and char in "*+?":
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        found = REPETITION.match(self.pattern, self.at)
        if not found:
            return None
        least, comma, most, at_most = found.groups()
        low = int(least or 0)
        high = int(at_most) if at_most else int(most) if most else None if comma else low
        if high is not None and high < low:
            raise self.error(
                "the repetition's bounds are the wrong way round", hint="the smaller one comes first"
            )
        self.at = found.end()
        return low, high


def without_line_feed(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """*ranges* without the line feed, which no line holds."""
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        if low <= LINE_FEED <= high:
            kept += [(low, LINE_FEED - 1)] * (low < LINE_FEED) + [(LINE_FEED + 1, high)] * (high > LINE_FEED)
        else:
            kept.append((low, high))
    return kept
