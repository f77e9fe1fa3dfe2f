"""What the doubles do beside the promises of their ports: they record, wait, and fail on the unscripted."""

import asyncio

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say, think
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.search import ScriptedSearch
from norma.adapters.memory.tools import ScriptedTool
from norma.adapters.memory.workspace import MemoryWorkspace
from norma.domain.model.actions import Action, Effects
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Interrupted, SessionOpened
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Later
from norma.domain.model.replies import fold_reply
from norma.domain.model.requests import ReplyRequest
from norma.ports.commands import Command
from norma.ports.contracts.approver import question
from norma.ports.errors import JournalConflict, JournalFailed
from norma.ports.file_search import SearchQuery
from norma.ports.tool import ToolOutput, ToolRun

OPENED = SessionOpened("2026-01-01T00:00:00.000Z")
REQUEST = ReplyRequest((Message("user", (Text("What is this?"),)),))


def run_of(tool: ScriptedTool) -> ToolRun:
    async def permit(action: Action) -> None:
        raise AssertionError("a scripted tool asks for nothing more")

    return ToolRun({}, tool.examine({}), lambda text: None, permit)


async def test_gate_gives_what_it_was_opened_with() -> None:
    gate = Gate()
    waiting = asyncio.ensure_future(gate)
    await asyncio.wait_for(gate.reached(), 10)
    assert not waiting.done()
    gate.open("value")
    assert await waiting == "value"
    assert await gate == "value"
    assert gate.arrivals == 2


async def test_gate_raises_the_error_it_was_opened_with() -> None:
    gate = Gate()
    gate.open(KeyError("x"))
    with pytest.raises(KeyError):
        await gate


async def test_forever_does_not_open() -> None:
    with pytest.raises(AssertionError, match="does not open"):
        Forever().open()


async def test_frozen_journal_writes_nothing_more_and_its_copy_goes_on() -> None:
    journal = MemoryJournal()
    await journal.append("s", 0, [OPENED])
    journal.freeze()
    with pytest.raises(JournalFailed, match="frozen"):
        await journal.append("s", 1, [Interrupted()])
    copy = journal.copy()
    assert await copy.append("s", 1, [Interrupted()]) == 2
    assert journal.entries("s") == ((OPENED,),)
    assert copy.entries("s") == ((OPENED,), (Interrupted(),))


async def test_journal_fails_as_told_and_as_often() -> None:
    journal = MemoryJournal()
    full = JournalFailed(Failure("journal", "the disk is full"))
    other = JournalConflict(Failure("conflict", "another was first"))
    journal.fail_next(full, times=2)
    journal.fail_next(other)
    for error in (full, full, other):
        with pytest.raises(type(error)) as caught:
            await journal.append("s", 0, [OPENED])
        assert caught.value is error
    assert await journal.append("s", 0, [OPENED]) == 1
    assert journal.appends == 1


async def test_journal_keeps_the_very_facts() -> None:
    journal = MemoryJournal()
    await journal.append("s", 0, [OPENED])
    assert (await journal.read("s")).entries[0][0] is OPENED


async def test_manual_clock_records_sleeps_and_wakes_who_is_due() -> None:
    clock = ManualClock("2026-02-03T04:05:06.700Z")
    woken: list[float] = []

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    tasks = [asyncio.create_task(sleeper(seconds)) for seconds in (3.0, 1.0, 2.0)]
    await asyncio.wait_for(clock.sleeping(3), 10)
    clock.advance(2.0)
    await asyncio.wait_for(asyncio.gather(tasks[1], tasks[2]), 10)
    assert woken == [1.0, 2.0]
    assert not tasks[0].done()
    clock.advance(1.0)
    await asyncio.wait_for(tasks[0], 10)
    assert clock.sleeps == [3.0, 1.0, 2.0]
    assert clock.now() == "2026-02-03T04:05:09.700Z"
    assert clock.monotonic() == 3.0


def test_manual_clocks_are_the_same_in_every_run() -> None:
    one, other = ManualClock(), ManualClock()
    assert [one.new_id() for _ in range(3)] == [other.new_id() for _ in range(3)]
    assert [one.random() for _ in range(3)] == [other.random() for _ in range(3)]


def test_manual_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        ManualClock().advance(-1)


async def test_model_plays_its_replies_in_turn_and_records_what_it_was_asked() -> None:
    words = [*think("hm"), *say("hello world", 3), *end()]
    model = ScriptedModel([words, [call("c1", "Look", {"a": 1}), end("tool_use")]])
    first = fold_reply([event async for event in model.reply(REQUEST)])
    assert [type(block).__name__ for block in first.blocks] == ["Thinking", "Text"]
    second = fold_reply([event async for event in model.reply(REQUEST)])
    assert second.finished.stop.reason == "tool_use"
    assert model.requests == [REQUEST, REQUEST]
    with pytest.raises(AssertionError, match=r"nobody scripted reply 3; the last message is .*What is this"):
        await anext(model.reply(REQUEST))
    assert model.open == 0


async def test_model_waits_at_a_gate_between_events() -> None:
    gate = Gate()
    model = ScriptedModel([[say("a", 1), gate, say("b", 1), end()]])
    reply = model.reply(REQUEST)
    await anext(reply)
    await anext(reply)
    late = asyncio.ensure_future(anext(reply))
    await asyncio.wait_for(gate.reached(), 10)
    assert not late.done()
    gate.open()
    await asyncio.wait_for(late, 10)
    await reply.aclose()


async def test_tool_records_how_its_runs_ended() -> None:
    gate = Gate()
    tool = ScriptedTool("T", results=["one", OSError("no"), (gate, "late"), Forever(), gate])
    assert await tool.run(run_of(tool)) == ToolOutput.of("one")
    with pytest.raises(OSError, match="no"):
        await tool.run(run_of(tool))
    late = asyncio.create_task(tool.run(run_of(tool)))
    stuck = asyncio.create_task(tool.run(run_of(tool)))
    await asyncio.wait_for(tool.started(4), 10)
    assert tool.running == 2
    gate.open("from the gate")
    assert await late == ToolOutput.of("late")
    stuck.cancel()
    await asyncio.wait([stuck])
    assert stuck.cancelled()
    assert await tool.run(run_of(tool)) == ToolOutput.of("from the gate")
    assert [run.state for run in tool.runs] == ["ended", "failed", "ended", "cancelled", "ended"]
    with pytest.raises(AssertionError, match="nobody scripted this run of T"):
        await tool.run(run_of(tool))


def test_tool_shows_its_arguments() -> None:
    tool = ScriptedTool("T", effects=Effects(writes=True))
    action = tool.examine({"path": "a"})
    assert (action.shows, action.rule, action.effects.writes) == ('T {"path": "a"}', "T", True)


async def test_approver_answers_in_turn_waits_and_records() -> None:
    gate = Gate()
    approver = FixedApprover([Answer("once"), Later(), OSError("gone"), gate, Forever()])
    assert await approver.ask(question()) == Answer("once")
    assert await approver.ask(question()) == Later()
    with pytest.raises(OSError, match="gone"):
        await approver.ask(question())
    late = asyncio.create_task(approver.ask(question(4)))
    await asyncio.wait_for(approver.asked(4), 10)
    gate.open(Answer("deny", "no"))
    assert await late == Answer("deny", "no")
    stuck = asyncio.create_task(approver.ask(question(5)))
    await asyncio.wait_for(approver.asked(5), 10)
    stuck.cancel()
    await asyncio.wait([stuck])
    assert [one.id for one in approver.withdrawn] == ["q5"]
    with pytest.raises(AssertionError, match="nobody scripted an answer to: git status"):
        await approver.ask(question())


async def test_approver_may_decide_by_the_question() -> None:
    approver = FixedApprover(lambda asked: Answer("once" if asked.id == "q1" else "deny"))
    assert (await approver.ask(question(1)), await approver.ask(question(2))) == (
        Answer("once"),
        Answer("deny"),
    )


async def test_unscripted_use_is_a_failure_that_says_what_was_asked() -> None:
    with pytest.raises(AssertionError, match="nobody scripted this command: rm -rf /"):
        await ScriptedCommands({}).run(Command("rm -rf /", "/project"), print)
    with pytest.raises(AssertionError, match="nobody scripted this search"):
        await ScriptedSearch({}).search(SearchQuery("x", "/"), progress=print, excluded=lambda path: False)


def test_plain_schemas_never_say_yes_to_what_they_do_not_know() -> None:
    with pytest.raises(ValueError, match=r"schema\.properties\.a: this double does not know pattern"):
        PlainSchemas().compile({"type": "object", "properties": {"a": {"pattern": "x"}}})


async def test_workspace_fails_as_told_and_records() -> None:
    workspace = MemoryWorkspace({"/project/a": b"x"})
    workspace.fail_next(PermissionError(13, "Permission denied", "/project/a"))
    with pytest.raises(PermissionError):
        await workspace.write("/project/a", b"y")
    assert workspace.files == {"/project/a": b"x"}
    await workspace.write("/project/b", b"z")
    assert (await workspace.read("/project/b")).data == b"z"
    assert (workspace.reads, workspace.writes) == (["/project/b"], ["/project/b"])
