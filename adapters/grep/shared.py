"""Work that is done once, and that all who need it wait for together."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from norma.adapters.process.patience import patiently

T = TypeVar("T")


class Shared(Generic[T]):
    """
    The result of one piece of work.

    Who is cancelled leaves it to the others; the last one to leave ends it, and then it can begin anew.
    """

    def __init__(self) -> None:
        self.task: asyncio.Task[T] | None = None
        self.waiting = 0

    @property
    def begun(self) -> bool:
        """Whether it is done, or being done."""
        return self.task is not None

    async def get(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result; *make* begins the work if nobody has."""
        if self.task is None:
            self.task = asyncio.create_task(make())
        task = self.task
        self.waiting += 1
        try:
            return await asyncio.shield(task)
        finally:
            self.waiting -= 1
            if not self.waiting and not task.done():
                await self.aclose()

    async def aclose(self) -> None:
        """End it if it still runs."""
        task = self.task
        if task is not None and not task.done():
            self.task = None
            task.cancel()
            await patiently((task,))
