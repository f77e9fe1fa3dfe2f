"""The clock port over the machine's own clocks."""

import asyncio
import random
import secrets
import time
from datetime import UTC, datetime
from threading import Lock

from norma.ports.clock import Clock

TAIL_BITS = 74
"""Of the 128 bits of a UUID version 7, those that are neither time nor version."""
LARGEST_STEP = 1 << 32


class SystemClock(Clock):
    """
    Identifiers are UUIDs of version 7 (RFC 9562, method 2): milliseconds, then chance. One made
    later by the same clock sorts later, also within a millisecond and when the time is set back.
    """

    def __init__(self) -> None:
        self._chance = random.Random()
        self._lock = Lock()
        self._last = 0

    def now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))

    def new_id(self) -> str:
        fresh = (time.time_ns() // 1_000_000 << TAIL_BITS) | secrets.randbits(TAIL_BITS)
        with self._lock:
            if fresh >> TAIL_BITS <= self._last >> TAIL_BITS:
                fresh = self._last + 1 + secrets.randbelow(LARGEST_STEP)
            self._last = fresh
        return _uuid(fresh)

    def random(self) -> float:
        return self._chance.random()


def _uuid(number: int) -> str:
    """48 bits of time, version 7, 12 bits, variant 2, 62 bits."""
    time_ms = number >> TAIL_BITS
    high = number >> 62 & 0xFFF
    low = number & (1 << 62) - 1
    digits = f"{time_ms << 80 | 7 << 76 | high << 64 | 2 << 62 | low:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
