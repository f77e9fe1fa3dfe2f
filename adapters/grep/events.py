"""Reads the JSON that ripgrep prints: one event a line, about files one after the other."""

import base64
import os
from typing import Any

from norma.adapters.grep.lines import shown
from norma.adapters.grep.page import Page
from norma.adapters.grep.worker.contents import BLOCK
from norma.ports.file_search import SearchLine, SearchQuery

LARGEST_RECORD = 1 << 23
"""
Bytes of one record. An event holds its line whole and then each match in it again, which for a long
line with many matches is out of all proportion; the other backend answers then.
"""


class RipgrepFailed(Exception):
    """ripgrep gave no whole answer; the message says why, in a clause."""


class Records:
    """Cuts a stream of bytes at each *separator*."""

    def __init__(self, separator: bytes) -> None:
        self.separator = separator
        self.rest: list[bytes] = []
        self.held = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The records that *chunk* completes."""
        first, *others = chunk.split(self.separator)
        self.rest.append(first)
        self.held += len(first)
        if self.held > LARGEST_RECORD:
            raise RipgrepFailed("it printed a line that is too long to take in")
        if not others:
            return []
        *whole, last = others
        records = [b"".join(self.rest), *whole]
        self.rest, self.held = [last], len(last)
        return records

    def finish(self) -> None:
        """Say that the stream has ended."""
        if self.held:
            raise RipgrepFailed("its output ends in the middle of a record")


class FileEvents:
    """
    Takes the events and puts rows on *page*.

    The rows of one file are held back until its end where that decides about them: in a file that
    was named, and in count mode.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.query = page.query
        self.named = not os.path.isdir(page.query.path)
        self.held: list[tuple[int, SearchLine]] = []

    def take(self, record: bytes) -> bool:
        """Take one event; whether it is a match."""
        import orjson

        try:
            event = orjson.loads(record)
            kind, data = event["type"], event["data"]
            if kind in ("match", "context"):
                self.held += self.rows(data, context=kind == "context")
            elif kind == "end":
                self.finish(data.get("binary_offset"))
        except (ValueError, KeyError, TypeError) as error:
            raise RipgrepFailed("its JSON can't be read") from error
        if self.held and not self.named and self.query.mode == "content":
            self.page.add(self.held[0][1].path, [row for _, row in self.held])
            self.held = []
        return bool(kind == "match")

    def rows(self, data: dict[str, Any], *, context: bool) -> list[tuple[int, SearchLine]]:
        """The rows of one event, each with the offset of its end; a match that spans lines is one event."""
        path = absolute(self.query, bytes_of(data["path"]))
        text = bytes_of(data["lines"])
        starts = [match["start"] for match in data["submatches"]]
        number, offset = data["line_number"], data["absolute_offset"]
        rows = []
        at = 0
        while at < len(text):
            end = text.find(b"\n", at) + 1 or len(text)
            match_at = next((start - at for start in starts if at <= start < end), 0)
            rows.append(
                (offset + end, SearchLine(path, number, shown(text[at:end], match_at), context=context))
            )
            at, number = end, number + 1
        return rows

    def finish(self, binary_offset: int | None = None) -> None:
        """The file has ended; *binary_offset* is where its first NUL is."""
        held, self.held = self.held, []
        if binary_offset is not None:
            held = [(end, row) for end, row in held if end <= binary_offset // BLOCK * BLOCK]
        rows = [row for _, row in held]
        if not rows:
            return
        path = rows[0].path
        if self.query.mode == "files":
            rows = [SearchLine(path)]
        elif self.query.mode == "count":
            rows = [SearchLine(path, count=len(rows))] if binary_offset is None else []
        if rows:
            self.page.add(path, rows)


def absolute(query: SearchQuery, name: bytes) -> str:
    """The absolute path of the file that ripgrep calls *name*."""
    folder = query.path if os.path.isdir(query.path) else os.path.dirname(query.path)
    return os.path.join(folder, os.fsdecode(name))


def bytes_of(value: dict[str, str]) -> bytes:
    """What ripgrep writes as text, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"], validate=True)
