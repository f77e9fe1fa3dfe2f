"""
The outbox: events on their way from the driver to the host.

One reader, the host. The model's reader waits for room before it goes on; facts never wait, so
tools end and are journalled while the host shows a dialog.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from norma.domain.model.events import Event

HIGH_MARK = 256
"""So many events may wait before the model's reader is held back, and progress is dropped."""


@frozen
class Passed:
    """Not an event: called when the host comes for what follows it."""

    then: Callable[[], None]


Item: TypeAlias = "Event | Passed"


class Outbox:
    """A bounded hand-over between one task that reads and others that write."""

    __slots__ = ("_closed", "_items", "_reader", "_writer")

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._closed = False

    @property
    def full(self) -> bool:
        """Whether a writer that can wait should (see `room`)."""
        return len(self._items) >= HIGH_MARK

    def put(self, item: Item) -> None:
        """Add an event; never waits. After `close` it is dropped."""
        if self._closed:
            return
        self._items.append(item)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def room(self) -> None:
        """Wait until the reader has made room. For one writer."""
        while self.full and not self._closed:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await self._writer
            finally:
                self._writer = None

    def get_nowait(self) -> Event | None:
        """The next event, in order; None if none waits. Raises RuntimeError if another task reads."""
        if self._reader is not None:
            raise RuntimeError("another task waits for the next event of this turn; a turn has one reader")
        items = self._items
        while items:
            item = items.popleft()
            if self._writer is not None and not self.full and not self._writer.done():
                self._writer.set_result(None)
            if not isinstance(item, Passed):
                return item
            item.then()
        return None

    async def get(self) -> Event | None:
        """The next event, in order; None after the last one. Raises RuntimeError if another task reads."""
        while True:
            event = self.get_nowait()
            if event is not None or self._closed:
                return event
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    def close(self) -> None:
        """No more events will come; those that wait can still be read."""
        self._closed = True
        for waiter in (self._reader, self._writer):
            if waiter is not None and not waiter.done():
                waiter.set_result(None)

    def discard(self) -> None:
        """Nobody reads any more: drop what waits and what will come."""
        self.close()
        self._items.clear()
