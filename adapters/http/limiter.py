"""A bound on how often a provider is asked (contract M4)."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from norma.ports.clock import Clock


class Limiter(Protocol):
    """Taken once by each logical request before it starts; its retries are free."""

    @abstractmethod
    async def acquire(self) -> None:
        """Wait for a turn. One that is cancelled while it waits has taken none."""


class RateLimiter(Limiter):
    """
    Token buckets, shared by all callers of one provider object, first come, first served.

    At most *per_second* on average with bursts of *burst* (default: one second's worth), and at most
    *per_minute*. *on_wait* is told how many seconds a caller is about to wait.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        per_second: float | None = None,
        per_minute: float | None = None,
        burst: float | None = None,
        on_wait: Callable[[float], None] | None = None,
    ) -> None:
        self._clock = clock
        self._on_wait = on_wait
        self._buckets: list[_Bucket] = []
        if per_second is not None:
            self._buckets.append(_Bucket(per_second, max(1.0, burst or per_second), clock.monotonic()))
        if per_minute is not None:
            self._buckets.append(_Bucket(per_minute / 60, max(1.0, per_minute), clock.monotonic()))

    async def acquire(self) -> None:
        now = self._clock.monotonic()
        wait = max((bucket.take(now) for bucket in self._buckets), default=0.0)
        if wait <= 0:
            return
        if self._on_wait is not None:
            self._on_wait(wait)
        try:
            await self._clock.sleep(wait)
        except BaseException:
            for bucket in self._buckets:
                bucket.give_back()
            raise


class _Bucket:
    """Tokens that come back with time. The balance may be negative: those tokens are reserved."""

    def __init__(self, rate: float, size: float, now: float) -> None:
        if not rate > 0:
            raise ValueError(f"a rate of {rate} would never let a request through; it must be more than 0")
        self._rate = rate
        self._size = size
        self._tokens = size
        self._filled_at = now

    def take(self, now: float) -> float:
        """Reserve a token; the seconds until it is there."""
        self._tokens = min(self._size, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        self._tokens += 1
