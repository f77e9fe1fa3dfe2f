"""T7: answers that are recorded while no turn is live, and what may come between."""

import asyncio

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import Session
from norma.domain.model.events import Event, QuestionAsked
from norma.domain.model.questions import Later
from norma.ports.errors import JournalConflict
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    engine,
    outcome,
    read,
    results,
    texts,
)
from tests.domain.engine.journals import SlowJournal

REPLIES = [[call("1", "write"), call("2", "write"), end("tool_use")], [say("done"), end()]]


def writer() -> ScriptedTool:
    return ScriptedTool("write", results=["written"] * 2, effects=WRITES, traits=PARALLEL)


async def waiting(journal: MemoryJournal) -> tuple[Session, list[str]]:
    """A session that waits for two answers, and the ids of its questions."""
    session = await engine(REPLIES, writer(), approver=FixedApprover(Later()), journal=journal).session("s")
    events: list[Event] = await ask(session)
    assert outcome(events) == "waiting"
    return session, [event.id for event in events if isinstance(event, QuestionAsked)]


async def test_T7_an_answer_that_is_cancelled_while_it_is_written_is_recorded() -> None:
    journal = SlowJournal()
    session, (first, second) = await waiting(journal)
    journal.gate = Gate()
    answering = asyncio.ensure_future(session.answer(first, "once"))
    await journal.gate.reached()
    answering.cancel()
    journal.gate.open()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert await session.answer(second, "deny")
    assert outcome(await read(session.proceed())) == "completed"
    assert texts(results(session)) == ["written", "The person denied this call."]
    check_journal(journal, session)


async def test_T7_answers_at_once_are_recorded_one_by_one_and_the_turn_goes_on_after_them() -> None:
    journal = SlowJournal()
    session, (first, second) = await waiting(journal)
    journal.gate = Gate()
    answers = [asyncio.ensure_future(session.answer(id_, "once")) for id_ in (first, second, first)]
    await journal.gate.reached()
    turn = asyncio.ensure_future(read(session.proceed()))
    journal.gate.open()
    assert await asyncio.gather(*answers) == [True, True, False]
    assert outcome(await turn) == "completed"
    assert texts(results(session)) == ["written", "written"]
    check_journal(journal, session)


async def test_T7_an_answer_after_that_of_another_process_is_too_late() -> None:
    """The first try says that another was first; from then on the session knows what the other wrote."""
    journal = MemoryJournal()
    session, (first, second) = await waiting(journal)
    other = await engine([], writer(), journal=journal).session("s")
    assert await other.answer(first, "deny")
    with pytest.raises(JournalConflict):
        await session.answer(first, "once")
    assert await session.answer(first, "once") is False
    assert await session.answer(second, "deny")
    assert outcome(await read(session.proceed())) == "completed"
    assert [result.is_error for result in results(session)] == [True, True]
    check_journal(journal, session)
