"""A turn that never ends by itself, and a sweep that stops it at every pass of the loop."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Forever
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import Script, ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.engine import Engine
from norma.domain.engine.session import Session
from norma.domain.model.blocks import Text
from norma.domain.model.events import Event
from norma.domain.model.requests import ReplyRequest
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    check_journal,
    engine,
    others,
    outcome,
    read,
    turns,
    until,
)

BOUND_S = 10


class Endless:
    """Two turns' worth of work that never ends on its own: text, a call, a question, and a hanging stream."""

    def __init__(self, journal: MemoryJournal | None = None) -> None:
        self.journal = MemoryJournal() if journal is None else journal
        self.done = ScriptedTool("done", results=["at once"], traits=PARALLEL)
        self.slow = ScriptedTool("slow", results=[Forever()], traits=PARALLEL)
        self.asks = ScriptedTool("asks", results=[], traits=PARALLEL, effects=WRITES)
        self.approver = FixedApprover(lambda question: Forever())
        self.hang = Forever()
        self.model = ScriptedModel(self.script, alone=True)
        self.engine: Engine = engine(
            self.model, self.done, self.slow, self.asks, approver=self.approver, journal=self.journal
        )

    def script(self, request: ReplyRequest) -> Script:
        last = request.messages[-1]
        if last.blocks == (Text("next"),):
            return [say("yes"), end()]
        if last.role == "tool":
            return [say("and"), call("1", "slow"), call("2", "asks"), say("then"), self.hang]
        return [say("so"), call("0", "done"), end("tool_use")]

    @property
    def there(self) -> bool:
        return self.hang.arrivals > 0 and self.slow.running > 0 and bool(self.approver.questions)

    async def check_after(self, session: Session) -> None:
        """Nothing is left, nothing is lost, and the session takes the next prompt."""
        assert self.slow.running == 0
        assert self.model.open == 0
        assert self.asks.runs == []
        check_journal(self.journal, session)
        answering = ScriptedModel([[say("yes"), end()]])
        again = await engine(answering, journal=self.journal).session(session.id)
        assert again.messages == session.messages
        assert outcome(await ask(again, "next")) == "completed"
        check_journal(self.journal, again)


Start: TypeAlias = Callable[[Endless, Session], "asyncio.Task[Any]"]


async def passes_of(start: Start, journal: type[MemoryJournal] = MemoryJournal) -> int:
    """How many passes of the loop a scenario takes until it stays where it is."""
    world = Endless(journal())
    session = await world.engine.session()
    task = start(world, session)
    passes = await until(lambda: world.there)
    assert not task.done()
    task.cancel()
    await asyncio.wait((task,))
    await session.aclose()
    return passes + 2


async def everywhere(
    start: Start, journal: type[MemoryJournal], stop: Callable[["asyncio.Task[Any]", Session], object]
) -> None:
    """Run the scenario once for each pass, and *stop* it there."""
    for number in range(await passes_of(start, journal)):
        world = Endless(journal())
        session = await world.engine.session()
        task = start(world, session)
        await turns(number)
        assert not task.done()
        stop(task, session)
        done, _ = await asyncio.wait((task,), timeout=BOUND_S)
        assert done, f"stopped at pass {number}, it does not end"
        assert task.cancelled()
        assert others() == set(), f"stopped at pass {number}, tasks are left"
        await world.check_after(session)


def bare(world: Endless, session: Session) -> "asyncio.Task[list[Event]]":
    return asyncio.ensure_future(read(session.prompt("hi")))


def scoped(world: Endless, session: Session) -> "asyncio.Task[None]":
    async def host() -> None:
        async with session.prompt("hi") as turn:
            async for _ in turn:
                await asyncio.sleep(0)

    return asyncio.ensure_future(host())
