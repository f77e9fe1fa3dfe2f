"""E5: ending a turn early, in every way and at every await. The scenarios never end by themselves."""

import asyncio
import gc

import pytest

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import Session, Turn
from norma.domain.model.facts import ToolEnded, ToolStarted, TurnEnded
from norma.ports.tool import ToolRun
from tests.domain.engine.endless import BOUND_S, Endless, bare, everywhere, passes_of, scoped
from tests.domain.engine.hosts import (
    ask,
    check_journal,
    engine,
    facts,
    others,
    outcome,
    read,
    results,
    texts,
    turns,
    until,
)
from tests.domain.engine.journals import SlowJournal

JOURNALS = pytest.mark.parametrize("journal", [MemoryJournal, SlowJournal])


@JOURNALS
async def test_E5_cancelled_at_every_await_under_async_with(journal: type[MemoryJournal]) -> None:
    await everywhere(scoped, journal, lambda task, session: task.cancel())


@JOURNALS
async def test_E5_cancelled_at_every_await_inside_the_iterator(journal: type[MemoryJournal]) -> None:
    await everywhere(bare, journal, lambda task, session: task.cancel())


@JOURNALS
async def test_E5_cancelled_twice_at_every_await_leaves_at_once(journal: type[MemoryJournal]) -> None:
    for number in range(await passes_of(bare, journal)):
        world = Endless(journal())
        session = await world.engine.session()
        task = bare(world, session)
        await turns(number)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,), timeout=BOUND_S)
        assert task.done()
        await turns(20)
        assert others() == set()
        assert world.slow.running == 0
        answering = ScriptedModel([[say("yes"), end()]])
        again = await engine(answering, journal=world.journal).session(session.id)
        assert outcome(await ask(again, "next")) == "completed"
        check_journal(world.journal, again)


async def test_E5_cancelled_twice_the_next_prompt_waits_for_the_end() -> None:
    for number in range(await passes_of(bare)):
        world = Endless()
        session = await world.engine.session()
        task = bare(world, session)
        await turns(number)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,), timeout=BOUND_S)
        assert outcome(await ask(session, "next")) == "completed"
        assert others() == set()
        check_journal(world.journal, session)


@JOURNALS
async def test_E5_the_loops_end_at_every_await_is_written_down(journal: type[MemoryJournal]) -> None:
    """At its end a loop cancels every task there is, each of the turn's own ones, too."""
    for number in range(await passes_of(bare, journal)):
        world = Endless(journal())
        session = await world.engine.session()
        bare(world, session)
        await turns(number)
        tasks = others()
        for task in tasks:
            task.cancel()
        _, left = await asyncio.wait(tasks, timeout=BOUND_S)
        assert left == set()
        await until(lambda: others() == set())
        recorded = facts(world.journal, session.id)
        assert [fact.outcome for fact in recorded if isinstance(fact, TurnEnded)] == [
            "interrupted"
        ] or number < 3
        await world.check_after(session)


@JOURNALS
async def test_E5_interrupted_at_every_await_the_events_go_on_to_the_end(
    journal: type[MemoryJournal],
) -> None:
    for number in range(2, await passes_of(bare, journal)):
        world = Endless(journal())
        session = await world.engine.session()
        task = asyncio.ensure_future(read(session.prompt("hi")))
        await turns(number)
        session.interrupt()
        events = await asyncio.wait_for(task, BOUND_S)
        assert outcome(events) == "interrupted"
        started = {event.key for event in events if isinstance(event, ToolStarted)}
        ended = {event.key for event in events if isinstance(event, ToolEnded)}
        assert started <= ended
        assert others() == set()
        await world.check_after(session)


async def test_E5_a_turn_that_is_dropped_after_each_event_ends_soon() -> None:
    for events in range(1, 7):
        world = Endless()
        session = await world.engine.session()
        seen = 0
        async for _ in session.prompt("hi"):
            seen += 1
            if seen == events:
                break
        gc.collect()
        assert outcome(await ask(session, "next")) == "completed"
        assert others() == set()
        check_journal(world.journal, session)


async def test_E5_an_exception_in_the_hosts_body_ends_the_turn() -> None:
    world = Endless()
    session = await world.engine.session()

    async def host() -> None:
        async with session.prompt("hi") as turn:
            async for _ in turn:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await host()
    assert others() == set()
    await world.check_after(session)


async def test_E5_a_kept_turn_is_ended_by_aclose_and_only_by_it() -> None:
    world = Endless()
    session = await world.engine.session()
    turn = session.prompt("hi")
    await anext(turn)
    await turn.aclose()
    await turn.aclose()
    assert [event async for event in turn] == []
    assert others() == set()
    await world.check_after(session)


async def test_E5_closing_the_session_ends_its_turn() -> None:
    world = Endless()
    session = await world.engine.session()
    task = bare(world, session)
    await until(lambda: world.there)
    await session.aclose()
    assert outcome(await task) == "interrupted"
    assert others() == set()
    await world.check_after(session)


def test_E5_leaving_the_loop_with_a_live_turn_journals_its_end() -> None:
    world = Endless()

    async def host() -> tuple[Session, Turn]:
        session = await world.engine.session()
        turn = session.prompt("hi")
        await anext(turn)
        return session, turn

    session, _kept = asyncio.run(host())
    end = facts(world.journal, session.id)[-1]
    assert isinstance(end, TurnEnded)
    assert end.outcome == "interrupted"
    assert world.slow.running == 0
    assert world.model.open == 0


async def test_E5_a_tool_that_ignores_its_cancel_gets_a_grace_period_and_is_then_left() -> None:
    stubborn = asyncio.Event()

    async def behaviour(run: ToolRun) -> str:
        while not stubborn.is_set():
            try:
                await stubborn.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    tool = ScriptedTool("look", behaviour=behaviour)
    session = await engine([[call("c", "look"), end("tool_use")], [say("x"), end()]], tool).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if isinstance(event, ToolStarted):
            await tool.started()
            session.interrupt()
    assert outcome(events) == "interrupted"
    assert "outcome is unknown" in texts(results(session))[0]
    assert any("ignores its cancel" in getattr(event, "text", "") for event in events)
    stubborn.set()
    await session.aclose()
    assert others() == set()


async def test_E5_a_result_that_comes_in_the_grace_period_counts() -> None:
    async def behaviour(run: ToolRun) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "cleaned up"
        return "never"

    tool = ScriptedTool("look", behaviour=behaviour)
    session = await engine([[call("c", "look"), end("tool_use")]], tool).session()
    async for event in session.prompt("hi"):
        if isinstance(event, ToolStarted):
            await tool.started()
            session.interrupt()
    assert texts(results(session)) == ["cleaned up"]


async def test_E5_backpressure_and_an_interrupt_together() -> None:
    model = ScriptedModel([[say("x" * 2000, pieces=2000), Forever()]])
    session = await engine(model).session()
    turn = session.prompt("hi")
    await anext(turn)
    await turns(50)
    session.interrupt()
    assert outcome(await read(turn)) == "interrupted"
    assert others() == set()
