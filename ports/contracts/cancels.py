"""
Cancel at every await.

A scenario must never end by itself: what ends anyway hides a cancellation that does nothing. It is
run once to count the passes of the loop until it stays where it is, and then once for each pass,
cancelled there; the first of these cancels comes before its first step.
"""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from norma.domain.model.values import frozen
from norma.ports.contracts.tasks import BOUND_S, CURRENT, cancel, start, turn


@frozen
class Scenario:
    """
    *work* never ends by itself. *there* says whether it has come to the place where it stays.
    *after* is called when it was cancelled and has ended; it raises AssertionError for what is left.
    """

    work: Coroutine[Any, Any, Any]
    there: Callable[[], bool]
    after: Callable[[], Awaitable[None]]


async def cancel_everywhere(
    make: Callable[[], AbstractAsyncContextManager[Scenario]], promise: str, *, most: int = 200
) -> int:
    """
    Cancel a fresh scenario of *make* at each pass, and once where it stays; how often it was cancelled.

    With more than *most* passes (a real network has many that do nothing) the passes are picked evenly.
    """
    passes = await _passes(make, promise)
    step = max(1, -(-passes // most))
    picked = range(0, passes, step)
    for number in picked:
        async with make() as scenario:
            task = start(scenario.work)
            await turn(number)
            assert not task.done(), f"{promise}: the scenario ended by itself"
            await cancel(task, f"{promise} (pass {number} of {passes})")
            await scenario.after()
    return len(picked) + 1


async def _passes(make: Callable[[], AbstractAsyncContextManager[Scenario]], promise: str) -> int:
    async with make() as scenario:
        task = start(scenario.work)
        passes, deadline = 0, CURRENT.get().time() + BOUND_S
        while not scenario.there():
            assert not task.done(), f"{promise}: the scenario ended by itself"
            assert CURRENT.get().time() < deadline, f"{promise}: the scenario never gets to its place"
            await turn()
            passes += 1
        await turn(3)  # what was reached may still be on its way into the last wait
        await cancel(task, f"{promise} (where it stays)")
        await scenario.after()
    return passes + 1
