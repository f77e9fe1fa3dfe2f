"""
Patterns of paths: `src/**`, `/etc/*.conf`.

Compared part by part, never as text, so `/project2` is not in `/project`. A part is literal, or has `*`
(any characters of this part) and `?` (one of them); the part `**` stands for any number of parts,
none included, so `dir/**` includes `dir`. A backslash makes the next character literal. `~` is a
literal name. Names that begin with a dot are nothing special.

What means something in other dialects and nothing here ([a], {a,b}, !a, a trailing slash) is
refused: a rule that silently never matches is worse than none.
"""

import fnmatch
import re
import unicodedata
from typing import TypeAlias

from norma.domain.model.values import frozen

Part: TypeAlias = str | re.Pattern[str] | None
"""A literal name, a wildcard, or None for `**`."""

_SPECIAL = "*?[]{}\\"


def parts_of(path: str) -> tuple[str, ...]:
    """
    The names from the file system's root down to *path*.

    Raises ValueError unless it is absolute and free of `.` and `..`.
    """
    parts = tuple(filter(None, path.split("/")))
    if not path.startswith("/") or "." in parts or ".." in parts:
        raise ValueError(f"{path!r} is no absolute resolved path")
    return parts


def holds(root: str, path: str) -> bool:
    """Whether *path* is *root* or lies beneath it; both absolute and resolved."""
    above = parts_of(root)
    return parts_of(path)[: len(above)] == above


def literal(path: str) -> str:
    """The pattern that matches just *path*."""
    text = "".join("\\" + char if char in _SPECIAL else char for char in path)
    return "\\" + text if text.startswith("!") else text


@frozen
class PathPattern:
    """
    One pattern. A relative one starts at each workspace root and says nothing of paths outside.

    With *ignore_case* names are compared as file systems do that ignore case: case and the ways
    to compose an accented letter make no difference.
    """

    absolute: bool
    parts: tuple[Part, ...]
    ignore_case: bool = False

    @classmethod
    def parse(cls, text: str, *, ignore_case: bool = False) -> "PathPattern":
        """Raises ValueError saying what is wrong with *text* and what would be right."""
        if not text:
            raise ValueError("the pattern is empty; ** means everything inside the workspace roots")
        if text.startswith("!"):
            raise ValueError("a pattern can't be negated; write the opposite as a rule of another list")
        if text.endswith("/") and text != "/":
            raise ValueError(f"write {text.rstrip('/')}/** for a folder and all that is in it")
        names = [name for name in text.split("/") if name not in {"", "."}]
        if ".." in names:
            raise ValueError(
                "rules are compared with resolved paths, which have no ..; write the path itself"
            )
        return cls(text.startswith("/"), tuple(_part(name, ignore_case) for name in names), ignore_case)

    def matches(self, path: str, root: str | None) -> bool:
        """Whether *path* itself fits."""
        names = self._names(path, root)
        return names is not None and len(self.parts) in self._walk(names)[0]

    def matches_tree(self, path: str, root: str | None) -> bool:
        """Whether *path* and everything that can be beneath it fits."""
        names = self._names(path, root)
        if names is None or not self.parts or self.parts[-1] is not None:
            return False
        return len(self.parts) - 1 in self._walk(names)[0]

    def holds(self, path: str, root: str | None) -> bool:
        """Whether *path* fits, or a folder above it does: who may not enter a folder may not read in it."""
        names = self._names(path, root)
        return names is not None and self._walk(names)[1]

    def reaches(self, path: str, root: str | None) -> bool:
        """Whether *path* or something that can be beneath it is held."""
        names = self._names(path, root)
        if names is None:
            return False
        alive, held = self._walk(names)
        return held or bool(alive)

    def _names(self, path: str, root: str | None) -> tuple[str, ...] | None:
        """The names that the pattern is compared with, None if it does not speak of this path."""
        names = parts_of(path)
        if not self.absolute:
            if root is None:
                return None
            names = names[len(parts_of(root)) :]
        return tuple(map(_folded, names)) if self.ignore_case else names

    def _walk(self, names: tuple[str, ...]) -> tuple[set[int], bool]:
        """
        Go along *names* in all ways at once; linear, whatever the pattern.

        Returns where in the pattern one can be at the end, and whether its end was ever reached.
        """
        end = len(self.parts)
        alive = self._from(0)
        held = end in alive
        for name in names:
            alive = {after for place in alive if place < end for after in self._step(place, name)}
            held = held or end in alive
            if not alive:
                break
        return alive, held

    def _step(self, place: int, name: str) -> set[int]:
        part = self.parts[place]
        if part is None:
            return self._from(place)
        fits = part == name if isinstance(part, str) else part.match(name) is not None
        return self._from(place + 1) if fits else set()

    def _from(self, place: int) -> set[int]:
        """*place*, and those behind each `**` there, which may stand for nothing."""
        places = {place}
        while place < len(self.parts) and self.parts[place] is None:
            place += 1
            places.add(place)
        return places


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _part(name: str, ignore_case: bool) -> Part:
    if name == "**":
        return None
    chars = _tokens(_folded(name) if ignore_case else name)
    if all(is_literal for _, is_literal in chars):
        return "".join(char for char, _ in chars)
    # fnmatch has no escapes, but a class of one character says the same.
    text = "".join(f"[{char}]" if is_literal and char in "*?[" else char for char, is_literal in chars)
    return re.compile(fnmatch.translate(text))


def _tokens(name: str) -> list[tuple[str, bool]]:
    """Each character of *name*, and whether it stands for itself."""
    chars: list[tuple[str, bool]] = []
    rest = iter(name)
    for char in rest:
        if char == "\\":
            taken = next(rest, None)
            if taken is None:
                raise ValueError(f"{name} ends in a lone backslash; write \\\\ for a backslash in a name")
            chars.append((taken, True))
        elif char in "[]{}":
            raise ValueError(f"{char} has no meaning in a pattern; write \\{char} if it is part of a name")
        elif char == "*" and chars and chars[-1] == ("*", False):
            raise ValueError(f"in {name} ** is not a part of its own; write * or put it between slashes")
        else:
            chars.append((char, char not in "*?"))
    return chars
