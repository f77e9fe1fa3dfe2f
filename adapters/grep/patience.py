"""Waiting that a cancel does not cut short."""

import asyncio
from collections.abc import Iterable
from typing import Any


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
