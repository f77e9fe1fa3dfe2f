"""What is asked of a backend, and where it puts the rows: they are collected, sorted, and cut to the page."""

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from norma.adapters.grep.expression import Node
from norma.ports.file_search import SearchLine, SearchQuery

Row: TypeAlias = SearchLine | Callable[[], SearchLine]
"""A row, or what reads it when it is shown."""

COUNTED = 1000
"""Rows behind the page that are counted; where there are more, nobody knows how many."""


class Job(NamedTuple):
    """A search to carry out: *tree* is the query's pattern, *types* are the globs of its file types."""

    query: SearchQuery
    tree: Node
    types: tuple[str, ...]
    excluded: Callable[[str], bool]
    progress: Callable[[str], None]


class Page:
    """
    The rows of one search, in any order.

    *beyond* is how many rows past the page are wanted. Files that the job excludes count as absent.
    """

    def __init__(self, job: Job, *, beyond: int = COUNTED) -> None:
        self.query = job.query
        self.excluded = job.excluded
        self.beyond = beyond
        self.rows: dict[str, list[Row]] = {}
        self.left_out: set[str] = set()
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether nothing that comes later in the order can change the answer."""
        return self.query.limit > 0 and self.count > self.query.offset + self.query.limit + self.beyond

    def add(self, path: str, rows: Sequence[Row]) -> None:
        """Take *rows* of the file at *path*, in the order of their lines."""
        if path in self.left_out:
            return
        known = self.rows.get(path)
        if known is None:
            if self.excluded(path):
                self.left_out.add(path)
                return
            known = self.rows[path] = []
        known.extend(rows)
        self.count += len(rows)

    def join(self, other: "Page") -> None:
        """Take the rows of *other*, a page of other files."""
        self.rows |= other.rows
        self.left_out |= other.left_out
        self.count += other.count

    def lines(self) -> tuple[SearchLine, ...]:
        """The page: path by path, line by line."""
        start, limit = self.query.offset, self.query.limit
        found = [row for path in sorted(self.rows, key=order) for row in self.rows[path]]
        page = found[start : start + limit] if limit else found[start:]
        return tuple(row if isinstance(row, SearchLine) else row() for row in page)

    def more(self) -> int:
        """How many rows follow the page, -1 if that was not counted to the end."""
        if self.full:
            return -1
        return max(0, self.count - self.query.offset - self.query.limit) if self.query.limit else 0

    def notes(self) -> list[str]:
        """What the page has to say about files that were left out."""
        hidden = len(self.left_out)
        if self.full and hidden:
            # Where a full page stopped searching differs between backends, so count up to its last row only.
            shown = self.lines()
            last = order(shown[-1].path) if shown else []
            hidden = sum(order(path) <= last for path in self.left_out)
        return [f"permission rules leave {hidden} matching file{'s' * (hidden != 1)} out"] if hidden else []


def order(path: str) -> list[bytes]:
    """The key that sorts paths folder by folder, each by the bytes of its names."""
    return os.fsencode(path).split(b"/")
