"""T1, T2, T5, T6, T7: questions and answers, in this process and in the next one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from norma.adapters.memory.approver import FixedAnswer, FixedApprover
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import Session
from norma.domain.engine.state import Place
from norma.domain.model.actions import Action
from norma.domain.model.events import Event, QuestionAsked
from norma.domain.model.facts import ToolEnded, TurnEnded
from norma.domain.model.questions import Answer, Later, Question
from norma.ports.approver import Approver
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    engine,
    names,
    outcome,
    read,
    results,
    texts,
    until,
)

TWO_TURNS = [[call("c", "write"), end("tool_use")], [say("done"), end()]]


def writer(count: int = 1, **more: Any) -> ScriptedTool:
    return ScriptedTool("write", results=["written"] * count, effects=WRITES, traits=PARALLEL, **more)


async def answered(answer: FixedAnswer, tool: ScriptedTool) -> tuple[Session, list[Event]]:
    session = await engine(TWO_TURNS, tool, approver=FixedApprover(answer)).session()
    return session, await ask(session)


async def test_T5_once_runs_this_call_and_the_next_is_asked_again() -> None:
    approver = FixedApprover([Answer("once"), Answer("once")])
    tool = writer(2)
    replies = [
        [call("a", "write"), end("tool_use")],
        [call("b", "write"), end("tool_use")],
        [say("done"), end()],
    ]
    session = await engine(replies, tool, approver=approver).session()
    assert outcome(await ask(session)) == "completed"
    assert len(approver.questions) == 2
    assert len(tool.runs) == 2


async def test_T5_for_this_session_is_not_asked_again_even_after_a_resume() -> None:
    journal, approver, tool = MemoryJournal(), FixedApprover([Answer("session")]), writer(3)
    replies = [
        [call("a", "write"), end("tool_use")],
        [call("b", "write"), end("tool_use")],
        [say("done"), end()],
    ]
    session = await engine(replies, tool, approver=approver, journal=journal).session()
    assert outcome(await ask(session)) == "completed"
    again = await engine(TWO_TURNS, tool, approver=approver, journal=journal).session(session.id)
    assert outcome(await ask(again)) == "completed"
    assert len(approver.questions) == 1
    other = await engine(TWO_TURNS, tool, approver=FixedApprover(Answer("deny")), journal=journal).session(
        "other"
    )
    await ask(other)
    assert len(tool.runs) == 3, "another session was granted nothing"


async def test_T5_a_grant_ends_when_the_tool_is_described_otherwise() -> None:
    """Scenario c12."""
    journal, tool = MemoryJournal(), writer()
    session = await engine(
        TWO_TURNS, tool, approver=FixedApprover(Answer("session")), journal=journal
    ).session()
    await ask(session)
    changed = writer(description="Writes, and mails it to everybody.")
    asked = FixedApprover([Answer("deny")])
    again = await engine(TWO_TURNS, changed, approver=asked, journal=journal).session(session.id)
    await ask(again)
    assert len(asked.questions) == 1
    assert changed.runs == []


async def test_T5_an_answer_holds_for_exactly_what_was_shown() -> None:
    """What would run has changed between the question and the start: it is asked about anew."""
    target = "first"

    def action(arguments: Mapping[str, Any]) -> Action:
        return Action("write", WRITES, f"write to {target}", "write")

    tool = writer(action=action)
    gate = Gate()
    approver = FixedApprover([gate, Answer("deny", "not there")])
    session = await engine(TWO_TURNS, tool, approver=approver).session()
    task = asyncio.ensure_future(ask(session))
    await approver.asked()
    target = "second"
    gate.open(Answer("once"))
    assert outcome(await task) == "completed"
    assert [question.action.shows for question in approver.questions] == ["write to first", "write to second"]
    assert approver.questions[0].id != approver.questions[1].id
    assert tool.runs == []
    assert "not there" in texts(results(session))[0]


async def test_T5_deny_with_feedback_reaches_the_model_and_the_turn_goes_on() -> None:
    tool = writer()
    session, events = await answered(Answer("deny", "use another file"), tool)
    assert outcome(events) == "completed"
    assert tool.runs == []
    assert "use another file" in texts(results(session))[0]


async def test_T5_deny_and_stop_ends_the_turn() -> None:
    tool = writer()
    session, events = await answered(Answer("stop"), tool)
    assert outcome(events) == "interrupted"
    assert tool.runs == []
    assert len(results(session)) == 1


async def test_T5_three_equal_questions_are_settled_by_one_answer_for_the_session() -> None:
    """Scenarios c01 and c02: the twins are freed by the grant, the other question stays."""
    first = Gate()
    answers = {"1.0": first, "1.1": Forever(), "1.2": Forever(), "1.3": Forever()}
    approver = FixedApprover(lambda question: answers[question.key])
    tool = writer(3)
    other = ScriptedTool("mail", results=[], effects=WRITES, traits=PARALLEL)
    calls = [call("a", "write"), call("b", "write"), call("c", "write"), call("d", "mail")]
    session = await engine([[*calls, end("tool_use")]], tool, other, approver=approver).session()
    task = asyncio.ensure_future(ask(session))
    await approver.asked(4)
    assert tool.runs == [], "nothing ran before the answer"
    first.open(Answer("session"))
    await tool.started(3)
    assert [call_.place for call_ in session.open_calls][3] is Place.ASKING
    session.interrupt()
    events = await task
    assert names(events).count("QuestionAsked") == 4
    assert {question.key for question in approver.withdrawn} == {"1.1", "1.2", "1.3"}


@pytest.mark.parametrize("answer", [RuntimeError("the dialog broke"), "yes", None, True])
async def test_T6_a_broken_or_nonsense_gate_denies(answer: Any) -> None:
    """Scenario c04."""

    class Broken(Approver):
        async def ask(self, question: Question) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    tool = writer()
    session = await engine(TWO_TURNS, tool, approver=Broken()).session()
    events = await ask(session)
    assert outcome(events) == "completed"
    assert tool.runs == []
    assert results(session)[0].is_error


async def test_T6_a_late_answer_to_a_finished_call_runs_nothing() -> None:
    """Scenario c03."""
    approver, tool = FixedApprover(Forever()), writer()
    session = await engine(TWO_TURNS, tool, approver=approver).session()
    task = asyncio.ensure_future(ask(session))
    await approver.asked()
    session.interrupt()
    events = await task
    (asked,) = [event for event in events if isinstance(event, QuestionAsked)]
    assert await session.answer(asked.id, "once") is False
    assert tool.runs == []
    assert await read(session.proceed()) == []


async def test_T6_questions_are_answered_by_their_ids() -> None:
    tool = ScriptedTool(
        "write",
        behaviour=lambda run: run.arguments["to"],
        effects=WRITES,
        traits=PARALLEL,
        schema={"type": "object"},
    )
    replies = [
        [call("a", "write", {"to": "A"}), call("b", "write", {"to": "B"}), end("tool_use")],
        [say("x"), end()],
    ]
    session = await engine(replies, tool).session()
    questions = []
    async for event in session.prompt("hi"):
        if isinstance(event, QuestionAsked):
            questions.append(event)
            if len(questions) == 2:
                assert await session.answer(questions[1].id, "once")
                assert await session.answer(questions[0].id, Answer("deny", "no A"))
    assert [run.arguments["to"] for run in tool.runs] == ["B"]
    assert [result.is_error for result in results(session)] == [True, False]


async def test_T7_a_host_may_answer_before_it_comes_for_the_next_event() -> None:
    tool = writer()
    session = await engine(TWO_TURNS, tool).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if isinstance(event, QuestionAsked):
            assert await session.answer(event.id, "once")
    assert outcome(events) == "completed"
    assert len(tool.runs) == 1


async def test_T7_a_question_outlives_its_process() -> None:
    """Asked in one process, answered in a second, carried on in a third; a doubled answer is ignored."""
    journal, tool = MemoryJournal(), writer()
    session = await engine(TWO_TURNS[:1], tool, journal=journal).session()
    events = await ask(session)
    assert outcome(events) == "waiting"
    (asked,) = [event for event in events if isinstance(event, QuestionAsked)]
    assert session.messages[-1].role == "user", "an open round is not history"
    second = await engine([], tool, journal=journal).session(session.id)
    assert await second.answer(asked.id, "once")
    assert not await second.answer(asked.id, "deny")
    assert tool.runs == []
    third = await engine(TWO_TURNS[1:], tool, journal=journal).session(session.id)
    assert outcome(await read(third.proceed())) == "completed"
    assert len(tool.runs) == 1
    check_journal(journal, third)


async def test_T7_a_denial_recorded_while_waiting_is_told_when_the_turn_goes_on() -> None:
    journal, tool = MemoryJournal(), writer()
    session = await engine(TWO_TURNS, tool, approver=FixedApprover(Later()), journal=journal).session()
    events = await ask(session)
    (asked,) = [event for event in events if isinstance(event, QuestionAsked)]
    await session.answer(asked.id, Answer("deny", "never"))
    events = await read(session.proceed())
    assert outcome(events) == "completed"
    assert len([event for event in events if isinstance(event, ToolEnded)]) == 1
    assert tool.runs == []


async def test_T7_an_unanswered_question_is_put_again_on_resume() -> None:
    """Scenario c07."""
    journal, tool = MemoryJournal(), writer()
    session = await engine(TWO_TURNS, tool, approver=FixedApprover(Later()), journal=journal).session()
    assert outcome(await ask(session)) == "waiting"
    approver = FixedApprover([Answer("once")])
    again = await engine(TWO_TURNS[1:], tool, approver=approver, journal=journal).session(session.id)
    assert outcome(await read(again.proceed())) == "completed"
    assert len(approver.questions) == len(tool.runs) == 1


async def test_T7_a_new_prompt_closes_an_open_round_as_unanswered() -> None:
    tool = writer()
    model = ScriptedModel([TWO_TURNS[0], [say("fine"), end()]])
    session = await engine(model, tool, approver=FixedApprover(Later())).session()
    await ask(session)
    assert outcome(await ask(session, "forget it")) == "completed"
    assert "nobody answered" in texts(results(session))[0]
    assert tool.runs == []


async def test_T7_an_answer_wakes_a_live_turn_that_still_works() -> None:
    """The question is put off while another tool runs; its answer comes before that one ends."""
    gate = Gate()
    look, write = ScriptedTool("look", results=[gate], traits=PARALLEL), writer()
    replies = [[call("a", "write"), call("b", "look"), end("tool_use")], [say("done"), end()]]
    session = await engine(replies, look, write).session()
    asked: list[QuestionAsked] = []
    outcomes = []

    async def host() -> None:
        async for event in session.prompt("hi"):
            if isinstance(event, QuestionAsked):
                asked.append(event)
            if isinstance(event, TurnEnded):
                outcomes.append(event.outcome)

    async with asyncio.TaskGroup() as group:
        group.create_task(host())
        await gate.reached()
        await until(lambda: session.open_calls[0].place is Place.PARKED)
        await session.answer(asked[0].id, "once")
        await write.started()
        gate.open("looked")
    assert outcomes == ["completed"]


async def test_an_unknown_answer_is_refused_with_the_words_there_are() -> None:
    session = await engine([]).session()
    with pytest.raises(ValueError, match="once, session, deny, stop, later"):
        await session.answer("x", "perhaps")
