"""An engine over doubles, ways to read a turn, and ways to wait for something in it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import Script, ScriptedModel
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.engine import Engine
from norma.domain.engine.session import Session
from norma.domain.engine.turn import fold
from norma.domain.model.actions import Effects, Traits
from norma.domain.model.blocks import ToolCall, ToolResult
from norma.domain.model.events import Event
from norma.domain.model.facts import Fact, TurnEnded
from norma.domain.model.messages import Message
from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules
from norma.ports.approver import Approver
from norma.ports.journal import Journal
from norma.ports.model import ChatModel

PARALLEL = Traits(parallel=True, repeatable=True)
WRITES = Effects(writes=True)

MOST_PASSES = 400
"""More passes of the loop than any scenario here takes to come to where it stays."""


def engine(
    model: ChatModel | Sequence[Script],
    *tools: ScriptedTool,
    approver: Approver | None = None,
    journal: Journal | None = None,
    rules: Sequence[ScopeRules] = (),
    **more: Any,
) -> Engine:
    """An engine over doubles; tools run unasked unless *rules* or their effects say otherwise."""
    return Engine(
        model=ScriptedModel(model) if isinstance(model, Sequence) else model,
        tools=tools,
        policy=CurrentPolicy(Policy.of("default", rules)),
        approver=approver,
        journal=MemoryJournal() if journal is None else journal,
        clock=more.pop("clock", None) or ManualClock(),
        schemas=PlainSchemas(),
        grace_s=more.pop("grace_s", 0.05),
        **more,
    )


async def read(turn: AsyncIterator[Event]) -> list[Event]:
    """All events of a turn."""
    return [event async for event in turn]


async def ask(session: Session, text: str = "hi") -> list[Event]:
    """All events of a turn with that prompt."""
    return await read(session.prompt(text))


def last(events: Sequence[Event]) -> TurnEnded:
    """The turn's end: it is the last event, and there is one."""
    ends = [event for event in events if isinstance(event, TurnEnded)]
    assert len(ends) == 1
    assert events[-1] is ends[0]
    return ends[0]


def outcome(events: Sequence[Event]) -> str:
    """How the turn ended."""
    return last(events).outcome


async def turns(passes: int) -> None:
    """Let the loop turn that often."""
    for _ in range(passes):
        await asyncio.sleep(0)


async def until(there: Callable[[], object]) -> int:
    """Let the loop turn until *there* holds; how many passes that took. It must come within the bound."""
    for passes in range(MOST_PASSES):
        if there():
            return passes
        await asyncio.sleep(0)
    raise AssertionError(f"what was waited for has not come in {MOST_PASSES} passes of the loop")


def others() -> set["asyncio.Task[Any]"]:
    """All tasks but the one that asks."""
    return asyncio.all_tasks() - {asyncio.current_task()}


def names(events: Sequence[Event]) -> list[str]:
    """What kinds of events these are."""
    return [type(event).__name__ for event in events]


def results(session: Session) -> list[ToolResult]:
    """All results in the history."""
    return [b for m in session.messages for b in m.blocks if isinstance(b, ToolResult)]


def texts(found: Sequence[ToolResult]) -> list[str]:
    """The first text of each result."""
    return [getattr(result.blocks[0], "text", "") for result in found]


def facts(journal: MemoryJournal, session: str) -> list[Fact]:
    """All facts of a session, in order."""
    return [fact for entry in journal.entries(session) for fact in entry]


def check_journal(journal: MemoryJournal, session: Session) -> None:
    """The journal holds what the session is, and its history is one that the strictest wire takes."""
    assert fold(facts(journal, session.id)).history == session.messages
    check_pairs(session.messages)


def check_pairs(messages: Sequence[Message]) -> None:
    """Each call has exactly one result, in the message after it, in call order."""
    for at, message in enumerate(messages):
        calls = [block.id for block in message.blocks if isinstance(block, ToolCall)]
        if calls:
            answers = messages[at + 1]
            assert answers.role == "tool"
            assert [b.id for b in answers.blocks if isinstance(b, ToolResult)] == calls
        if message.role == "tool":
            assert any(isinstance(block, ToolCall) for block in messages[at - 1].blocks)
