"""T5, T6, E6, E8: parts below the engine that break what they promised; the turn still has its end."""

import asyncio
from typing import Self

from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.session import Session
from norma.domain.model.actions import Action, Effects
from norma.domain.model.blocks import Text
from norma.domain.model.events import Event
from norma.domain.model.questions import Answer, Later, Question
from norma.domain.model.replies import ReplyEvent, TextDelta
from norma.domain.model.requests import ReplyRequest
from norma.ports.approver import Approver
from norma.ports.model import Reply
from norma.ports.tool import ToolRun
from tests.domain.engine.hosts import (
    PARALLEL,
    WRITES,
    ask,
    engine,
    last,
    others,
    outcome,
    results,
    texts,
    until,
)

REPLIES = [[call("c", "look"), end("tool_use")], [say("done"), end()]]
STEP = Action("Step", Effects(network=True), "GET https://other.example/", "Step")


class Fleeing(Approver):
    """An approver whose dialog was cancelled by somebody else, not by the engine."""

    async def ask(self, question: Question) -> Answer | Later:
        raise asyncio.CancelledError


async def ended(session: Session, text: str = "hi") -> list[Event]:
    """All events of a turn that ends by itself; one that hangs fails instead."""
    task = asyncio.ensure_future(ask(session, text))
    await until(task.done)
    return task.result()


async def test_T6_an_approver_that_cancels_itself_denies() -> None:
    tool = ScriptedTool("look", effects=WRITES)
    session = await engine(REPLIES, tool, approver=Fleeing()).session()
    assert outcome(await ended(session)) == "completed"
    assert tool.runs == []
    assert [result.is_error for result in results(session)] == [True]
    assert others() == set()


async def test_T6_an_approver_that_cancels_itself_denies_a_permit() -> None:
    async def behaviour(run: ToolRun) -> str:
        await run.permit(STEP)
        return "went on"

    session = await engine(REPLIES, ScriptedTool("look", behaviour=behaviour), approver=Fleeing()).session()
    assert outcome(await ended(session)) == "completed"
    assert "denied" in texts(results(session))[0]


async def test_E4_a_tool_that_cancels_itself_gives_an_error_result() -> None:
    async def behaviour(run: ToolRun) -> str:
        raise asyncio.CancelledError

    tools = (
        ScriptedTool("look", behaviour=behaviour, traits=PARALLEL),
        ScriptedTool("other", results=["fine"], traits=PARALLEL),
    )
    replies = [[call("1", "look"), call("2", "other"), end("tool_use")], [say("done"), end()]]
    session = await engine(replies, *tools).session()
    assert outcome(await ended(session)) == "completed"
    assert [result.is_error for result in results(session)] == [True, False]
    assert "cancelled itself" in texts(results(session))[0]


class Cancelling(ScriptedModel):
    """A model whose first reply breaks off with a CancelledError that nobody asked for."""

    def reply(self, request: ReplyRequest) -> Reply:
        reply = super().reply(request)
        if self.requests:
            return reply
        return _Broken(reply)


class _Broken(Reply):
    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        event = await self._reply.__anext__()
        if isinstance(event, TextDelta):
            return event
        raise asyncio.CancelledError

    async def aclose(self) -> None:
        await self._reply.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._reply.aclose()


async def test_E8_a_model_that_cancels_itself_is_a_failure_of_the_model() -> None:
    session = await engine(Cancelling([[say("half"), end()], [say("whole"), end()]])).session()
    events = await ended(session)
    assert outcome(events) == "model_failed"
    error = last(events).error
    assert error is not None
    assert error.kind == "internal"
    assert session.messages[-1].blocks == (Text("half"),)
    assert outcome(await ended(session, "again")) == "completed"
