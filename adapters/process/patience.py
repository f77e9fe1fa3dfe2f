"""Waiting that a cancel does not cut short."""

import asyncio
from collections.abc import Iterable
from typing import Any


class Patience:
    """
    Holds cancels back while something must come to its end; `release` raises the last one.

    No task is made: when a loop shuts down it cancels every task, also one that clears up.
    """

    def __init__(self) -> None:
        self._cancel: asyncio.CancelledError | None = None

    async def wait(self, future: "asyncio.Future[Any]", seconds: float) -> bool:
        """Wait until *future* is done, for at most *seconds*; whether it is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not future.done() and (left := deadline - loop.time()) > 0:
            try:
                await asyncio.wait({future}, timeout=left)
            except asyncio.CancelledError as error:
                self._cancel = error
        return future.done()

    async def until(self, future: "asyncio.Future[Any]") -> None:
        """Wait until *future* is done, however long that takes."""
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError as error:
                self._cancel = error

    async def sleep(self, seconds: float) -> None:
        """Wait for *seconds*."""
        await self.wait(asyncio.get_running_loop().create_future(), seconds)

    def release(self) -> None:
        """Raise the CancelledError that was held back, if one was."""
        if self._cancel is not None:
            raise self._cancel


async def patiently(futures: "Iterable[asyncio.Future[Any]]", seconds: float | None = None) -> None:
    """
    Wait until all of *futures* are done, for at most *seconds* if given.

    Cancels nothing. A cancel of the one who waits is held back until then, and raised.
    """
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    cancel: asyncio.CancelledError | None = None
    while waiting := [future for future in futures if not future.done()]:
        left = None if deadline is None else deadline - loop.time()
        if left is not None and left <= 0:
            break
        try:
            await asyncio.wait(waiting, timeout=left)
        except asyncio.CancelledError as error:
            cancel = error
    if cancel is not None:
        raise cancel
