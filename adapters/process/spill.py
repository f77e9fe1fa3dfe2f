"""The whole output of a command, in a file: for reading what was left out of an answer."""

import os
from collections.abc import Callable
from contextlib import suppress

MOST_BYTES = 50 << 20
PRIVATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Spill:
    """
    Keeps all that is added, *most* bytes at most: the first *room* characters in memory, and as soon as
    there are more everything in a file that is made then, for this user only, at the path that *place*
    returns.

    Written on the loop's thread: a piece is at most what a pipe holds, and goes to the page cache.
    """

    def __init__(self, place: Callable[[], str], room: int, most: int = MOST_BYTES) -> None:
        self._place = place
        self._path = ""
        self._room = room
        self.most = most
        self._pending: list[str] = []
        self._characters = 0
        self._descriptor: int | None = None
        self._size = 0
        self.trouble: OSError | None = None

    @property
    def size(self) -> int:
        """Bytes of UTF-8 that were kept."""
        return self._size

    @property
    def full(self) -> bool:
        """Whether something was not kept because there was too much."""
        return self._size >= self.most

    def add(self, text: str) -> None:
        """Take the next piece. A disk that takes no more is *trouble*, and what came until then stays."""
        self._characters += len(text)
        if self._descriptor is None and self._characters <= self._room:
            self._pending.append(text)
            self._size += len(text.encode())
            return
        if self.trouble is None:
            try:
                self._file(text)
            except OSError as error:
                self.trouble = error

    def read(self, offset: int | None, limit: int) -> tuple[bytes, int]:
        """
        At most *limit* bytes from *offset* (None: the last ones), no character cut, and where they begin.

        Raises OSError.
        """
        start = max(0, self._size - limit) if offset is None else min(offset, self._size)
        data = self._bytes(start, limit + 4)
        skipped = 0
        while skipped < min(3, len(data)) and _continues(data[skipped]):
            skipped += 1
        end = min(skipped + limit, len(data))
        while skipped < end < len(data) and _continues(data[end]):
            end -= 1
        return data[skipped:end], start + skipped

    def discard(self) -> None:
        """Close and remove the file. Twice does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(FileNotFoundError):  # somebody has cleared up before us
                os.unlink(self._path)

    def _file(self, text: str) -> None:
        if self._descriptor is None:
            self._path = self._place()
            self._descriptor = os.open(self._path, PRIVATE, 0o600)
            text = "".join([*self._pending, text])
            self._pending.clear()
            self._size = 0
        data = memoryview(text.encode())[: self.most - self._size]
        while data:
            written = os.pwrite(self._descriptor, data, self._size)
            self._size += written
            data = data[written:]

    def _bytes(self, start: int, limit: int) -> bytes:
        if self._descriptor is None:
            return "".join(self._pending).encode()[start : start + limit]
        return os.pread(self._descriptor, min(limit, self._size - start), start)


def _continues(byte: int) -> bool:
    """Whether a byte is inside a character of UTF-8."""
    return byte & 0xC0 == 0x80
