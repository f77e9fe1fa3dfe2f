"""
Patterns of file names: `*`, `?`, `[abc]`, `{a,b}`, and `**` for any number of folders.

Matched folder by folder while a tree is walked, so folders that can't lead to a match are never
entered. Time is linear in the names whatever the pattern is.
"""

import fnmatch
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from norma.domain.model.values import frozen

MAGIC = frozenset("*?[{")
MOST_CHARACTERS = 1000
MOST_ALTERNATIVES = 100

Part: TypeAlias = tuple[str, re.Pattern[str]] | None
"""The text of a part and what it matches; None for `**`."""

Places: TypeAlias = frozenset[tuple[int, int]]
"""How far a path got: in which alternatives, and before which of their parts."""


@frozen
class GlobPattern:
    """*folder*: the parts in front that are plain names. *alternatives*: what is matched beneath it."""

    folder: str
    alternatives: tuple[tuple[Part, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "GlobPattern":
        """
        `src/` means everything in src; a pattern without a slash fits at any depth.

        Raises ValueError saying what is wrong.
        """
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"it is longer than {MOST_CHARACTERS} characters")
        if text.endswith("/"):
            text += "**"
        parts = [part for part in text.split("/") if part != "."]
        plain = 0
        while plain < len(parts) - 1 and MAGIC.isdisjoint(parts[plain]):
            plain += 1
        rest = "/".join(parts[plain:])
        if "/" not in text:
            rest = f"**/{rest}"
        folder = "/".join(parts[:plain])
        if plain and not folder:
            folder = "/"
        return cls(folder, tuple(_parts(one) for one in _spelled_out(rest)))

    def start(self) -> Places:
        """Where a path is that has only come to the folder."""
        return self._with_skips({(number, 0) for number in range(len(self.alternatives))})

    def step(self, places: Places, name: str) -> Places:
        """Where it is one *name* further; empty if nothing beneath can match."""
        after = set()
        for number, place in places:
            parts = self.alternatives[number]
            if place == len(parts):
                continue
            part = parts[place]
            if part is None:
                after.add((number, place))
            elif part[0] == name or part[1].match(name):
                after.add((number, place + 1))
        return self._with_skips(after)

    def matched(self, places: Places) -> bool:
        """Whether the path itself fits."""
        return any(place == len(self.alternatives[number]) for number, place in places)

    def names(self, name: str) -> bool:
        """Whether *name* is written out in the pattern."""
        parts = [part for parts in self.alternatives for part in parts]
        return name in self.folder.split("/") or any(part is not None and part[0] == name for part in parts)

    def _with_skips(self, places: set[tuple[int, int]]) -> Places:
        """And behind each `**`, which may stand for no folder at all."""
        found = set(places)
        for number, start in places:
            parts, place = self.alternatives[number], start
            while place < len(parts) and parts[place] is None:
                place += 1
                found.add((number, place))
        return frozenset(found)


def _parts(text: str) -> tuple[Part, ...]:
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("a pattern can't go up with .. behind a wildcard; give the folder as the path")
    # A name such as [id].tsx fits when it is written out, too.
    return tuple(None if part == "**" else (part, _matching(part)) for part in parts)


def _matching(part: str) -> re.Pattern[str]:
    """What *part* matches: `[^…]` is `[!…]`, and a backslash takes the meaning from what follows."""
    plain = re.sub(r"\\([*?\[\\])", r"[\1]", part)
    return re.compile(fnmatch.translate(plain.replace("[^", "[!")))


def _spelled_out(text: str) -> list[str]:
    """All that the braces in *text* stand for."""
    done: list[str] = []
    pending = [text]
    while pending:
        one = pending.pop()
        pieces = _first_braces(one)
        if pieces is None:
            done.append(one)
        else:
            head, choices, tail = pieces
            pending += [head + choice + tail for choice in choices]
        if len(done) + len(pending) > MOST_ALTERNATIVES:
            raise ValueError(f"its braces stand for more than {MOST_ALTERNATIVES} patterns")
    return done


def _first_braces(text: str) -> tuple[str, list[str], str] | None:
    """What is before, in and behind the first braces that hold a comma; None if there are none."""
    cuts = min((cuts for cuts in _braces(text) if len(cuts) > 2), default=None)
    if cuts is None:
        return None
    choices = [text[one + 1 : other] for one, other in pairwise(cuts)]
    return text[: cuts[0]], choices, text[cuts[-1] + 1 :]


def _braces(text: str) -> Iterator[list[int]]:
    """Of each pair of braces the places of the first, of the commas right inside, and of the last."""
    still_open: list[list[int]] = []
    for place, char in enumerate(text):
        if char == "{":
            still_open.append([place])
        elif char == "," and still_open:
            still_open[-1].append(place)
        elif char == "}" and still_open:
            yield [*still_open.pop(), place]
