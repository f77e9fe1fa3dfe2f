"""
Which lines of a file match: needles first, then `re` around them, and the linear engine where `re`
is too slow.
"""

import re
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

from norma.adapters.grep.expression import looks_behind, lowered, minds_no_case
from norma.adapters.grep.literals import needles
from norma.adapters.grep.parser import parse
from norma.adapters.grep.spelling import for_python
from norma.adapters.grep.worker.linear import LinearLines

WINDOW = 1 << 22
"""Bytes that are decoded at a time."""
PATIENCE_S = 0.5
"""Processor time that `re` gets for a window, plus what it needs to read it at `PACE` bytes a second."""
PACE = 20e6
LOOK = 1 << 12
"""Characters behind a match among which the next one, if it begins right there, is looked for first."""


class Hit(NamedTuple):
    """
    A line that matches: from *start* up to *end*, its end included, in bytes; its first match is at
    *match_at*.
    """

    start: int
    end: int
    match_at: int


class TooSlow(Exception):
    """`re` ran out of patience."""


def give_up(signum: int, frame: FrameType | None) -> None:
    raise TooSlow


class Matcher:
    """One pattern, ready for files. Its alarm needs the main thread of a process of its own."""

    def __init__(self, pattern: str, *, multiline: bool, ignore_case: bool) -> None:
        self.multiline = multiline
        self.node = parse(pattern, multiline=multiline, ignore_case=ignore_case)
        self.needles = needles(self.node)
        self.narrow = re.compile(
            for_python(self.node, multiline=multiline, wide=False), re.MULTILINE | re.ASCII
        )
        self.lower = self.for_lower_case()
        self.wide = re.compile(for_python(self.node, multiline=multiline, wide=True), re.MULTILINE)
        self.looks_behind = looks_behind(self.node)
        self.linear: LinearLines | None = None
        signal.signal(signal.SIGVTALRM, give_up)

    def for_lower_case(self) -> re.Pattern[str] | None:
        """
        For ASCII text in lower case, which `re` searches faster; None for a pattern that minds the
        case.
        """
        if not minds_no_case(self.node):
            return None
        return re.compile(
            for_python(lowered(self.node), multiline=self.multiline, wide=False), re.MULTILINE | re.ASCII
        )

    def chosen(self, data: bytes) -> tuple[re.Pattern[str], str]:
        """
        *data* as text, and the expression for it; bytes and characters of ASCII text are at the
        same places.
        """
        if not data.isascii():
            return self.wide, data.decode("utf-8", "surrogateescape")
        if self.lower is not None:
            return self.lower, data.lower().decode("ascii")
        return self.narrow, data.decode("ascii")

    @property
    def plain_needles(self) -> tuple[bytes, ...] | None:
        """Texts of which every match holds one as it is; None if there are none such."""
        return next((needle.texts for needle in self.needles if not needle.folded), None)

    def may_match(self, data: bytes) -> bool:
        """False only if *data* has no match for certain; quick."""
        is_ascii = data.isascii()
        lower: bytes | None = None
        for needle in self.needles:
            texts = needle.texts
            if needle.folded:
                texts = texts if is_ascii else needle.plain_parts
                lower = data.lower() if lower is None else lower
            if not any(text in (lower if needle.folded and lower is not None else data) for text in texts):
                return False
        return True

    def hits(self, data: bytes) -> Iterator[Hit]:
        """The lines of *data* that match, in order."""
        if self.multiline:
            yield from self.across_lines(data)
            return
        start = 0
        while start < len(data):
            end = window_end(data, start)
            yield from self.in_window(data[start:end], start)
            start = end

    def in_window(self, data: bytes, offset: int) -> Iterator[Hit]:
        """The hits in *data*, whole lines that lie *offset* bytes into their file."""
        if not self.may_match(data):
            return
        matcher, text = self.chosen(data)
        measure = Measure(text, offset)
        at = 0
        while at < len(text):
            found = self.next_line(matcher, text, at)
            if found is None:
                return
            first = text.rfind("\n", 0, found) + 1
            at = text.find("\n", found) + 1 or len(text)
            yield Hit(measure.bytes_to(first), measure.bytes_to(at), measure.between(first, found))

    def next_line(self, matcher: re.Pattern[str], text: str, at: int) -> int | None:
        """Where the first match at or after *at*, the start of a line, begins; None if there is none."""
        if self.linear is None:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S + (len(text) - at) / PACE)
                found = matcher.search(text, at)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            except TooSlow:
                self.linear = LinearLines(self.node)
            else:
                return None if found is None or after_the_last_line(text, found.start()) else found.start()
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if self.linear.has_match(text[at:end]):
                return at
            at = end + 1
        return None

    def across_lines(self, data: bytes) -> Iterator[Hit]:
        """The lines that matches touch where a match may span several. A NUL in one of them ends the file."""
        matcher, text = self.chosen(data)
        waiting: tuple[int, int, int | None] | None = None
        measure = Measure(text, 0)
        for start, stop in self.spans(matcher, text):
            if after_the_last_line(text, start):
                break
            last = max(start, stop - 1)
            first = text.rfind("\n", 0, start) + 1
            end = text.find("\n", last) + 1 or len(text)
            if "\0" in text[first:end]:
                break
            while first < end:
                line_end = text.find("\n", first, end) + 1 or end
                match_at = start if start >= first else None
                if waiting is not None and waiting[0] == first:
                    match_at = match_at if waiting[2] is None else waiting[2]
                elif waiting is not None and waiting[0] < first:
                    yield self.measured(measure, waiting)
                if waiting is None or waiting[0] <= first:
                    waiting = (first, line_end, match_at)
                first = line_end
        if waiting is not None:
            yield self.measured(measure, waiting)

    def spans(self, matcher: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
        """
        Where matches begin and end.

        ripgrep searches on behind a match as if the text began there: in the middle of a line, too, `^`
        matches, and a word has an edge. (grep-searcher's MultiLine gives its matcher the rest of the text.)
        """
        if not self.looks_behind:
            yield from (found.span() for found in matcher.finditer(text))
            return
        at = 0
        while at <= len(text):
            start, stop = at, self.right_behind(matcher, text, at)
            if stop is None:
                in_line = at > 0 and text[at - 1] != "\n"
                found = matcher.search(text, at + in_line)
                if found is None:
                    return
                start, stop = found.span()
            yield start, stop
            at = stop if stop > start else stop + 1

    def right_behind(self, matcher: re.Pattern[str], text: str, at: int) -> int | None:
        """The end of a match that begins at *at*, inside a line, if the text began there; None for none."""
        if at == 0 or text[at - 1] == "\n":
            return None
        found = matcher.match(text[at : at + LOOK])
        if found is not None and found.end() == LOOK:  # it may go on, or not be one
            found = matcher.match(text[at:])
        return None if found is None else at + found.end()

    def measured(self, measure: "Measure", line: tuple[int, int, int | None]) -> Hit:
        first, end, match_at = line
        start = measure.bytes_to(first)
        return Hit(start, measure.bytes_to(end), 0 if match_at is None else measure.between(first, match_at))


def window_end(data: bytes, start: int) -> int:
    """Where the window of *data* that begins at *start* ends: behind a whole line."""
    end = start + WINDOW
    if end >= len(data):
        return len(data)
    return data.rfind(b"\n", start, end) + 1 or data.find(b"\n", end) + 1 or len(data)


class Measure:
    """
    Turns places in *text*, asked for in rising order, into bytes of its file; *text* begins at
    *offset*.
    """

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.is_ascii = text.isascii()
        self.at = 0
        self.bytes = offset

    def bytes_to(self, place: int) -> int:
        self.bytes += self.between(self.at, place)
        self.at = place
        return self.bytes

    def between(self, start: int, end: int) -> int:
        if self.is_ascii:
            return end - start
        return len(self.text[start:end].encode("utf-8", "surrogateescape"))


def after_the_last_line(text: str, at: int) -> bool:
    """Whether *at* lies behind the last line feed, where no line is."""
    return at >= len(text) and (not text or text[-1] == "\n")
