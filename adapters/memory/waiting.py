"""A count that others can wait for."""

import asyncio


class Counter:
    """Counts up, and tells those who wait for a number."""

    def __init__(self) -> None:
        self.count = 0
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def add(self) -> None:
        """One more."""
        self.set(self.count + 1)

    def set(self, count: int) -> None:
        """It is *count* now; it may also go down."""
        self.count = count
        for wanted, waiter in self._waiters:
            if count >= wanted and not waiter.done():
                waiter.set_result(None)

    async def reached(self, count: int) -> None:
        """Return as soon as the count is *count* or more."""
        if self.count >= count:
            return
        waiter = asyncio.get_running_loop().create_future()
        row = (count, waiter)
        self._waiters.append(row)
        try:
            await waiter
        finally:
            self._waiters.remove(row)
