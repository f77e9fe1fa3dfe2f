"""Models over real sockets for tests, and time that passes whenever somebody waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from norma.adapters.anthropic.model import AnthropicModel
from norma.adapters.http.egress import CallReport, Egress, NetworkPolicy
from norma.adapters.memory.clock import ManualClock
from norma.adapters.openai_chat.model import OpenAIChatModel
from norma.adapters.openai_responses.model import OpenAIResponsesModel
from norma.domain.model.blocks import Text
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyEvent, ReplyWhole, fold_reply
from norma.domain.model.requests import ReplyOptions, ReplyRequest, ToolSpec
from norma.domain.model.secrets import Secret
from norma.ports.model import ChatModel
from tests.rigs.wire_server import Scripted, WireServer, wire_server

KEY = "sk-canary-5d1f0c"


@asynccontextmanager
async def passing(clock: ManualClock) -> AsyncIterator[None]:
    """Every sleep on *clock* ends at once, its seconds noted in `clock.sleeps`."""

    async def pass_on() -> None:
        while True:
            await clock.sleeping()
            clock.advance(clock.sleeps[-1])
            await asyncio.sleep(0)

    task = asyncio.create_task(pass_on())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def an_egress(
    policy: NetworkPolicy | None = None, *, report: Callable[[CallReport], None] | None = None, **environ: str
) -> AsyncIterator[Egress]:
    egress = Egress(policy or NetworkPolicy(), environ=environ, report=report)
    try:
        yield egress
    finally:
        await egress.aclose()


WIRES: Mapping[str, type[AnthropicModel | OpenAIChatModel | OpenAIResponsesModel]] = {
    "anthropic": AnthropicModel,
    "openai-chat": OpenAIChatModel,
    "openai-responses": OpenAIResponsesModel,
}


@asynccontextmanager
async def model_against(
    wire: str,
    *script: Scripted,
    clock: ManualClock | None = None,
    policy: NetworkPolicy | None = None,
    **options: Any,
) -> AsyncIterator[tuple[ChatModel, WireServer]]:
    """A model of that wire and the server that it asks."""
    clock = clock or ManualClock()
    async with wire_server(*script) as server, an_egress(policy) as egress, passing(clock):
        options.setdefault("model", "m")
        options.setdefault("api_key", Secret(KEY))
        yield WIRES[wire](egress, clock, base_url=server.url, **options), server


def chat_against(
    *script: Scripted, **options: Any
) -> AbstractAsyncContextManager[tuple[ChatModel, WireServer]]:
    """A chat model and the server that it asks."""
    return model_against("openai-chat", *script, **options)


def a_request(text: str = "hi", *, tools: Sequence[str] = (), **options: Any) -> ReplyRequest:
    """One user message, and tools of these names."""
    return ReplyRequest(
        (Message("user", (Text(text),)),),
        tools=tuple(ToolSpec(name, "d", {"type": "object", "properties": {}}) for name in tools),
        options=ReplyOptions(**options),
    )


async def events_of(model: ChatModel, request: ReplyRequest) -> list[ReplyEvent]:
    async with model.reply(request) as reply:
        return [event async for event in reply]


async def whole_of(model: ChatModel, request: ReplyRequest | None = None) -> ReplyWhole:
    return fold_reply(await events_of(model, request or a_request()))
