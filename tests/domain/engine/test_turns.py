"""A turn from its prompt to its end: order, denials, failures (E1, E3, E4, E6)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say, think
from norma.adapters.memory.tools import Behaviour, ScriptedTool
from norma.domain.engine.session import NoTurn, SessionBusy
from norma.domain.engine.state import Place
from norma.domain.model.actions import Action, Effects
from norma.domain.model.blocks import Text, ToolCall
from norma.domain.model.events import ToolCalled, ToolProgress
from norma.domain.model.facts import ToolEnded, ToolStarted
from norma.domain.model.failures import Failure
from norma.domain.model.questions import Answer
from norma.domain.model.replies import BlockEnded, TextDelta
from norma.ports.errors import ModelError, Refused
from norma.ports.tool import ToolOutput, ToolRun
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    engine,
    facts,
    last,
    names,
    outcome,
    results,
    texts,
    until,
)


async def test_E3_a_tool_starts_while_the_reply_still_streams() -> None:
    held = Gate()
    tool = ScriptedTool("look", results=["found"], traits=PARALLEL)
    model = ScriptedModel([[call("c", "look"), held, say("and"), end("tool_use")], [say("done"), end()]])
    session = await engine(model, tool).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if isinstance(event, ToolEnded):
            held.open()  # the reply goes on only after the tool has ended
    assert outcome(events) == "completed"
    assert names(events).index("ToolEnded") < names(events).index("TextDelta")


async def test_E3_parallel_calls_overlap_and_results_stand_in_call_order() -> None:
    first, second = Gate(), Gate()
    tool = ScriptedTool("look", results=[first, second], traits=PARALLEL)
    model = ScriptedModel([[call("a", "look"), call("b", "look"), end("tool_use")], [say("done"), end()]])
    session = await engine(model, tool).session()
    ended = []
    async for event in session.prompt("hi"):
        if isinstance(event, ToolStarted) and event.id == "b":
            second.open("two")
        if isinstance(event, ToolEnded):
            ended.append(event.id)
            first.open("one")
    assert ended == ["b", "a"]
    assert texts(results(session)) == ["one", "two"]


async def test_E3_a_call_that_is_not_parallel_runs_alone_and_in_order() -> None:
    log = []

    def behaviour(name: str) -> Behaviour:
        async def run(run: ToolRun) -> str:
            log.append(f"{name} begins")
            await asyncio.sleep(0)
            log.append(f"{name} ends")
            return name

        return run

    read_ = ScriptedTool("read", behaviour=behaviour("read"), traits=PARALLEL)
    write = ScriptedTool("write", behaviour=behaviour("write"))
    calls = [call("1", "read"), call("2", "write"), call("3", "read")]
    session = await engine([[*calls, end("tool_use")], [say("done"), end()]], read_, write).session()
    await ask(session)
    assert log == [f"{name} {what}" for name in ("read", "write", "read") for what in ("begins", "ends")]


async def test_E3_at_most_ten_run_at_once() -> None:
    gate, most = Gate(), 0
    tool = ScriptedTool("look", results=[[gate, "ok"]] * 12, traits=PARALLEL)
    calls = [call(str(number), "look") for number in range(12)]
    session = await engine([[*calls, end("tool_use")], [say("done"), end()]], tool).session()

    async def open_when_ten() -> None:
        await tool.started(10)
        nonlocal most
        most = tool.running
        gate.open()

    async with asyncio.TaskGroup() as group:
        group.create_task(open_when_ten())
        events = await ask(session)
    assert most == 10
    assert outcome(events) == "completed"
    assert len(results(session)) == 12


async def test_E3_events_come_in_the_promised_order() -> None:
    def behaviour(run: ToolRun) -> str:
        run.progress("half way")
        return "found"

    tool = ScriptedTool("look", behaviour=behaviour, traits=PARALLEL)
    replies = [[think("hm"), say("let me"), call("c", "look"), end("tool_use")], [say("done"), end()]]
    session = await engine(replies, tool).session()
    events = await ask(session)
    order = [name for name in names(events) if name != "UsageReported"]
    assert order == [
        *["ThinkingDelta"] * 2,
        *["TextDelta"] * 2,
        "ToolCalled",
        "ToolStarted",
        "ToolProgress",
        "ToolEnded",
        *["TextDelta"] * 2,
        "TurnEnded",
    ]
    kinds = (ToolCalled, ToolStarted, ToolProgress, ToolEnded)
    assert {event.key for event in events if isinstance(event, kinds)} == {"1.0"}


async def test_E3_progress_after_the_end_of_a_tool_is_not_told() -> None:
    kept: list[ToolRun] = []

    def behaviour(run: ToolRun) -> str:
        kept.append(run)
        return "found"

    tool = ScriptedTool("look", behaviour=behaviour)
    held = Gate()
    session = await engine([[call("c", "look"), end("tool_use")], [held, say("done"), end()]], tool).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if isinstance(event, ToolEnded):
            kept[0].progress("too late")
            held.open()
    assert "ToolProgress" not in names(events)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (ToolCall("c", "nothing", {}), "There is no tool 'nothing'. There are: look"),
        (ToolCall("c", "look", {"path": 3}), "arguments.path: expected string"),
        (ToolCall("c", "look", {}), "'path' is missing"),
        (ToolCall("c", "look", invalid=True, raw='{"path": "a'), '{"path": "a'),
        (ToolCall("c", "look", {"path": "refused"}), "that path is refused"),
        (ToolCall("c", "look", {"path": "broken"}), "could not say what it would do"),
        (ToolCall("c", "look", {"path": "denied"}), "denied"),
    ],
)
async def test_E4_a_call_that_may_not_run_gets_one_error_result_that_says_why(
    wish: ToolCall, words: str
) -> None:
    def action(arguments: Mapping[str, Any]) -> Action:
        if arguments["path"] == "refused":
            raise Refused("that path is refused")
        if arguments["path"] == "broken":
            raise KeyError("a fault")
        effects = Effects() if arguments["path"] != "denied" else WRITES
        return Action("look", effects, "shows", "look")

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = ScriptedTool("look", schema=schema, action=action)
    model = ScriptedModel([[BlockEnded(wish), end("tool_use")], [say("done"), end()]])
    session = await engine(model, tool, approver=FixedApprover(Answer("deny"))).session()
    events = await ask(session)
    assert outcome(events) == "completed"
    assert tool.runs == []
    (result,) = results(session)
    assert result.is_error
    assert words in texts([result])[0]


@pytest.mark.parametrize(
    "failure", [ValueError("no such thing"), RuntimeError("boom"), ToolOutput.of("x", is_error=True)]
)
async def test_E4_a_tool_that_fails_gives_an_error_result_and_the_turn_goes_on(
    failure: Exception | ToolOutput,
) -> None:
    tools = (
        ScriptedTool("a", results=[failure], traits=PARALLEL),
        ScriptedTool("b", results=["fine"], traits=PARALLEL),
    )
    session = await engine(
        [[call("1", "a"), call("2", "b"), end("tool_use")], [say("ok"), end()]], *tools
    ).session()
    assert outcome(await ask(session)) == "completed"
    assert [result.is_error for result in results(session)] == [True, False]


async def test_E4_the_tool_gets_a_copy_of_its_arguments() -> None:
    def behaviour(run: ToolRun) -> str:
        run.arguments["list"].append("spoilt")
        return "ok"

    tool = ScriptedTool("look", behaviour=behaviour, schema={"type": "object"})
    session = await engine(
        [[call("c", "look", {"list": [1]}), end("tool_use")], [say("x"), end()]], tool
    ).session()
    await ask(session)
    (wish,) = [b for m in session.messages for b in m.blocks if isinstance(b, ToolCall)]
    assert wish.arguments == {"list": [1]}


async def test_E4_long_output_is_capped_between_characters_and_says_so() -> None:
    tool = ScriptedTool("look", results=["한" * 100_000])
    session = await engine([[call("c", "look"), end("tool_use")], [say("x"), end()]], tool).session()
    await ask(session)
    text = texts(results(session))[0]
    assert len(text) < 31_000
    assert "70000 characters left out" in text


async def test_E4_a_run_is_bounded_by_its_deadline() -> None:
    clock, tool = ManualClock(), ScriptedTool("look", results=[Forever()])
    model = ScriptedModel([[call("c", "look"), end("tool_use")], [say("x"), end()]])
    session = await engine(model, tool, clock=clock, tool_timeout_s=5).session()

    async def pass_time() -> None:
        await tool.started()
        await clock.sleeping()
        clock.advance(5)

    async with asyncio.TaskGroup() as group:
        group.create_task(pass_time())
        events = await ask(session)
    assert outcome(events) == "completed"
    assert tool.runs[0].state == "cancelled"
    assert "deadline of 5 s" in texts(results(session))[0]


async def test_E6_a_failed_stream_keeps_the_result_of_the_tool_that_had_started() -> None:
    gate = Gate()
    tool = ScriptedTool("look", results=[gate], traits=PARALLEL)
    failure = ModelError(Failure("stream_dropped", "the stream broke off", "transport"))
    broken = Gate()
    model = ScriptedModel([[say("so"), call("c", "look"), broken, failure], [say("next"), end()]])
    session = await engine(model, tool).session()
    events = []
    async for event in session.prompt("hi"):
        events.append(event)
        if isinstance(event, ToolStarted):
            broken.open(failure)
            gate.open("kept")
    assert last(events).outcome == "model_failed"
    assert last(events).error == failure.failure
    assert last(events).exception is failure
    assert texts(results(session)) == ["kept"]
    assert [e.blocks for e in events if isinstance(e, ToolEnded)] == [(Text("kept"),)]
    assert session.messages[1].cut == "the stream broke off"
    assert outcome(await ask(session, "again")) == "completed"
    assert model.requests[1].messages[:3] == session.messages[:3]


async def test_E6_a_call_that_had_not_started_when_the_stream_failed_is_not_run() -> None:
    gate, broken = Gate(), Gate()
    first, second = ScriptedTool("first", results=[gate]), ScriptedTool("second")
    model = ScriptedModel([[call("1", "first"), call("2", "second"), broken]])
    session = await engine(model, first, second).session()
    task = asyncio.ensure_future(ask(session))
    await gate.reached()
    await broken.reached()
    broken.open(ModelError(Failure("stream_dropped", "gone", "transport")))
    await until(lambda: session.open_calls[1].place is Place.DONE)
    gate.open("kept")
    assert outcome(await task) == "model_failed"
    assert texts(results(session)) == ["kept", "Not run: the model's reply broke off."]
    assert second.runs == []


async def test_E6_a_stream_without_its_end_mark_is_a_failure() -> None:
    session = await engine([[say("half")]]).session()
    events = await ask(session)
    assert outcome(events) == "model_failed"
    assert session.messages[1].blocks == (Text("half"),)
    assert session.messages[1].cut


async def test_E6_the_text_that_had_come_is_kept_with_a_mark() -> None:
    failure = ModelError(Failure("stream_dropped", "gone", "transport"))
    session = await engine([[TextDelta("half a "), TextDelta("sentence"), failure]]).session()
    await ask(session)
    assert session.messages[1].blocks == (Text("half a sentence"),)
    assert session.messages[1].cut == "gone"


async def test_a_prompt_never_iterated_journals_nothing() -> None:
    journal = MemoryJournal()
    session = await engine([], journal=journal).session()
    session.prompt("hi")
    assert await journal.sessions() == ()


async def test_a_second_turn_is_refused_while_one_is_going_on() -> None:
    model = ScriptedModel([[Forever()], [say("x"), end()]])
    session = await engine(model).session()
    turn = session.prompt("a")
    waiting = asyncio.ensure_future(anext(turn))
    await model.asked()
    with pytest.raises(SessionBusy):
        session.prompt("b")
    session.interrupt()
    assert outcome([await waiting]) == "interrupted"
    assert outcome(await ask(session, "b")) == "completed"


async def test_steering_reaches_the_model_at_its_next_call() -> None:
    tool = ScriptedTool("look", results=["x"])
    model = ScriptedModel([[call("c", "look"), end("tool_use")], [say("ok"), end()]])
    session = await engine(model, tool).session()
    with pytest.raises(NoTurn):
        session.steer("nobody listens")
    async for event in session.prompt("hi"):
        if isinstance(event, ToolStarted):
            session.steer("be brief")
    assert model.requests[1].messages[-1].blocks == (Text("be brief"),)


async def test_an_empty_prompt_is_refused() -> None:
    session = await engine([]).session()
    with pytest.raises(ValueError, match="empty"):
        session.prompt("  ")


async def test_E1_facts_of_one_step_are_one_entry() -> None:
    journal = MemoryJournal()
    tool = ScriptedTool("look", results=["x"])
    session = await engine(
        [[call("c", "look"), end("tool_use")], [say("ok"), end()]], tool, journal=journal
    ).session()
    await ask(session)
    entries = [[type(fact).__name__ for fact in entry] for entry in journal.entries(session.id)]
    assert ["CallOffered", "Judged", "ToolStarted"] in [entry[:3] for entry in entries]
    assert facts(journal, session.id)[-1] == (await journal.read(session.id)).entries[-1][-1]
    check_journal(journal, session)
