"""E3, S1: what a turn costs, in counts; and engines beside each other."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import Script, ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.engine import Engine
from norma.domain.engine.outbox import HIGH_MARK
from norma.domain.model.facts import ToolEnded
from norma.domain.model.questions import Answer
from norma.domain.model.replies import BlockEnded, TextDelta
from norma.domain.model.requests import ReplyRequest
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    check_pairs,
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

TURNS = 1_000


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Counts the calls of functions of the engine, by name: the work done, whatever the machine's speed."""
    counts: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_globals["__name__"].startswith("norma.domain.engine."):
            counts[frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield counts
    finally:
        sys.setprofile(before)


async def test_S1_a_thousand_turns_each_cost_what_the_first_did() -> None:
    def script(request: ReplyRequest) -> Script:
        if request.messages[-1].role == "tool":
            return [say("done"), end()]
        return [say("so"), call("c", "look"), end("tool_use")]

    journal, model = MemoryJournal(), ScriptedModel(script)
    tool = ScriptedTool("look", behaviour=lambda run: "looked", traits=PARALLEL)
    session = await engine(model, tool, journal=journal).session()
    await ask(session)
    costs: list[tuple[list[list[str]], Counter[str]]] = []
    for number in range(1, TURNS):
        before = len(journal.entries(session.id))
        if number in (1, TURNS - 1):
            with counted_calls() as calls:
                await ask(session)
        else:
            await ask(session)
            calls = Counter()
        entries = journal.entries(session.id)[before:]
        costs.append(([[type(fact).__name__ for fact in entry] for entry in entries], calls))
    assert all(kinds == costs[0][0] for kinds, _ in costs), "each turn appends what any other does"
    assert costs[0][1].total() > 50
    assert costs[-1][1] == costs[0][1], "the last turn does the same work as the second"
    assert len(session.messages) == 4 * TURNS
    shown = model.requests[-1].messages
    assert all(one is other for one, other in zip(shown, session.messages, strict=False)), (
        "no message is made anew"
    )
    check_journal(journal, session)


async def test_E3_a_host_that_does_not_read_holds_back_the_model_and_no_fact() -> None:
    told, more = 0, 3 * HIGH_MARK

    def script(request: ReplyRequest) -> Iterator[Any]:
        nonlocal told
        if request.messages[-1].role == "tool":
            yield from [*say("done"), *end()]
            return
        yield from call("c", "look")
        for _ in range(more):
            told += 1
            yield TextDelta("x")
        yield BlockEnded(say("x" * more)[-1].block)  # type: ignore[union-attr]
        yield from end("tool_use")

    gate, journal = Gate(), MemoryJournal()
    tool = ScriptedTool("look", results=[gate], traits=PARALLEL)
    session = await engine(ScriptedModel(script), tool, journal=journal).session()
    turn = session.prompt("hi")
    events = [await anext(turn)]
    await gate.reached()
    await turns(20)
    held = told
    await turns(20)
    assert told == held, "the model is not read on"
    assert HIGH_MARK - 2 <= told <= HIGH_MARK + 1
    gate.open("looked")
    await until(lambda: any(isinstance(fact, ToolEnded) for fact in facts(journal, session.id)))
    assert told == held, "the tool has ended and is written down, while the model still waits"
    events += await read(turn)
    assert outcome(events) == "completed"
    assert told == more
    assert sum(isinstance(event, TextDelta) for event in events) == more + 2


async def test_E3_a_model_that_only_calls_tools_is_held_back_too() -> None:
    told, more = 0, 3 * HIGH_MARK

    def script(request: ReplyRequest) -> Iterator[Any]:
        nonlocal told
        if request.messages[-1].role == "tool":
            yield from [*say("done"), *end()]
            return
        for number in range(more):
            told += 1
            yield from call(str(number), "look")
        yield from end("tool_use")

    tool = ScriptedTool("look", behaviour=lambda run: "looked", traits=PARALLEL)
    session = await engine(ScriptedModel(script), tool).session()
    turn = session.prompt("hi")
    events = [await anext(turn)]
    await turns(40)
    held = told
    await turns(40)
    assert told == held <= HIGH_MARK + 1
    events += await read(turn)
    assert outcome(events) == "completed"
    assert len(results(session)) == more


async def test_two_engines_share_nothing() -> None:
    """The same names and the same session id; what happens to one is nothing to the other."""
    replies = [[call("c", "write"), end("tool_use")], [say("done"), end()]]

    def made(answer: Answer, replies: Sequence[Script], *tools: ScriptedTool) -> tuple[Engine, MemoryJournal]:
        journal = MemoryJournal()
        return engine(replies, *tools, approver=FixedApprover([answer]), journal=journal), journal

    hang = Forever()
    granted = ScriptedTool("write", results=["written"], effects=WRITES)
    denied = ScriptedTool("write", effects=WRITES)
    one, journal_one = made(Answer("session"), [*replies, [say("so"), hang]], granted)
    two, journal_two = made(Answer("deny"), replies, denied)
    first, second = await one.session("same"), await two.session("same")
    both = await asyncio.gather(ask(first, "one"), ask(second, "two"))
    assert [outcome(events) for events in both] == ["completed", "completed"]
    assert texts(results(first)) == ["written"]
    assert denied.runs == []
    assert first.messages != second.messages

    endless = asyncio.ensure_future(ask(first, "more"))
    three, _ = made(Answer("deny"), [[say("x"), end()]])
    await hang.reached()
    assert outcome(await ask(await three.session("same"))) == "completed"
    first.interrupt()
    assert outcome(await endless) == "interrupted"
    assert others() == set()
    check_pairs(first.messages)
    check_journal(journal_one, first)
    check_journal(journal_two, second)
