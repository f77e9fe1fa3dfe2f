"""
Tasks, as far as the checks need them.

The kits know no event loop. Whoever runs them says how work is started and waited for
(`norma.ports.contracts.pytest` does for asyncio).
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

BOUND_S = 10.0
"""How long a check waits for anything, in seconds, before it says that it did not come."""


class DoesNotApply(Exception):
    """The rig has no such situation; the message says which one."""


class Task(Protocol[T_co]):
    """Work that was started; an asyncio task is one."""

    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def cancel(self) -> bool: ...
    def result(self) -> T_co: ...
    def exception(self) -> BaseException | None: ...


class Tasks(Protocol):
    """An event loop, for checks."""

    @abstractmethod
    def start(self, work: Coroutine[Any, Any, T]) -> Task[T]:
        """Run *work* beside the caller. Nothing of it has run when this returns."""

    @abstractmethod
    async def turn(self) -> None:
        """Let the loop go round once."""

    @abstractmethod
    async def pause(self) -> None:
        """Let a few milliseconds pass, for what comes from other threads and processes."""

    @abstractmethod
    async def wait(self, task: Task[Any], seconds: float) -> bool:
        """Wait until *task* is done, for *seconds* at most; whether it is. Its error is not raised."""

    @abstractmethod
    def time(self) -> float:
        """Seconds since some moment."""


CURRENT: ContextVar[Tasks] = ContextVar("norma.ports.contracts.tasks")
"""Set by whoever runs a check."""


def start(work: Coroutine[Any, Any, T]) -> Task[T]:
    """Run *work* beside the check."""
    return CURRENT.get().start(work)


async def turn(times: int = 1) -> None:
    """Let the loop go round that often."""
    for _ in range(times):
        await CURRENT.get().turn()


async def until(condition: Callable[[], bool], promise: str, seconds: float = BOUND_S) -> None:
    """Return as soon as *condition* holds; if that takes longer than *seconds*, *promise* is broken."""
    tasks = CURRENT.get()
    deadline = tasks.time() + seconds
    while not condition():
        assert tasks.time() < deadline, f"{promise} (waited {seconds} s)"
        await tasks.pause()


async def ended(task: Task[Any], promise: str, seconds: float = BOUND_S) -> None:
    """Wait for the end of *task*, however it ends."""
    assert await CURRENT.get().wait(task, seconds), f"{promise} (waited {seconds} s)"


async def within(work: Coroutine[Any, Any, T], promise: str, seconds: float = BOUND_S) -> T:
    """The result of *work*, which must be there in *seconds*."""
    task = start(work)
    if not await CURRENT.get().wait(task, seconds):
        task.cancel()
        raise AssertionError(f"{promise} (waited {seconds} s)")
    return task.result()


async def cancel(task: Task[Any], promise: str) -> None:
    """Cancel *task* and see that the cancellation passed through."""
    task.cancel()
    await ended(task, f"{promise}: cancelled, it does not end")
    assert task.cancelled(), f"{promise}: cancelled, it ended in another way"


async def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...], work: Awaitable[Any], promise: str
) -> Any:
    """The error of *work*, which must be of *kind*."""
    try:
        got = await work
    except kind as error:
        return error
    raise AssertionError(f"{promise}: nothing was raised, got {got!r}")
