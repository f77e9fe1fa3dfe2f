"""
Reads the JSON that ripgrep prints: one event a line, about files one after the other.

Most events are never looked into: where each is one row, only those rows are read that are shown.
"""

import base64
import os
import re
from functools import partial
from typing import Any, NamedTuple

from norma.adapters.grep.lines import shown
from norma.adapters.grep.page import Page, Row
from norma.adapters.grep.records import RipgrepFailed
from norma.adapters.grep.worker.contents import BLOCK
from norma.ports.file_search import SearchLine, SearchQuery

KIND = re.compile(rb'\{"type":"(\w+)"')
UNREADABLE = "its JSON can't be read"
LARGE = 1 << 12
"""Bytes of a record that may be kept until its row is shown; of a larger one the row is kept."""
LONG_PAGE = 1000
"""Rows. Those of a longer page are read as they come, lest they hold up the loop all together at its end."""


class FolderEvents:
    """
    Takes the events of a search in a folder whose matches lie in one line each, and puts a row on *page*
    for each line.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.path = ""
        self.kept = LARGE if 0 < page.query.limit <= LONG_PAGE else 0

    def take(self, records: list[bytes]) -> int:
        """Take some events; how many of them are matches."""
        found = 0
        rows: list[Row] = []
        for record in records:
            kind = kind_of(record)
            if kind == b"match" or kind == b"context":
                self.path = self.path or path_of(self.page.query.path, record)
                row = partial(row_of, self.path, record)
                rows.append(row if len(record) <= self.kept else row())
                found += kind == b"match"
            else:  # a file begins or ends
                self.put(rows)
                rows, self.path = [], ""
        self.put(rows)
        return found

    def put(self, rows: list[Row]) -> None:
        if rows:
            self.page.add(self.path, rows)

    def finish(self) -> None:
        """Say that the stream has ended."""


def kind_of(record: bytes) -> bytes:
    """What kind of event *record* is; of most it is the first word."""
    import orjson

    if found := KIND.match(record):
        return found[1]
    try:
        return str(orjson.loads(record)["type"]).encode()
    except (ValueError, KeyError, TypeError) as error:
        raise RipgrepFailed(UNREADABLE) from error


def path_of(folder: str, record: bytes) -> str:
    """The path of the file that the event *record* is about, in a search in *folder*."""
    import orjson

    try:
        return absolute(folder, bytes_of(orjson.loads(record)["data"]["path"]))
    except (ValueError, KeyError, TypeError) as error:
        raise RipgrepFailed(UNREADABLE) from error


def row_of(path: str, record: bytes) -> SearchLine:
    """The row in an event about one line of *path*."""
    import orjson

    try:
        event = orjson.loads(record)
        data = event["data"]
        match_at = data["submatches"][0]["start"] if data["submatches"] else 0
        text = shown(bytes_of(data["lines"]), match_at)
        return SearchLine(path, data["line_number"], text, context=event["type"] == "context")
    except (ValueError, KeyError, TypeError) as error:
        raise RipgrepFailed(UNREADABLE) from error


class Placed(NamedTuple):
    """A row, and where its line ends, in bytes from the start of the file."""

    row: SearchLine
    end: int


class FileEvents:
    """
    Takes the events of any search and puts rows on *page*.

    The rows of one file are held back until its end where that decides about them: in a file that was
    named, and in count mode. A line of context is held back until a match follows it or the file ends:
    where a match might span lines, ripgrep also tells the context of a match behind the last line.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.query = page.query
        self.folder = folder_of(page.query)
        self.holds = page.query.mode != "content" or not os.path.isdir(page.query.path)
        self.held: list[Placed] = []
        self.context: list[Placed] = []
        self.last_match = 0

    def take(self, records: list[bytes]) -> int:
        """Take some events; how many of them are matches."""
        return sum(map(self.take_one, records))

    def take_one(self, record: bytes) -> bool:
        """Take an event; whether it is a match."""
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
            raise RipgrepFailed(UNREADABLE) from error
        if self.held and not self.holds:
            self.page.add(self.held[0].row.path, [placed.row for placed in self.held])
            self.held = []
        return bool(kind == "match")

    def rows(self, data: dict[str, Any], *, context: bool) -> list[Placed]:
        """The rows of one event; a match that spans lines is one event."""
        path = absolute(self.folder, bytes_of(data["path"]))
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


def absolute(folder: str, name: bytes) -> str:
    """The absolute path of the file that ripgrep calls *name*, which runs in *folder*."""
    return os.path.join(folder, os.fsdecode(name))


def folder_of(query: SearchQuery) -> str:
    """Where ripgrep runs: its globs start there."""
    return query.path if os.path.isdir(query.path) else os.path.dirname(query.path)


def bytes_of(value: dict[str, str]) -> bytes:
    """What ripgrep writes as text, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"], validate=True)
