"""Our ends of a child's pipes. Nothing here waits: the loop calls when there is something to do."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

CHUNK = 1 << 16
LARGE = 1 << 18
"""Bytes that a pipe holds while it is read with pauses, where the system lets us."""
SMALL = 1 << 14
"""Behind a piece of fewer bytes there may be a pause."""
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.002, 0.05


class PipeReader:
    """Reads *pipe* while somebody takes what comes. The owner calls `stop` before it closes the pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.descriptor = pipe.fileno()
        os.set_blocking(self.descriptor, False)
        self.loop = asyncio.get_running_loop()
        self.ended = False
        self.broken: Exception | None = None
        self.take: Callable[[bytes], bool] = dropped
        self.done: asyncio.Future[None] = self.loop.create_future()
        self.pauses = False
        self.began = 0.0
        self.watched = False
        self.pause: asyncio.TimerHandle | None = None

    def each(self, take: Callable[[bytes], bool], *, pauses: bool = False) -> "asyncio.Future[None]":
        """
        Give each piece to *take*, and no longer to who had them before, until that returns True, raises, or
        the pipe ends.

        The future is done then; *ended* says whether it was the end, *broken* what was raised.

        With *pauses* many small pieces become a few: to be woken for each would take the processor from a
        child that is busy. A pause lasts half of the time that has gone by, and `hurry` ends it.
        """
        self.stop()
        if pauses:
            enlarge(self.descriptor)
        self.take = take
        self.pauses = pauses
        self.began = self.loop.time()
        self.done = self.loop.create_future()
        if self.ended:
            self.done.set_result(None)
        else:
            self.watch(wanted=True)
        return self.done

    def read(self) -> None:
        self.pause = None
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            self.watch(wanted=True)
            return
        self.ended = not data
        try:
            enough = self.ended or self.take(data)
        except Exception as error:
            self.broken = error
            enough = True
        if enough:
            self.stop()
        elif self.pauses and len(data) < SMALL:
            self.rest()
        else:
            self.watch(wanted=True)

    def rest(self) -> None:
        """Leave what comes in the pipe for a while."""
        self.watch(wanted=False)
        passed = self.loop.time() - self.began
        pause = min(max(passed / 2, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        self.pause = self.loop.call_later(pause, self.read)

    def hurry(self) -> None:
        """Read from now on without pauses."""
        self.pauses = False
        if self.pause is not None:
            self.pause.cancel()
            self.read()

    def stop(self) -> None:
        """Read no more; nobody need wait any longer."""
        self.watch(wanted=False)
        if self.pause is not None:
            self.pause.cancel()
            self.pause = None
        if not self.done.done():
            self.done.set_result(None)

    def watch(self, *, wanted: bool) -> None:
        if wanted and not self.watched:
            self.loop.add_reader(self.descriptor, self.read)
        elif self.watched and not wanted:
            self.loop.remove_reader(self.descriptor)
        self.watched = wanted


class PipeWriter:
    """
    Writes *data* to *pipe*, at once what fits and the rest when there is room, and closes it.

    Nobody hears of a reader that leaves early: its exit status tells why.
    """

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        self.pipe = pipe
        self.descriptor = pipe.fileno()
        self.unsent = memoryview(data)
        os.set_blocking(self.descriptor, False)
        self.loop = asyncio.get_running_loop()
        self.loop.add_writer(self.descriptor, self.write)
        self.write()

    def write(self) -> None:
        try:
            self.unsent = self.unsent[os.write(self.descriptor, self.unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.unsent = self.unsent[:0]
        if not self.unsent:
            self.close()

    def close(self) -> None:
        """Close the pipe; what was not sent is dropped."""
        if not self.pipe.closed:
            self.loop.remove_writer(self.descriptor)
            self.pipe.close()


def enlarge(pipe: int) -> None:
    """Let *pipe* hold more, where the system allows it."""
    with suppress(ImportError, AttributeError, OSError):  # not Linux, or over the user's share of pipe memory
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, LARGE)


def dropped(piece: bytes) -> bool:
    """Takes *piece* and does nothing with it."""
    return False
