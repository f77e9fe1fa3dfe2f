"""The clock port: time, waiting, identifiers and chance, so that tests decide all four."""

from abc import abstractmethod
from typing import Protocol


class Clock(Protocol):
    """Where a process gets what differs from run to run."""

    @abstractmethod
    def now(self) -> str:
        """The time of day in UTC, ISO 8601 with milliseconds and `Z`."""

    @abstractmethod
    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Return after *seconds* (0 or less: after one pass of the loop). Cancellation passes through."""

    @abstractmethod
    def new_id(self) -> str:
        """An identifier that nobody else has: sortable by time, letters, digits and `-` only."""

    @abstractmethod
    def random(self) -> float:
        """A number from 0 up to but not including 1."""
