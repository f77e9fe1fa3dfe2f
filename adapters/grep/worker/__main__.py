"""
Reads one query (JSON) from stdin, prints its answer as JSON lines, and ends.

A tree is searched by several such processes: each walks all of it and looks into every file whose
place in the walk is its *share* among *shares*. The lines: `["file", path]`, `["count", path, n]`,
`["rows", path, [[line, text, context], …]]`, `["trouble", text]`, `["progress", files]` and, last,
`["end"]`; an answer without it is not whole. A path that is no UTF-8 has surrogate escapes.
"""

import json
import os
import resource
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, TextIO

from norma.adapters.grep.worker import contents, report
from norma.adapters.grep.worker.matching import Matcher
from norma.adapters.grep.worker.walk import Walk
from norma.adapters.process.confined import confine

ROWS_AT_ONCE = 100
FILES_BETWEEN_PROGRESS = 1000


class Search:
    """The search that *query* asks for; tells *output* what it finds."""

    def __init__(self, query: dict[str, Any], output: TextIO) -> None:
        self.query = query
        self.output = output
        self.mode: str = query["mode"]
        self.matcher = Matcher(
            query["pattern"], multiline=query["multiline"], ignore_case=query["ignore_case"]
        )

    def tell(self, *record: Any) -> None:
        self.output.write(json.dumps(record, separators=(",", ":")) + "\n")

    def run(self) -> None:
        reader = contents.Reader(self.matcher.plain_needles)
        share, shares = self.query["share"], self.query["shares"]
        for number, path in enumerate(self.paths(), 1):
            if share == 0 and number % FILES_BETWEEN_PROGRESS == 0:
                self.tell("progress", number)
                self.output.flush()
            if number % shares != share:
                continue
            try:
                data = reader.read(path)
            except OSError as error:
                self.trouble(path, error)
                continue
            if data and self.matcher.may_match(data) and not contents.is_binary(data):
                self.look_into(os.fsdecode(path), data)
        self.tell("end")

    def paths(self) -> Iterator[bytes]:
        root = os.fsencode(self.query["path"])
        if not os.path.isdir(root):
            return iter((root,))
        return Walk(
            root,
            globs=tuple(self.query["globs"]),
            types=tuple(self.query["types"]),
            hidden=self.query["hidden"],
            no_ignore=self.query["no_ignore"],
            trouble=self.trouble if self.query["share"] == 0 else lambda path, error: None,
        ).files()

    def trouble(self, path: bytes, error: OSError) -> None:
        self.tell("trouble", f"{os.fsdecode(path).rstrip('/')}: {error.strerror or error}")

    def look_into(self, path: str, data: bytes) -> None:
        cut = False
        if not self.matcher.multiline:
            data, cut = contents.before_nul(data)
        hits = self.matcher.hits(data)
        if self.mode == "files":
            if next(hits, None) is not None:
                self.tell("file", path)
        elif self.mode == "count":
            count = 0 if cut else sum(1 for _ in hits)
            if count:
                self.tell("count", path, count)
        else:
            found = report.rows(data, hits, self.query["before"], self.query["after"])
            while part := list(islice(found, ROWS_AT_ONCE)):
                self.tell("rows", path, part)


def main() -> None:
    query = json.load(sys.stdin.buffer)
    limit = int(query["processor_s"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(1, "w", encoding="ascii", closefd=False) as output:
        confine()
        Search(query, output).run()


if __name__ == "__main__":
    main()
