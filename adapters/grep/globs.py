r"""
Globs as ripgrep reads them, in `-g` and in ignore files alike, as expressions over the bytes of a path.

`*`, `?` and classes stay within a name, `**` as a whole part crosses folders, `{a,b}` is a choice,
`\\` quotes.

Ours rather than a library's: those follow git, which reads some patterns otherwise than ripgrep does (`{a,b}`
above all), and both backends must leave out the same files whichever answers. A tool's own glob is another
language, matched folder by folder: `domain/tools/glob_pattern.py`.
"""

import re

ANY = b"[^/]"
PREFIX = b"(?:/?|.*/)"
MIDDLE = b"(?:/|/.*/)"
SUFFIX = b"/.*"
SLASH = b"/"


class GlobError(ValueError):
    """No valid glob; the message says why."""


def expression(glob: str, *, may_be_open: bool = False) -> bytes:
    """
    The regular expression (for `re.fullmatch` with DOTALL) of *glob* over a relative path.

    If it *may_be_open*, a `[` that is never closed stands for itself; else it is a fault. Raises GlobError.
    """
    return Translation(glob, may_be_open=may_be_open).whole()


class Translation:
    """Reads *glob* from left to right; one use."""

    def __init__(self, glob: str, *, may_be_open: bool) -> None:
        self.glob = glob
        self.may_be_open = may_be_open
        self.at = 0
        self.depth = 0

    def error(self, why: str) -> GlobError:
        return GlobError(f"{self.glob!r} is no valid glob: {why}")

    def peek(self) -> str:
        return self.glob[self.at] if self.at < len(self.glob) else ""

    def whole(self) -> bytes:
        found = b"".join(self.sequence())
        if self.at < len(self.glob):
            raise self.error("a } closes nothing")
        return found

    def sequence(self) -> list[bytes]:
        """Parts up to the end, or within braces up to their `,` or `}`."""
        parts: list[bytes] = []
        while char := self.peek():
            if char == "}" or (char == "," and self.depth):
                break
            self.at += 1
            if char == "*":
                self.star(parts)
            elif char == "?":
                parts.append(ANY)
            elif char == "[":
                parts.append(self.bracket())
            elif char == "{":
                parts.append(self.choice())
            elif char == "\\":
                if not self.peek():
                    raise self.error("it ends in a backslash")
                parts.append(quoted(self.peek()))
                self.at += 1
            else:
                parts.append(quoted(char))
        return parts

    def star(self, parts: list[bytes]) -> None:
        if self.peek() != "*":
            parts.append(ANY + b"*")
            return
        self.at += 1
        ends = not self.peek() or (self.depth > 0 and self.peek() in ",}")
        if (parts and parts[-1] not in (SLASH, PREFIX, MIDDLE)) or not (ends or self.peek() == "/"):
            parts.append(ANY + b"*")
            return
        self.at += self.peek() == "/"
        if not parts:
            parts.append(PREFIX)
        elif parts[-1] == SLASH:
            parts[-1] = SUFFIX if ends else MIDDLE
        elif parts[-1] == MIDDLE and ends:
            parts[-1] = SUFFIX

    def choice(self) -> bytes:
        self.depth += 1
        branches = []
        while True:
            branches.append(b"".join(self.sequence()))
            if not self.peek():
                raise self.error("a { is never closed")
            self.at += 1
            if self.glob[self.at - 1] == "}":
                break
        self.depth -= 1
        kept = [branch for branch in branches if branch]
        return b"(?:" + b"|".join(kept) + b")" if kept else b""

    def bracket(self) -> bytes:
        begin = self.at
        negated = self.peek() != "" and self.peek() in "!^"
        self.at += negated
        ranges: list[tuple[str, str]] = []
        in_range = first = False
        first = True
        while True:
            char = self.peek()
            if not char and self.may_be_open:
                self.at = begin
                return quoted("[")
            if not char:
                raise self.error("a [ is never closed")
            self.at += 1
            if char == "]" and not first:
                break
            if char == "-" and not first and not in_range:
                in_range = True
            elif in_range:
                if char < ranges[-1][0]:
                    raise self.error("a range is the wrong way round")
                ranges[-1] = (ranges[-1][0], char)
                in_range = False
            else:
                ranges.append((char, char))
            first = False
        if in_range:
            ranges.append(("-", "-"))
        members = b"".join(quoted(low) + b"-" + quoted(high) for low, high in ranges)
        return b"(?!/)[" + b"^" * negated + members + b"]"


def quoted(char: str) -> bytes:
    """*char* as an expression, byte by byte."""
    return b"".join(re.escape(bytes([byte])) for byte in char.encode("utf-8", "surrogateescape"))
