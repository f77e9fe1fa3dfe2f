"""T1, T5, T6: what a running tool turns out to need is judged and asked about like a call."""

import asyncio

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Forever
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import Session
from norma.domain.model.actions import Action, Effects
from norma.domain.model.events import Event, QuestionAsked
from norma.domain.model.facts import Answered, PermitAsked, ToolStarted
from norma.domain.model.questions import Answer, Later
from norma.domain.policy.policy import ScopeRules
from norma.ports.approver import Approver
from norma.ports.errors import Refused
from norma.ports.tool import ToolRun
from tests.domain.engine.hosts import (
    PARALLEL,
    ask,
    check_journal,
    engine,
    facts,
    outcome,
    read,
    results,
    texts,
    until,
)
from tests.domain.engine.test_tool_sources import Shelf

HOP = Action("Hop", Effects(network=True), "GET https://other.example/", "Hop")
REPLIES = [[call("c", "fetch"), end("tool_use")], [say("done"), end()]]


def hopper(hops: int = 1) -> ScriptedTool:
    """A tool that asks before each of its further steps, and says how many it made."""

    async def behaviour(run: ToolRun) -> str:
        for number in range(hops):
            try:
                await run.permit(HOP)
            except Refused as refused:
                return f"{number} hops, then: {refused}"
        return f"{hops} hops"

    return ScriptedTool("fetch", behaviour=behaviour, traits=PARALLEL)


async def turned(
    approver: Approver | None, tool: ScriptedTool, rules: tuple[ScopeRules, ...] = ()
) -> tuple[Session, list[Event], MemoryJournal]:
    journal = MemoryJournal()
    session = await engine(REPLIES, tool, approver=approver, rules=rules, journal=journal).session()
    events = await ask(session)
    check_journal(journal, session)
    return session, events, journal


async def test_T1_an_allowed_step_is_not_asked_about() -> None:
    approver = FixedApprover([])
    session, events, _ = await turned(approver, hopper(3), (ScopeRules("user", allow=("Hop",)),))
    assert texts(results(session)) == ["3 hops"]
    assert outcome(events) == "completed"


async def test_T1_a_denied_step_is_refused_without_a_question() -> None:
    approver = FixedApprover([])
    session, _, _ = await turned(approver, hopper(), (ScopeRules("user", deny=("Hop",)),))
    assert texts(results(session))[0].startswith("0 hops, then:")


async def test_T5_each_step_is_its_own_question_unless_it_is_granted_for_the_session() -> None:
    once = FixedApprover([Answer("once"), Answer("once"), Answer("deny", "enough")])
    session, _, journal = await turned(once, hopper(3))
    assert texts(results(session))[0].startswith("2 hops, then: The person denied it")
    assert "enough" in texts(results(session))[0]
    assert len({question.id for question in once.questions}) == 3
    recorded = facts(journal, session.id)
    assert sum(isinstance(fact, PermitAsked) for fact in recorded) == 3
    assert sum(isinstance(fact, Answered) for fact in recorded) == 3
    granted = FixedApprover([Answer("session")])
    session, _, _ = await turned(granted, hopper(3))
    assert texts(results(session)) == ["3 hops"]


async def test_T6_nobody_now_is_no() -> None:
    session, _, _ = await turned(FixedApprover(Later()), hopper())
    assert "Hop would allow it" in texts(results(session))[0]
    session, _, _ = await turned(None, hopper())
    assert "Hop would allow it" in texts(results(session))[0]


async def test_T7_a_host_answers_it_by_id() -> None:
    tool = hopper()
    session = await engine(REPLIES, tool).session()
    async for event in session.prompt("hi"):
        if isinstance(event, QuestionAsked):
            assert event.text == HOP.shows
            assert await session.answer(event.id, "once")
    assert texts(results(session)) == ["1 hops"]


async def test_T6_stop_ends_the_turn_and_the_tool() -> None:
    tool = hopper()
    _, events, _ = await turned(FixedApprover(Answer("stop")), tool)
    assert outcome(events) == "interrupted"
    assert tool.running == 0


async def test_T6_an_interrupt_withdraws_the_question() -> None:
    approver, tool = FixedApprover(Forever()), hopper()
    session = await engine(REPLIES, tool, approver=approver).session()
    task = asyncio.ensure_future(ask(session))
    await approver.asked()
    session.interrupt()
    events = await task
    (asked,) = [event for event in events if isinstance(event, QuestionAsked)]
    assert outcome(events) == "interrupted"
    assert len(approver.withdrawn) == 1
    assert await session.answer(asked.id, "once") is False


async def test_E7_a_process_that_dies_while_a_tool_asks() -> None:
    approver, journal = FixedApprover(Forever()), MemoryJournal()
    session = await engine(REPLIES, hopper(), approver=approver, journal=journal).session("s")
    task = asyncio.ensure_future(ask(session))
    await approver.asked()
    survivor = journal.copy()
    journal.freeze()
    again = FixedApprover(Answer("once"))
    resumed = await engine(REPLIES[1:], hopper(), approver=again, journal=survivor).session("s")
    events = [event async for event in resumed.proceed()]
    assert outcome(events) == "completed"
    assert sum(isinstance(event, ToolStarted) for event in events) == 1
    assert texts(results(resumed)) == ["1 hops"]
    check_journal(survivor, resumed)
    task.cancel()
    await asyncio.wait((task,))
    await session.aclose()


async def test_T1_a_further_step_of_a_tool_that_has_gone_is_refused() -> None:
    said: list[BaseException] = []

    async def behaviour(run: ToolRun) -> str:
        shelf.now = ()
        try:
            await run.permit(HOP)
        except Exception as error:
            said.append(error)
        return "so it ends"

    shelf = Shelf(ScriptedTool("fetch", behaviour=behaviour))
    session = await engine(REPLIES, sources=(shelf,), approver=FixedApprover(Answer("once"))).session()
    assert outcome(await ask(session)) == "completed"
    assert [type(error) for error in said] == [Refused]
    assert "no tool 'fetch'" in str(said[0])


async def test_T6_a_late_answer_to_a_dead_process_permits_nothing_in_the_next() -> None:
    """What the tool asks for after a resume is another thing, so it is another question."""
    targets = ["first", "second"]
    went: list[str] = []

    async def behaviour(run: ToolRun) -> str:
        target = targets.pop(0)
        await run.permit(Action("Hop", Effects(network=True), target, "Hop"))
        went.append(target)
        return target

    tool = ScriptedTool("fetch", behaviour=behaviour, traits=PARALLEL)
    journal, approver = MemoryJournal(), FixedApprover(Forever())
    session = await engine(REPLIES, tool, approver=approver, journal=journal).session("s")
    dying = asyncio.ensure_future(ask(session))
    await approver.asked()
    survivor = journal.copy()
    journal.freeze()

    again = FixedApprover(Forever())
    resumed = await engine(REPLIES[1:], tool, approver=again, journal=survivor).session("s")
    going = asyncio.ensure_future(read(resumed.proceed()))
    await again.asked()
    assert [question.action.shows for question in again.questions] == ["second"]
    assert not await resumed.answer(approver.questions[0].id, "once")
    assert went == []
    assert await resumed.answer(again.questions[0].id, "deny")
    await until(going.done)
    assert outcome(going.result()) == "completed"
    assert went == []
    (asked,) = [event for event in going.result() if isinstance(event, QuestionAsked)]
    assert asked.text == "second"
    check_journal(survivor, resumed)
    dying.cancel()
    await asyncio.wait((dying,))
    await session.aclose()


async def test_T6_a_run_outside_an_engine_is_permitted_nothing_more() -> None:
    with pytest.raises(Refused, match="Hop would allow it"):
        await ToolRun({}, HOP, lambda text: None).permit(HOP)
