"""T6, T7, E12: what is said to a turn that is going on, or just ending, is taken or refused, never lost."""

import asyncio

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import NoTurn, Session
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Limits, TurnEnded
from norma.domain.model.questions import Answer, Later
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    check_journal,
    engine,
    facts,
    outcome,
    read,
    results,
    texts,
    turns,
    until,
)
from tests.domain.engine.journals import SlowJournal

REPLIES = [[call("c", "write"), end("tool_use")], [say("done"), end()]]
QUESTION = "s:1.0"


def ended(journal: MemoryJournal) -> bool:
    return any(isinstance(fact, TurnEnded) for fact in facts(journal, "s"))


async def test_T6_an_answer_to_a_question_that_is_settled_says_so() -> None:
    """The call runs by now: "deny" comes too late, and the host must know."""
    tool = ScriptedTool("write", results=[Gate()], effects=WRITES, traits=PARALLEL)
    approver = FixedApprover(Answer("once"))
    session = await engine(REPLIES, tool, approver=approver).session("s")
    task = asyncio.ensure_future(read(session.prompt("hi")))
    await tool.started()
    assert approver.questions[0].id == QUESTION
    assert await session.answer(QUESTION, "deny") is False
    assert tool.running == 1
    session.interrupt()
    assert outcome(await task) == "interrupted"


@pytest.mark.parametrize("journal", [MemoryJournal, SlowJournal])
async def test_T6_of_two_answers_at_once_the_second_is_too_late(journal: type[MemoryJournal]) -> None:
    for passes in range(8):
        tool = ScriptedTool("write", results=["written"], effects=WRITES, traits=PARALLEL)
        approver = FixedApprover(Forever())
        session = await engine(REPLIES, tool, approver=approver, journal=journal()).session("s")
        task = asyncio.ensure_future(read(session.prompt("hi")))
        await approver.asked()
        assert await session.answer(QUESTION, "once") is True
        await turns(passes)
        assert await session.answer(QUESTION, "deny") is False
        assert outcome(await task) == "completed"
        assert texts(results(session)) == ["written"]


async def going_to_wait(journal: MemoryJournal) -> tuple[Session, "asyncio.Task[object]"]:
    """A turn with a deadline, about to end as waiting."""
    tool = ScriptedTool("write", results=["written"], effects=WRITES, traits=PARALLEL)
    session = await engine(REPLIES, tool, approver=FixedApprover(Later()), journal=journal).session("s")
    return session, asyncio.ensure_future(read(session.prompt("hi", limits=Limits(timeout_s=60))))


@pytest.mark.parametrize("journal", [MemoryJournal, SlowJournal])
async def test_T7_an_answer_at_any_pass_around_the_end_of_the_turn_is_kept(
    journal: type[MemoryJournal],
) -> None:
    """Taken by the live turn, or written down for the next; what was said to be taken has its effect."""
    taken = 0
    for passes in range(40):
        session, task = await going_to_wait(journal())
        await turns(passes)
        if await session.answer(QUESTION, "once"):
            taken += 1
            await task
            await read(session.proceed())
            assert texts(results(session)) == ["written"], f"answered at pass {passes}"
        session.interrupt()
        await task
    assert taken > 20


@pytest.mark.parametrize("journal", [MemoryJournal, SlowJournal])
async def test_E12_what_is_said_at_any_pass_around_the_end_of_the_turn_is_kept(
    journal: type[MemoryJournal],
) -> None:
    said = 0
    for passes in range(40):
        model = ScriptedModel(lambda request: [say("ok"), end()])
        session = await engine(model, journal=journal()).session("s")
        task = asyncio.ensure_future(read(session.prompt("hi", limits=Limits(timeout_s=60))))
        await turns(passes)
        try:
            session.steer("more")
        except NoTurn:
            pass
        else:
            said += 1
            await task
            await read(session.prompt("next"))
            told = [
                block for message in session.messages for block in message.blocks if message.role == "user"
            ]
            assert Text("more") in told, f"said at pass {passes}"
        await task
    assert said > 3


async def test_T7_an_answer_while_the_turns_end_is_written_down() -> None:
    journal = SlowJournal()
    session, task = await going_to_wait(journal)
    await until(lambda: len(session.open_calls) == 1)
    journal.gate = Gate()
    await journal.gate.reached()
    answering = asyncio.ensure_future(session.answer(QUESTION, "once"))
    await turns(5)
    journal.gate.open()
    assert await answering
    await task
    assert outcome(await read(session.proceed())) == "completed"
    assert texts(results(session)) == ["written"]
    assert ended(journal)
    check_journal(journal, session)


async def test_one_turn_has_one_reader() -> None:
    model = ScriptedModel([[Forever()]])
    session = await engine(model).session()
    turn = session.prompt("hi")
    first = asyncio.ensure_future(anext(turn))
    await model.asked()
    with pytest.raises(RuntimeError, match="another task"):
        await anext(turn)
    session.interrupt()
    assert outcome([await first]) == "interrupted"
