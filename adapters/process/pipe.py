"""Reading a command's output while it runs."""

import asyncio
import codecs
import os
from collections.abc import Callable

PIECE = 1 << 16
MOST_AT_THE_END = 1 << 20
"""More than a pipe holds. Only a process that left the group can have written more by then."""


class OutputPipe:
    """
    The reading end of a pipe; *receive* gets its text as it comes, bad UTF-8 replaced.

    Owned by one run, which calls `finish` at its end. If *receive* raises, reading goes on without it
    (or the command would block on a full pipe) and *broken* holds what it raised.
    """

    def __init__(self, descriptor: int, receive: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._receive = receive
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.broken: Exception | None = None
        self._open = True
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    def finish(self) -> None:
        """Take what is in the pipe, without waiting for more, and close it."""
        try:
            left = MOST_AT_THE_END
            while self._open and left > 0 and (size := self._read()):
                left -= size
            self._pass_on(self._decoder.decode(b"", final=True))
        finally:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)

    def _read(self) -> int:
        try:
            data = os.read(self._descriptor, PIECE)
        except BlockingIOError:
            return 0
        if not data:
            self._open = False
            self._loop.remove_reader(self._descriptor)
        self._pass_on(self._decoder.decode(data))
        return len(data)

    def _pass_on(self, text: str) -> None:
        if not text or self.broken is not None:
            return
        try:
            self._receive(text)
        except Exception as error:
            self.broken = error
