"""Turns the hits of one file into the rows of the answer, with the lines around them."""

from collections.abc import Iterable, Iterator

from norma.adapters.grep.lines import shown
from norma.adapters.grep.worker.matching import Hit

Row = tuple[int, str, bool]
"""Number of the line from 1, its text as it is shown, whether it is only beside a match."""


def rows(data: bytes, hits: Iterable[Hit], before: int, after: int) -> Iterator[Row]:
    """
    The rows of *hits* in *data*, with up to *before* lines in front and *after* behind, none of
    them twice.
    """
    report = Report(data)
    for hit in hits:
        yield from report.context(
            report.told, min(lines_after(data, report.told, after * report.begun), hit.start)
        )
        yield from report.context(max(report.told, lines_before(data, hit.start, before)), hit.start)
        yield report.row(hit.start, hit.end, hit.match_at, context=False)
    if report.begun:
        yield from report.context(report.told, lines_after(data, report.told, after))


class Report:
    """What of *data* has been told."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.told = 0
        self.number = 1
        self.counted = 0
        self.begun = False

    def row(self, start: int, end: int, match_at: int, *, context: bool) -> Row:
        self.number += self.data.count(b"\n", self.counted, start)
        self.counted = start
        self.told = end
        self.begun = True
        return self.number, shown(self.data[start:end], match_at), context

    def context(self, start: int, end: int) -> Iterator[Row]:
        """The lines from *start* up to *end*."""
        while start < end:
            line_end = self.data.find(b"\n", start, end) + 1 or end
            yield self.row(start, line_end, 0, context=True)
            start = line_end


def lines_after(data: bytes, at: int, count: int) -> int:
    """Where the *count* lines that begin at *at* end."""
    for _ in range(count):
        at = data.find(b"\n", at) + 1 or len(data)
    return at


def lines_before(data: bytes, at: int, count: int) -> int:
    """Where the *count* lines that end at *at* begin."""
    for _ in range(count):
        if at <= 0:
            break
        at = data.rfind(b"\n", 0, at - 1) + 1
    return at
