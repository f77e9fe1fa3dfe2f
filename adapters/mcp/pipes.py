"""Our ends of a child's pipes. Nothing here waits: the loop calls when there is something to do."""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

SMALL, LARGE = 1 << 16, 1 << 20
MOST_AT_THE_END = 64 << 20
"""Read after a child's end: a process that it left behind may write for ever."""
MOST_UNSENT = 64 << 20


def large_pipe() -> tuple[int, int]:
    """A pipe, reading end first, that holds a big answer in few pieces where the system allows it."""
    reading, writing = os.pipe()
    with suppress(ImportError, AttributeError, OSError):  # not Linux, or over the user's share of pipe memory
        import fcntl

        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, LARGE)
    return reading, writing


class PipeReader:
    """Gives what comes to *receive*, and calls *ended* once at its end."""

    def __init__(self, descriptor: int, receive: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._receive = receive
        self._ended = ended
        self._size = SMALL
        self._open = True
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    def drain(self) -> None:
        """Take what is there now, without waiting for more."""
        left = MOST_AT_THE_END
        while self._open and left > 0 and (size := self._read()):
            left -= size

    def close(self) -> None:
        """Let go of the pipe. Once."""
        if self._open:
            self._loop.remove_reader(self._descriptor)
        self._open = False
        os.close(self._descriptor)

    def _read(self) -> int:
        try:
            data = os.read(self._descriptor, self._size)
        except BlockingIOError:
            return 0
        if not data:
            self._open = False
            self._loop.remove_reader(self._descriptor)
            self._ended()
            return 0
        # Big answers come in big pieces, and small ones do not pay for it.
        self._size = min(2 * self._size, LARGE) if len(data) == self._size else SMALL
        self._receive(data)
        return len(data)


class PipeWriter:
    """Writes at once what fits, and the rest when there is room. *broken* is called once if nobody reads."""

    def __init__(self, descriptor: int, broken: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._broken = broken
        self._unsent: deque[bytes | memoryview] = deque()
        self._size = 0
        self._watched = False
        self._flushing = False
        self._open = True
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes, *, soon: bool = False) -> None:
        """Send *data* in order; with *soon* together with what else comes in this pass of the loop."""
        if not self._open:
            return
        if self._size > MOST_UNSENT:
            self._fail(f"the server does not read; {self._size} bytes wait for it")
            return
        self._unsent.append(data)
        self._size += len(data)
        if soon:
            if not (self._flushing or self._watched):
                self._flushing = True
                self._loop.call_soon(self._flush)
        elif not self._watched:
            self._flush()

    def close(self) -> None:
        """Close the pipe; the server sees the end of its input. What was not sent is dropped."""
        if not self._open:
            return
        self._open = False
        self._unsent.clear()
        self._size = 0
        if self._watched:
            self._loop.remove_writer(self._descriptor)
        os.close(self._descriptor)

    def _flush(self) -> None:
        self._flushing = False
        unsent = self._unsent
        if not self._open or not unsent:
            return
        data = unsent.popleft() if len(unsent) == 1 else b"".join(unsent)
        unsent.clear()
        try:
            done = os.write(self._descriptor, data)
        except BlockingIOError:
            done = 0
        except OSError as error:
            self._fail(f"the server closed its input: {error.strerror}")
            return
        self._size -= done
        if done < len(data):
            unsent.append(memoryview(data)[done:])
        self._watch(wanted=bool(unsent))

    def _watch(self, *, wanted: bool) -> None:
        if wanted and not self._watched:
            self._loop.add_writer(self._descriptor, self._flush)
        elif self._watched and not wanted:
            self._loop.remove_writer(self._descriptor)
        self._watched = wanted

    def _fail(self, why: str) -> None:
        self.close()
        self._loop.call_soon(self._broken, why)
