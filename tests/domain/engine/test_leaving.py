"""E5: a host that leaves a turn from its own code: cancelled there, past its deadline, or by dropping it."""

import asyncio
import gc
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from norma.adapters.memory.gates import Gate
from norma.domain.engine.session import Session, Turn
from norma.domain.model.events import Event
from norma.domain.model.facts import TurnEnded
from tests.domain.engine.endless import Endless
from tests.domain.engine.hosts import ask, facts, others, outcome, read, until

EVENTS = range(1, 8)
"""How many events the host has seen: from the first delta to the hanging end."""

Body = Callable[[Event], Awaitable[None]]


async def bare(session: Session, body: Body) -> None:
    async for event in session.prompt("hi"):
        await body(event)


async def scoped(session: Session, body: Body) -> None:
    async with session.prompt("hi") as turn:
        async for event in turn:
            await body(event)


async def left_at(
    host: Callable[[Session, Body], Awaitable[None]], events: int
) -> tuple[Endless, Session, "asyncio.Task[None]"]:
    """A host that waits in its own code, having seen so many events, with all that could start started."""
    world, own, seen = Endless(), Gate(), 0
    session = await world.engine.session()

    async def body(event: Event) -> None:
        nonlocal seen
        seen += 1
        if seen == events:
            await own

    async def run() -> None:
        await host(session, body)

    task = asyncio.ensure_future(run())
    await own.reached()
    return world, session, task


@pytest.mark.parametrize("events", EVENTS)
async def test_E5_cancelled_in_the_hosts_own_code_a_bare_turn_ends_soon(events: int) -> None:
    world, session, task = await left_at(bare, events)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    gc.collect()
    await until(lambda: others() == set())
    await world.check_after(session)


@pytest.mark.parametrize("events", EVENTS)
async def test_E5_cancelled_in_the_hosts_own_code_the_next_prompt_waits_for_its_end(
    events: int,
) -> None:
    world, session, task = await left_at(bare, events)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    gc.collect()
    assert outcome(await ask(session, "next")) == "completed"
    assert others() == set()
    ends = [fact.outcome for fact in facts(world.journal, session.id) if isinstance(fact, TurnEnded)]
    assert ends == ["interrupted", "completed"]


@pytest.mark.parametrize("events", EVENTS)
async def test_E5_cancelled_in_the_hosts_own_code_a_scoped_turn_is_awaited(events: int) -> None:
    world, session, task = await left_at(scoped, events)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert others() == set()
    await world.check_after(session)


@pytest.mark.parametrize("host", [bare, scoped])
async def test_E5_a_deadline_of_the_hosts_own_around_a_turn(
    host: Callable[[Session, Body], Awaitable[None]],
) -> None:
    world, deadlines = Endless(), list[asyncio.Timeout]()
    session = await world.engine.session()

    async def body(event: Event) -> None:
        pass

    async def timed() -> None:
        async with asyncio.timeout(None) as deadline:
            deadlines.append(deadline)
            await host(session, body)

    task = asyncio.ensure_future(timed())
    await until(lambda: world.there)
    deadlines[0].reschedule(asyncio.get_running_loop().time())
    with pytest.raises(TimeoutError):
        await task
    assert others() == set()
    await world.check_after(session)


async def wrapped(session: Session) -> AsyncIterator[Event]:
    """As a host wraps a turn to change its events on their way."""
    async for event in session.prompt("hi"):
        yield event


@pytest.mark.parametrize("events", EVENTS)
async def test_E5_a_wrapping_generator_that_is_closed_ends_the_turn(events: int) -> None:
    world, seen = Endless(), 0
    session = await world.engine.session()
    async with aclosing(wrapped(session)) as generator:  # type: ignore[type-var]
        async for _ in generator:
            seen += 1
            if seen == events:
                break
    assert outcome(await ask(session, "next")) == "completed"
    assert others() == set()


@pytest.mark.parametrize("events", EVENTS)
async def test_E5_a_wrapping_generator_that_is_dropped_ends_the_turn(events: int) -> None:
    world, seen = Endless(), 0
    session = await world.engine.session()
    async for _ in wrapped(session):
        seen += 1
        if seen == events:
            break
    gc.collect()
    await until(lambda: others() == set())
    await world.check_after(session)


async def test_E5_a_failure_beside_a_turn_in_a_task_group_ends_it() -> None:
    """Nothing of the turn is in the host's group, so the host sees the group's own cancel and no other."""
    world = Endless()
    session = await world.engine.session()

    async def fails() -> None:
        await until(lambda: world.there)
        raise ZeroDivisionError

    async def host() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            await read(session.prompt("hi"))

    with pytest.raises(ExceptionGroup) as caught:
        await host()
    assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError]
    assert others() == set()
    await world.check_after(session)


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was raised where nobody could catch it."""
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    return raised


async def test_E5_a_turn_dropped_in_another_thread_ends_soon(unraisable: list[Any]) -> None:
    world = Endless()
    session = await world.engine.session()
    kept = [session.prompt("hi")]
    await anext(kept[0])
    await until(lambda: world.there)
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    await until(lambda: others() == set())
    assert unraisable == []
    await world.check_after(session)


def test_E5_a_turn_dropped_after_its_loop_has_ended_says_nothing(unraisable: list[Any]) -> None:
    world, kept = Endless(), list[Turn]()

    async def host() -> str:
        session = await world.engine.session()
        kept.append(session.prompt("hi"))
        await anext(kept[0])
        return session.id

    session = asyncio.run(host())
    kept.clear()
    gc.collect()
    assert unraisable == []
    end = facts(world.journal, session)[-1]
    assert isinstance(end, TurnEnded)
    assert end.outcome == "interrupted"


async def test_E5_a_turn_that_was_never_begun_can_be_dropped_closed_and_left() -> None:
    world = Endless()
    session = await world.engine.session()
    session.prompt("hi")
    await session.prompt("hi").aclose()
    async with session.prompt("hi"):
        pass
    assert others() == set()
    assert await world.journal.sessions() == ()
