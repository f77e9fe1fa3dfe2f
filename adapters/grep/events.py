"""Reads the JSON that ripgrep prints: one event a line, about files one after the other."""

import base64
import os
from typing import Any, NamedTuple

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


class Counts:
    """Cuts the output of `--count --null` into names and counts; a name may hold a line feed."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, chunk: bytes) -> list[tuple[bytes, int]]:
        """The counts that *chunk* completes."""
        text = self.rest + chunk
        found = []
        at = 0
        while (name_end := text.find(b"\0", at)) >= 0 and (end := text.find(b"\n", name_end)) >= 0:
            count = text[name_end + 1 : end]
            if not count.isdigit():
                raise RipgrepFailed("its counts can't be read")
            found.append((text[at:name_end], int(count)))
            at = end + 1
        self.rest = text[at:]
        return found

    def finish(self) -> None:
        """Say that the stream has ended."""
        if self.rest:
            raise RipgrepFailed("its output ends in the middle of a record")


class Placed(NamedTuple):
    """A row, and where its line ends, in bytes from the start of the file."""

    row: SearchLine
    end: int


class FileEvents:
    """
    Takes the events and puts rows on *page*.

    The rows of one file are held back until its end where that decides about them: in a file that was
    named, and in count mode. A line of context is held back until a match follows it or the file ends:
    where a match might span lines, ripgrep also tells the context of a match behind the last line.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.query = page.query
        self.holds = page.query.mode != "content" or not os.path.isdir(page.query.path)
        self.held: list[Placed] = []
        self.context: list[Placed] = []
        self.last_match = 0

    def take(self, record: bytes) -> bool:
        """Take one event; whether it is a match."""
        import orjson

        try:
            event = orjson.loads(record)
            kind, data = event["type"], event["data"]
            if kind == "context":
                self.context += self.rows(data, context=True)
            elif kind == "match":
                self.held += self.context + self.rows(data, context=False)
                self.context = []
                self.last_match = self.held[-1].row.line or 0
            elif kind == "end":
                self.finish(data.get("binary_offset"))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise RipgrepFailed("its JSON can't be read") from error
        if self.held and not self.holds:
            self.page.add(self.held[0].row.path, [placed.row for placed in self.held])
            self.held = []
        return bool(kind == "match")

    def rows(self, data: dict[str, Any], *, context: bool) -> list[Placed]:
        """The rows of one event; a match that spans lines is one event."""
        path = absolute(self.query, bytes_of(data["path"]))
        text = bytes_of(data["lines"])
        starts = [match["start"] for match in data["submatches"]]
        number, offset = data["line_number"], data["absolute_offset"]
        rows = []
        at = 0
        while at < len(text):
            end = text.find(b"\n", at) + 1 or len(text)
            match_at = next((start - at for start in starts if at <= start < end), 0)
            row = SearchLine(path, number, shown(text[at:end], match_at), context=context)
            rows.append(Placed(row, offset + end))
            at, number = end, number + 1
        return rows

    def finish(self, binary_offset: int | None = None) -> None:
        """The file has ended; *binary_offset* is where its first NUL is."""
        last = self.last_match + self.query.after if self.last_match else 0
        held = self.held + [placed for placed in self.context if (placed.row.line or 0) <= last]
        self.held, self.context, self.last_match = [], [], 0
        if binary_offset is not None and self.holds:
            held = [placed for placed in held if placed.end <= binary_offset // BLOCK * BLOCK]
        if not held:
            return
        path = held[0].row.path
        if self.query.mode == "content":
            self.page.add(path, [placed.row for placed in held])
        elif self.query.mode == "files":
            self.page.add(path, [SearchLine(path)])
        elif binary_offset is None:
            self.page.add(path, [SearchLine(path, count=len(held))])


def absolute(query: SearchQuery, name: bytes) -> str:
    """The absolute path of the file that ripgrep calls *name*."""
    folder = query.path if os.path.isdir(query.path) else os.path.dirname(query.path)
    return os.path.join(folder, os.fsdecode(name))


def bytes_of(value: dict[str, str]) -> bytes:
    """What ripgrep writes as text, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"], validate=True)
