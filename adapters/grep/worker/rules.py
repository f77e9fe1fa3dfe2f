"""What one list of globs says about a path: the lines of an ignore file, or a search's own globs."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from norma.adapters.grep.globs import GlobError, expression


class Rule(NamedTuple):
    """
    One line. *keeps*: it began with `!`. *folder_only*: it ended in `/`. *by_name*: the last part
    alone decides.
    """

    matches: re.Pattern[bytes]
    keeps: bool
    folder_only: bool
    by_name: bool


class Rules:
    """The rules of one list; the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.rules = [rule for line in lines if (rule := read(line)) is not None]
        self.by_name = [(place, rule) for place, rule in enumerate(self.rules) if rule.by_name]
        self.by_path = [(place, rule) for place, rule in enumerate(self.rules) if not rule.by_name]
        self.by_name.reverse()
        self.by_path.reverse()
        self.known: dict[tuple[bytes, bool], int] = {}

    @property
    def any_plain(self) -> bool:
        """Whether some rule has no `!`."""
        return any(not rule.keeps for rule in self.rules)

    def ignores(self, path: bytes, name: bytes, is_folder: bool) -> bool | None:
        """
        Whether *path*, relative to the place of the list, is named by a plain rule (True), by one with `!`
        (False), or by none (None).
        """
        key = (name, is_folder)
        place = self.known.get(key)
        if place is None:
            place = self.known[key] = last(self.by_name, name, is_folder)
        for other, rule in self.by_path:
            if other < place:
                break
            if (is_folder or not rule.folder_only) and rule.matches.fullmatch(path):
                place = other
                break
        return None if place < 0 else not self.rules[place].keeps


def last(rules: list[tuple[int, Rule]], name: bytes, is_folder: bool) -> int:
    """The place of the first of *rules* that matches *name*, or -1."""
    for place, rule in rules:
        if (is_folder or not rule.folder_only) and rule.matches.fullmatch(name):
            return place
    return -1


def read(line: str) -> Rule | None:
    """The rule in a line of an ignore file; None for a comment, a blank line, and what is no valid glob."""
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    keeps = line.startswith("!")
    anchored = False
    if line.startswith(("\\!", "\\#")):
        line = line[1:]
    else:
        line = line[keeps:]
        anchored = line.startswith("/")
        line = line[anchored:]
    if not line and keeps and not anchored:
        line = "*"  # a lone ! takes everything in again
    if not line:
        return None
    folder_only = line.endswith("/")
    if folder_only:
        line = line[:-1].removesuffix("\\")
    by_name = line == "**" or (not anchored and "/" not in line)
    if line == "**":
        line = "*"
    glob = f"{line}/*" if line.endswith("/**") else line
    try:
        return Rule(re.compile(expression(glob, may_be_open=True), re.DOTALL), keeps, folder_only, by_name)
    except GlobError:
        return None
