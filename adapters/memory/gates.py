"""What a double waits at: a gate that a test opens, or for ever."""

import asyncio
from collections.abc import Generator
from typing import Any

from norma.adapters.memory.waiting import Counter


class Gate:
    """
    A place where a double waits until the test opens it; then it stays open.

    Awaiting it gives the value that `open` got (or raises it, if it is an exception).
    """

    def __init__(self) -> None:
        self._opened: asyncio.Event = asyncio.Event()
        self._value: Any = None
        self._arrivals = Counter()

    def open(self, value: Any = None) -> None:
        """Let all pass who wait, and who will come."""
        self._value = value
        self._opened.set()

    @property
    def arrivals(self) -> int:
        """How many have come to the gate so far."""
        return self._arrivals.count

    async def reached(self, arrivals: int = 1) -> None:
        """Return as soon as that many have come to the gate."""
        await self._arrivals.reached(arrivals)

    def __await__(self) -> Generator[Any, None, Any]:
        self._arrivals.add()
        yield from self._opened.wait().__await__()
        if isinstance(self._value, BaseException):
            raise self._value
        return self._value


class Forever(Gate):
    """A gate that never opens: what waits at it ends by cancellation alone."""

    def open(self, value: Any = None) -> None:
        """Refused."""
        raise AssertionError("Forever does not open; use Gate for what ends some time")
