"""
Run the kits under pytest and asyncio.

    from norma.ports.contracts import journal
    from norma.ports.contracts.pytest import contract

    @asynccontextmanager
    async def my_journal(folder: str) -> AsyncIterator[JournalRig]:
        ...

    test_my_journal = contract(journal.CHECKS, my_journal)

A rig is made anew for each check, in an event loop of its own, with an empty folder to use. When it
is closed again no task may be left, and nothing may have been reported to the loop.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import PurePath
from typing import Any, TypeAlias, TypeVar

import pytest

from norma.ports.contracts.tasks import CURRENT, DoesNotApply, Task, Tasks

R = TypeVar("R")
T = TypeVar("T")

Check: TypeAlias = Callable[[R], Awaitable[None]]
MakeRig: TypeAlias = Callable[[str], AbstractAsyncContextManager[R]]


def contract(checks: Iterable[Check[R]], *rigs: MakeRig[R]) -> Callable[..., None]:
    """A test for each of *checks* with each of *rigs*; give it a name that begins with `test_`."""
    rows = [pytest.param(check, rig, id=f"{_name(rig)}-{_name(check)}") for rig in rigs for check in checks]

    @pytest.mark.parametrize(("check", "rig"), rows)
    def test(check: Check[R], rig: MakeRig[R], tmp_path: PurePath) -> None:
        try:
            run_check(check, rig, str(tmp_path))
        except DoesNotApply as reason:
            pytest.skip(str(reason))

    return test


def run_check(check: Check[R], rig: MakeRig[R], folder: str) -> None:
    """
    Run one check over a fresh rig.

    Raises AssertionError for a broken promise, DoesNotApply, and whatever else the adapter raises.
    """
    reported: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(_shown(context)))
        CURRENT.set(AsyncioTasks())
        before = asyncio.all_tasks()
        async with rig(folder) as made:
            await check(made)
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - before
        assert not left, f"nothing is left behind: these tasks are {left}"
        gc.collect()  # an error that nobody asked for is reported when its task is dropped
        await asyncio.sleep(0)

    asyncio.run(run())
    assert not reported, f"nothing goes wrong unseen: {'; '.join(reported)}"


def broken_promise(check: Check[R], rig: MakeRig[R], folder: str) -> str | None:
    """What *check* says of the adapter, None if it is content."""
    try:
        run_check(check, rig, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
    return None


class AsyncioTasks(Tasks):
    """Tasks of the running asyncio loop."""

    def start(self, work: Coroutine[Any, Any, T]) -> Task[T]:
        return asyncio.get_running_loop().create_task(work)

    async def turn(self) -> None:
        await asyncio.sleep(0)

    async def pause(self) -> None:
        await asyncio.sleep(0.002)

    async def wait(self, task: Task[Any], seconds: float) -> bool:
        assert isinstance(task, asyncio.Future)
        done, _ = await asyncio.wait([task], timeout=seconds)
        return bool(done)

    def time(self) -> float:
        return asyncio.get_running_loop().time()


def _name(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__)).removeprefix("check_")


def _shown(context: dict[str, Any]) -> str:
    error = context.get("exception")
    return f"{context['message']}: {error!r}" if error is not None else str(context["message"])
