"""A clock that stands still until the test moves it."""

import asyncio
import random
from datetime import datetime, timedelta

from norma.adapters.memory.waiting import Counter
from norma.ports.clock import Clock


class ManualClock(Clock):
    """
    Time that `advance` alone moves; identifiers and chance that are the same in every run.

    *start* is ISO 8601 in UTC.
    """

    def __init__(self, start: str = "2026-01-01T00:00:00.000Z", *, seed: int = 0) -> None:
        self._start = datetime.fromisoformat(start)
        self._elapsed = 0.0
        self._random = random.Random(seed)
        self._ids = 0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._asleep = Counter()
        self.sleeps: list[float] = []
        """Seconds of every sleep that was begun, in order."""

    def now(self) -> str:
        """The start plus what was advanced."""
        moment = self._start + timedelta(seconds=self._elapsed)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"

    def monotonic(self) -> float:
        """Seconds that were advanced."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by *seconds*."""
        self.sleeps.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = (self._elapsed + seconds, asyncio.get_running_loop().create_future())
        self._sleepers.append(sleeper)
        self._asleep.set(len(self._sleepers))
        try:
            await sleeper[1]
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                self._asleep.set(len(self._sleepers))

    def advance(self, seconds: float) -> None:
        """
        Let *seconds* pass at once and wake who is due, the earliest first.

        They run when the caller next waits. Who then sleeps again starts from the new time.
        """
        if seconds < 0:
            raise ValueError("time does not go back")
        self._elapsed += seconds
        # A sum of floats may miss a due time by less than anybody sleeps.
        due = sorted(
            (row for row in self._sleepers if row[0] <= self._elapsed + 1e-9), key=lambda row: row[0]
        )
        for row in due:
            self._sleepers.remove(row)
            if not row[1].done():
                row[1].set_result(None)
        self._asleep.set(len(self._sleepers))

    async def sleeping(self, sleepers: int = 1) -> None:
        """Return as soon as that many sleep at once."""
        await self._asleep.reached(sleepers)

    def new_id(self) -> str:
        """The time in milliseconds and a running number, both hexadecimal."""
        self._ids += 1
        moment = int(self._start.timestamp() * 1000 + self._elapsed * 1000)
        return f"{moment:011x}-{self._ids:06x}"

    def random(self) -> float:
        """The next number of a fixed sequence."""
        return self._random.random()
