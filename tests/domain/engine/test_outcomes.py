"""E8, E9, S2: how a turn ends when the model, its limits or the journal end it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.turn import fold
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Limits, ReplyCut, TurnEnded
from norma.domain.model.failures import Failure
from norma.domain.model.usage import Usage
from norma.ports.errors import JournalConflict, JournalFailed, ModelError
from tests.domain.engine.hosts import (
    PARALLEL,
    ask,
    check_journal,
    check_pairs,
    engine,
    facts,
    last,
    outcome,
    read,
    results,
    until,
)


async def test_E6_an_interrupt_after_the_models_failure_ends_the_tool_and_not_the_outcome() -> None:
    tool, failure = ScriptedTool("look", results=[Forever()]), ModelError(Failure("server", "broken", "http"))
    broken = Gate()
    journal = MemoryJournal()
    session = await engine([[say("so"), call("c", "look"), broken]], tool, journal=journal).session()
    task = asyncio.ensure_future(ask(session))
    await tool.started()
    broken.open(failure)
    await until(lambda: any(isinstance(fact, ReplyCut) for fact in facts(journal, session.id)))
    session.interrupt()
    assert last(await task).outcome == "model_failed"
    assert last(await task).exception is failure
    assert tool.running == 0
    check_pairs(session.messages)


async def test_E8_an_adapter_that_breaks_is_an_outcome_not_an_exception() -> None:
    session = await engine([[say("a"), ZeroDivisionError("oops")]]).session()
    events = await ask(session)
    error = last(events).error
    assert outcome(events) == "model_failed"
    assert error is not None
    assert error.kind == "internal"
    assert "oops" in error.message


async def test_E8_context_overflow_has_its_own_outcome() -> None:
    session = await engine([[ModelError(Failure("context_overflow", "too long", "http", 400))]]).session()
    assert outcome(await ask(session)) == "context_overflow"


async def test_E8_max_turns_counts_model_calls() -> None:
    tool = ScriptedTool("look", results=["1", "2", "3"])
    session = await engine([[call("c", "look"), end("tool_use")]] * 3, tool).session()
    events = await read(session.prompt("hi", limits=Limits(max_turns=2)))
    assert outcome(events) == "max_turns"
    assert last(events).turns == 2
    assert len(results(session)) == 2


async def test_E8_the_deadline_of_a_turn_cuts_model_and_tools() -> None:
    clock, tool = ManualClock(), ScriptedTool("look", results=[Forever()], traits=PARALLEL)
    model = ScriptedModel([[say("so"), call("c", "look"), Forever()]])
    session = await engine(model, tool, clock=clock, tool_timeout_s=None).session()

    async def pass_time() -> None:
        await tool.started()
        clock.advance(3)

    async with asyncio.TaskGroup() as group:
        group.create_task(pass_time())
        events = await read(session.prompt("hi", limits=Limits(timeout_s=3)))
    assert outcome(events) == "timeout"
    assert model.open == 0
    assert tool.running == 0
    check_pairs(session.messages)


async def test_E8_each_outcome_carries_text_usage_turns_and_session() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, provenance="reported")
    tool = ScriptedTool("look", results=["x"])
    replies = [[call("c", "look"), end("tool_use", usage=usage)], [say("answer"), end(usage=usage)]]
    session = await engine(replies, tool).session()
    end_ = last(await ask(session))
    assert end_ == TurnEnded(
        "completed", session.id, "answer", Usage(input_tokens=20, output_tokens=10, provenance="reported"), 2
    )
    assert session.usage == end_.usage


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (JournalFailed(Failure("journal", "the disk is full")), "journal_failed"),
        (JournalConflict(Failure("conflict", "another process wrote")), "conflict"),
    ],
)
async def test_E8_a_journal_that_fails_stops_the_turn_before_any_effect(
    error: JournalFailed | JournalConflict, expected: str
) -> None:
    journal, held = MemoryJournal(), Gate()
    tool = ScriptedTool("look", results=["x"])
    model = ScriptedModel([[say("so"), held, call("c", "look"), end("tool_use")]])
    session = await engine(model, tool, journal=journal).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if len(events) == 1:
            await held.reached()
            journal.fail_next(error)
            held.open()
    assert outcome(events) == expected
    assert last(events).exception is error
    assert tool.runs == []
    assert model.open == 0
    assert session.messages == fold(facts(journal, session.id)).history


async def test_E8_after_a_conflict_the_session_is_read_anew() -> None:
    journal = MemoryJournal()
    model = ScriptedModel([[say("one"), end()], [say("two"), end()], [say("three"), end()]])
    mine = await engine(model, journal=journal).session("shared")
    await ask(mine, "a")
    other = await engine(model, journal=journal).session("shared")
    await ask(other, "b")
    assert outcome(await ask(mine, "c")) == "conflict"
    assert outcome(await ask(mine, "d")) == "completed"
    assert [m.blocks for m in mine.messages if m.role == "user"] == [(Text("a"),), (Text("b"),), (Text("d"),)]
    check_journal(journal, mine)


async def test_S2_a_session_that_cannot_be_read_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    """An entry in the middle can't be decoded: nothing is made up or written, and other sessions go on."""
    path = str(tmp_path / "journal.db")
    async with journal_at(path) as journal:
        session = await engine([[say("one"), end()], [say("two"), end()]], journal=journal).session("torn")
        await ask(session, "a")
        await ask(session, "b")
        await ask(await engine([[say("x"), end()]], journal=journal).session("whole"))
    with behind(path) as stored:
        stored.execute("UPDATE entries SET facts = '[{}]' WHERE session = 'torn' AND version = 2")
        before = stored.execute("SELECT * FROM entries ORDER BY session, version").fetchall()
    async with journal_at(path) as journal:
        model = ScriptedModel([[say("y"), end()]])
        made = engine(model, journal=journal)
        with pytest.raises(JournalFailed, match=r"torn.* 2\b"):
            await made.session("torn")
        assert model.requests == []
        assert outcome(await ask(await made.session("whole"))) == "completed"
    with behind(path) as stored:
        after = stored.execute("SELECT * FROM entries ORDER BY session, version").fetchall()
    assert [row for row in after if "torn" in row] == [row for row in before if "torn" in row]


async def test_S2_a_session_that_cannot_be_read_anew_begins_no_turn(tmp_path: Path) -> None:
    """After a conflict the session is read anew; where that fails, the host is told at the first event."""
    path = str(tmp_path / "journal.db")
    async with journal_at(path) as journal:
        model = ScriptedModel([[say("one"), end()], [say("two"), end()]])
        mine = await engine(model, journal=journal).session("s")
        await ask(mine, "a")
        await ask(await engine(model, journal=journal).session("s"), "b")
        assert outcome(await ask(mine, "c")) == "conflict"
        with behind(path) as stored:
            stored.execute("UPDATE entries SET facts = '[{}]' WHERE version = 2")
            count = stored.execute("SELECT count(*) FROM entries").fetchone()
        with pytest.raises(JournalFailed):
            await ask(mine, "d")
        with behind(path) as stored:
            assert stored.execute("SELECT count(*) FROM entries").fetchone() == count
    assert len(model.requests) == 2


@asynccontextmanager
async def journal_at(path: str) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(path, clock=ManualClock())
    try:
        yield journal
    finally:
        await journal.aclose()


@contextmanager
def behind(path: str) -> Iterator[sqlite3.Connection]:
    """The database, behind the back of every journal."""
    connection = sqlite3.connect(path)
    try:
        with connection:
            yield connection
    finally:
        connection.close()
