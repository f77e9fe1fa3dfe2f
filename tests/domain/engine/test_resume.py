"""E7, S1, S2 in the engine: a process that dies at any point, and the one that goes on."""

import asyncio

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import Script, ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.engine import Engine
from norma.domain.model.actions import Effects, Traits
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Judged, ToolStarted
from norma.domain.model.questions import Answer
from norma.domain.model.requests import ReplyRequest
from norma.ports.tool import ToolRun
from tests.domain.engine.hosts import (
    MOST_PASSES,
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    check_pairs,
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

NOTHING = Effects()


class Dying:
    """A turn of three calls, one of them unsafe and one approved, whose process can die at any pass."""

    def __init__(self, journal: MemoryJournal, ledger: list[str]) -> None:
        self.journal = journal
        self.ledger = ledger
        self.dead = False

        def tool(name: str, traits: Traits, effects: Effects = NOTHING) -> ScriptedTool:
            async def behaviour(run: ToolRun) -> str:
                await asyncio.sleep(0)
                if not self.dead:
                    ledger.append(name)  # the effect
                await asyncio.sleep(0)
                return f"{name} done"

            return ScriptedTool(name, behaviour=behaviour, traits=traits, effects=effects)

        self.engine: Engine = engine(
            ScriptedModel(self.script, alone=True),
            tool("safe", PARALLEL),
            tool("unsafe", Traits(parallel=True)),
            tool("approved", Traits(), WRITES),
            approver=FixedApprover(Answer("once")),
            journal=journal,
        )

    def script(self, request: ReplyRequest) -> Script:
        if any(message.role == "tool" for message in request.messages):
            return [say("done"), end()]
        return [
            say("so"),
            call("1", "safe"),
            call("2", "unsafe"),
            say("and"),
            call("3", "approved"),
            end("tool_use"),
        ]


@pytest.mark.parametrize("journal", [MemoryJournal, SlowJournal])
async def test_E7_killed_at_every_pass_and_resumed_by_another_process(journal: type[MemoryJournal]) -> None:
    unknown = 0
    for number in range(MOST_PASSES):
        ledger: list[str] = []
        first = Dying(journal(), ledger)
        session = await first.engine.session("s")
        task = asyncio.ensure_future(ask(session))
        await turns(number)
        if task.done():
            break
        first.dead = True
        survivor = first.journal.copy()
        first.journal.freeze()
        before = facts(survivor, "s")

        second = Dying(survivor, ledger)
        resumed = await second.engine.session("s")
        if resumed.messages or resumed.open_calls or survivor.entries("s"):
            events = await read(resumed.proceed())
            if events:
                assert outcome(events) == "completed"
            after = facts(survivor, "s")
            assert after[: len(before)] == before, "nothing journalled is lost"
            check_journal(survivor, resumed)
            assert [r.id for r in results(resumed)] in ([], ["1", "2", "3"], ["1"], ["1", "2"])
            unknown += sum("outcome is unknown" in text for text in texts(results(resumed)))
        assert ledger.count("unsafe") <= 1
        assert ledger.count("approved") <= 1
        task.cancel()
        await asyncio.wait((task,))
        await session.aclose()
    else:
        raise AssertionError("the scenario has too many passes")
    assert unknown > 0, "at some point the outcome must have been unknown"


async def test_E7_two_processes_that_resume_at_once_run_a_tool_once() -> None:
    ledger: list[str] = []
    first = Dying(MemoryJournal(), ledger)
    session = await first.engine.session("s")
    task = asyncio.ensure_future(ask(session))
    await until(lambda: sum(isinstance(fact, Judged) for fact in facts(first.journal, "s")) == 3)
    first.dead = True
    survivor = first.journal.copy()
    first.journal.freeze()
    one = await Dying(survivor, ledger).engine.session("s")
    two = await Dying(survivor.another(), ledger).engine.session("s")
    outcomes = [outcome(e) for e in await asyncio.gather(read(one.proceed()), read(two.proceed()))]
    assert sorted(outcomes) == ["completed", "conflict"]
    assert ledger.count("unsafe") <= 1
    assert ledger.count("approved") == 1
    task.cancel()
    await asyncio.wait((task,))


async def test_E7_proceed_with_nothing_open_ends_at_once() -> None:
    session = await engine([[say("x"), end()]]).session()
    assert await read(session.proceed()) == []
    await ask(session)
    assert await read(session.proceed()) == []


async def test_E7_a_prompt_closes_what_a_dead_process_left_open() -> None:
    first = Dying(MemoryJournal(), [])
    session = await first.engine.session("s")
    task = asyncio.ensure_future(ask(session))
    await until(lambda: any(isinstance(fact, ToolStarted) for fact in facts(first.journal, "s")))
    first.dead = True
    survivor = first.journal.copy()
    first.journal.freeze()
    model = ScriptedModel([[say("new"), end()]])
    again = await engine(model, journal=survivor).session("s")
    assert outcome(await ask(again, "never mind")) == "completed"
    check_pairs(model.requests[0].messages)
    assert model.requests[0].messages[-1].blocks == (Text("never mind"),)
    check_journal(survivor, again)
    task.cancel()
    await asyncio.wait((task,))


async def test_S1_resume_is_a_fold_of_the_journal() -> None:
    journal = MemoryJournal()
    tool = ScriptedTool("look", results=["x"])
    session = await engine(
        [[call("c", "look"), end("tool_use")], [say("ok"), end()]], tool, journal=journal
    ).session()
    await ask(session)
    again = await engine([], journal=journal).session(session.id)
    assert again.messages == session.messages
    assert again.usage == session.usage
    assert again.open_calls == ()


async def test_S1_the_cost_of_a_turn_does_not_grow_with_the_history() -> None:
    journal = MemoryJournal()
    session = await engine([[say("ok"), end()]] * 30, journal=journal).session()
    sizes = []
    for _ in range(30):
        before = len(journal.entries(session.id))
        await ask(session)
        entries = journal.entries(session.id)[before:]
        sizes.append(sum(len(entry) for entry in entries))
    assert len(set(sizes[1:])) == 1, "each turn appends as much as any other"
