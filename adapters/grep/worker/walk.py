"""
Which files a search looks at, in the order of their paths.

Links are never followed; FIFOs, sockets and devices are never opened; `.git` is never entered. Unless asked
otherwise, hidden names are left out, and so is what `.gitignore` (inside a repository only, as git does it),
`.ignore` and `.rgignore` name, also those in the folders above.
"""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from norma.adapters.grep.worker.rules import Rules

LARGEST_LIST = 1 << 20
"""Bytes of an ignore file that are read."""
LISTS = (b".rgignore", b".ignore", b".gitignore")


class Placed(NamedTuple):
    """*rules* count for paths below *folder*, which ends in a slash."""

    folder: bytes
    rules: Rules


class Level(NamedTuple):
    """
    The ignore files in force in a folder, nearest first, one tuple for each name in `LISTS`.

    *in_repository*: the folder or one above it has a `.git`.
    """

    lists: tuple[tuple[Placed, ...], ...] = ((), (), ())
    in_repository: bool = False


class Walk:
    """
    One walk. *globs* are the search's own, *types* those of its file types; *trouble* is told what
    can't be read.
    """

    def __init__(
        self,
        root: bytes,
        *,
        globs: tuple[str, ...],
        types: tuple[str, ...],
        hidden: bool,
        no_ignore: bool,
        trouble: Callable[[bytes, OSError], None],
    ) -> None:
        self.root = root.rstrip(b"/") + b"/"
        self.globs = Rules(globs) if globs else None
        self.types = Rules(types) if types else None
        self.hidden = hidden
        self.no_ignore = no_ignore
        self.trouble = trouble

    def files(self) -> Iterator[bytes]:
        """The paths to search."""
        level = Level() if self.no_ignore else above(self.root)
        stack = [self.entries(self.root, level)]
        while stack:
            for path, below in stack[-1]:
                if below is None:
                    yield path
                else:
                    stack.append(self.entries(path, below))
                    break
            else:
                stack.pop()

    def entries(self, folder: bytes, level: Level) -> Iterator[tuple[bytes, Level | None]]:
        """
        What is in *folder*, sorted: files with None, folders (with a slash at the end) with their
        level.
        """
        try:
            with os.scandir(folder) as listing:
                found = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.trouble(folder, error)
            return
        if not self.no_ignore:
            level = within(folder, level, {entry.name for entry in found})
        for entry in found:
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.is_file(follow_symlinks=False):
                    continue
            except OSError as error:
                self.trouble(entry.path, error)
                continue
            if self.is_left_out(entry.path, entry.name, is_folder, level):
                continue
            if is_folder:
                yield entry.path + b"/", level
            else:
                yield entry.path, None

    def is_left_out(self, path: bytes, name: bytes, is_folder: bool, level: Level) -> bool:
        """ripgrep's order: the search's own globs, the ignore files, the types, and last the leading dot."""
        if name == b".git":
            return True
        if self.globs is not None:
            named = self.globs.ignores(path[len(self.root) :], name, is_folder)
            if named is not None:
                return not named
            if self.globs.any_plain and not is_folder:
                return True
        kept = False
        for placed in level.lists:
            ignored = first_word(placed, path, name, is_folder)
            if ignored:
                return True
            if ignored is not None:
                kept = True
                break
        if self.types is not None and not is_folder:
            if self.types.ignores(name, name, False) is None:
                return True
            kept = True
        return name.startswith(b".") and not self.hidden and not kept


def first_word(lists: tuple[Placed, ...], path: bytes, name: bytes, is_folder: bool) -> bool | None:
    """What the nearest of *lists* that names *path* says."""
    for placed in lists:
        ignored = placed.rules.ignores(path[len(placed.folder) :], name, is_folder)
        if ignored is not None:
            return ignored
    return None


def above(root: bytes) -> Level:
    """What the folders above *root* say."""
    level = Level()
    parts = root.rstrip(b"/").split(b"/")
    for count in range(1, len(parts)):
        folder = b"/".join(parts[:count]) + b"/"
        names = {name for name in (*LISTS, b".git") if os.path.lexists(folder + name)}
        level = within(folder, level, names)
    return level


def within(folder: bytes, level: Level, names: set[bytes]) -> Level:
    """What counts inside *folder*, whose entries are *names*; *level* counts outside."""
    has_repository = b".git" in names
    in_repository = level.in_repository or has_repository
    if not has_repository and names.isdisjoint(LISTS):
        return level
    lists = []
    for name, outer in zip(LISTS, level.lists, strict=True):
        of_git = name == b".gitignore"
        rules = ignore_file(folder + name) if name in names and (in_repository or not of_git) else None
        own = (Placed(folder, rules),) if rules is not None else ()
        lists.append(own if of_git and has_repository else own + outer)
    return Level(tuple(lists), in_repository)


def ignore_file(path: bytes) -> Rules | None:
    """The rules in the file at *path*; None if it can't be read or is no regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = os.read(handle, LARGEST_LIST)
    finally:
        os.close(handle)
    return Rules(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"))
