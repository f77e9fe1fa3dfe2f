"""Cuts what ripgrep prints into records."""

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
