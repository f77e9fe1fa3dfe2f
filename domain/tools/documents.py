"""PDFs as Read shows them: the text of one page after the other, each under a line with the page's number."""

from bisect import bisect_right
from collections.abc import Iterator

from norma.domain.tools.limits import OUTPUT_CHARACTERS, counted, page
from norma.domain.tools.places import encodable
from norma.ports.documents import DocumentPage

START = b"%PDF"
MOST_BYTES = 32 << 20
"""Of a PDF that is read; it has to be held whole."""
WIDTH = 2000
"""Characters. A longer line goes on in the next one: no file has such lines, so none is shown in part."""
KEPT = 16


class PageStarts:
    """
    At which line each page begins, for the last `KEPT` documents, as far as they were read.

    So reading on does not read all the pages before once more.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, list[int]]] = {}

    def of(self, path: str, stamp: str) -> list[int]:
        """The starts for the file as it was at *stamp*; whoever reads further adds to them."""
        known = self._known.pop(path, None)
        starts = known[1] if known is not None and known[0] == stamp else [1]
        self._known[path] = (stamp, starts)
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return starts


class Excerpt:
    """
    The lines of a document from *first* on, *limit* at most and no more than fit.

    Its pages are given to `take`, from the page *page* on; *starts* grows with them.
    """

    def __init__(self, starts: list[int], first: int, limit: int) -> None:
        self.page = bisect_right(starts, first)
        self._starts = starts
        self._first = first
        self._limit = limit
        self._next = starts[self.page - 1]
        self._lines: list[str] = []
        self._room = OUTPUT_CHARACTERS
        self._seen: DocumentPage | None = None

    def take(self, seen: DocumentPage) -> bool:
        """Take the next page; whether another one is wanted."""
        lines = list(_lines(seen))
        wanted = lines[max(0, self._first - self._next) :]
        self._lines += wanted
        self._room -= sum(map(len, wanted))
        self._next += len(lines)
        self._seen = seen
        if seen.number == len(self._starts):
            self._starts.append(self._next)
        return len(self._lines) < self._limit and self._room > 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing that is wanted has come yet."""
        return not self._lines

    @property
    def reached(self) -> str:
        """How far the reading came; empty if it came to no page."""
        return f"page {self._seen.number} of {self._seen.of}" if self._seen else ""

    def text(self, name: str, fault: str = "", *, final: bool = False) -> str:
        """
        What is shown of the document *name*.

        *fault* says what ended the reading before its time; *final*: it would do so again.
        """
        if not self._lines:
            size = self._next - 1
            behind = f"{name} has {counted(size, 'line')} of text; offset {self._first} is behind its end"
            return page([]).text(behind if size else f"{name} is a PDF without pages")
        lines = self._lines[: self._limit]
        fit = page([f"{number:>6}\t{line}" for number, line in enumerate(lines, self._first)])
        return encodable(fit.text(self._rest(self._first + len(fit.lines), final=final), fault))

    def _rest(self, end: int, *, final: bool) -> str:
        """The note on what follows the line before *end*."""
        left = self._next - end
        seen = self._seen
        if seen is not None and seen.number < seen.of and not final:
            return f"more lines, up to page {seen.of}; continue with offset={end}"
        return f"{counted(left, 'more line')}; continue with offset={end}" if left else ""


def _lines(seen: DocumentPage) -> Iterator[str]:
    yield f"--- page {seen.number} of {seen.of} ---"
    for line in seen.text.split("\n") if seen.text else ():
        for at in range(0, max(1, len(line)), WIDTH):
            yield line[at : at + WIDTH]
    if seen.fault:
        yield f"[{'the rest of ' if seen.text else ''}this page is not shown: {seen.fault}]"
    elif not seen.text:
        yield "[this page has no text: it is blank, or a picture]"
