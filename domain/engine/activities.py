"""
Activities: the tasks that wait in the driver's place.

Each is a coroutine that returns one fact, or None for none. The fact is posted when the task is
done, by a callback, since a task that is cancelled before its first step never runs a line of
its own: for that case a fact is given beforehand.

Not a TaskGroup, because one tool that ignores its cancel would hold a group for ever; here it gets a
grace period, is then kept by the session as a straggler, and the turn ends.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from norma.domain.model.facts import Fact


def told_to_end() -> bool:
    """
    Whether the task that asks was cancelled.

    A CancelledError without it is a fault of what was awaited, not a wish of ours.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Activities:
    """Owns tasks by name; two of one name can't be at work at once."""

    def __init__(self, post: Callable[[Fact], None], broken: Callable[[BaseException], None]) -> None:
        self._post = post
        self._broken = broken
        self._tasks: dict[str, asyncio.Task[Fact | None]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, Fact | None], otherwise: Fact | None = None) -> None:
        """Begin *work*; *otherwise* is its fact if it is cancelled before it can return one."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._ended(name, done, otherwise))

    def cancel(self, name: str) -> None:
        """Cancel the activity of that name, if there is one; its fact still comes."""
        task = self._tasks.get(name)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Cancel all and wait for their end. Each activity promises that it does end."""
        for task in self._tasks.values():
            task.cancel()
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    def _ended(self, name: str, task: asyncio.Task[Fact | None], otherwise: Fact | None) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if task.cancelled():
            fact = otherwise
        elif (error := task.exception()) is not None:
            self._broken(error)
            return
        else:
            fact = task.result()
        if fact is not None:
            self._post(fact)
