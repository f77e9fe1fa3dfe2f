"""File work in a thread that a cancelled caller still waits for."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The caller was cancelled; the thread clears up and ends."""


class Stop:
    """How a cancelled caller asks its thread to give up."""

    def __init__(self) -> None:
        self._asked = Event()

    def ask(self) -> None:
        """Make the next `check` raise."""
        self._asked.set()

    def check(self) -> None:
        """Called by the thread between two small pieces of work. Raises Stopped."""
        if self._asked.is_set():
            raise Stopped


async def in_thread(work: Callable[[Stop], T]) -> T:
    """
    Run *work* in a thread and return what it returns.

    A cancelled caller asks the thread to stop and waits for its end, however often it is
    cancelled, so that nothing touches the disk after `CancelledError` has passed on.
    """
    stop = Stop()
    future = asyncio.get_running_loop().run_in_executor(None, work, stop)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            stop.ask()
            cancelled = error
    if cancelled is not None:
        future.exception()  # seen: the cancel is what the caller hears of
        raise cancelled
    return future.result()
