"""All three wires against llama.cpp's own server, an implementation of others, with a real small model."""

import asyncio
import json
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from norma.adapters.embedded.fetch import default_cache, fetch_model
from norma.adapters.embedded.server import EmbeddedServer, Endpoint
from norma.adapters.system.clock import SystemClock
from norma.adapters.wires.profiles import profile_for
from norma.domain.model.blocks import Text, text_of
from norma.domain.model.messages import Message
from norma.domain.model.replies import TextDelta
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment, ToolSpec
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel
from tests.rigs.wire_models import WIRES, an_egress, events_of, whole_of

# One loop for all of them, so that the model is loaded once.
pytestmark = [pytest.mark.model, pytest.mark.timeout(600), pytest.mark.asyncio(loop_scope="module")]

PATHS = {"anthropic": "", "openai-chat": "/v1", "openai-responses": "/v1"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Endpoint]:
    gguf = await fetch_model(default_cache(os.environ), progress=print)
    child = EmbeddedServer(gguf, context=2048)
    try:
        yield await child.start()
    finally:
        await child.aclose()


@pytest_asyncio.fixture(params=WIRES, loop_scope="module")
async def model(request: pytest.FixtureRequest, server: Endpoint) -> AsyncIterator[ChatModel]:
    wire: str = request.param
    url = server.base_url.removesuffix("/v1") + PATHS[wire]
    async with an_egress() as egress:
        yield WIRES[wire](
            egress,
            SystemClock(),
            base_url=url,
            model=server.model,
            api_key=server.api_key,
            profile=profile_for("llama.cpp"),
        )


def asking(text: str, **options: object) -> ReplyRequest:
    wishes = ReplyOptions(max_tokens=24, temperature=0.0, **options)  # type: ignore[arg-type]  # as named
    return ReplyRequest(
        (Message("user", (Text(text),)),), (SystemSegment("Answer in one word."),), (), wishes
    )


async def test_text_streams_and_is_the_same_in_one_piece(model: ChatModel) -> None:
    request = asking("What is the capital of France?")
    events = await events_of(model, request)
    assert sum(isinstance(event, TextDelta) for event in events) > 1
    streamed = await whole_of(model, request)
    whole = await whole_of(model, asking("What is the capital of France?", stream=False))
    assert text_of(streamed.blocks).strip()
    assert text_of(whole.blocks) == text_of(streamed.blocks)
    for usage in (streamed.finished.usage, whole.finished.usage):
        assert usage.provenance == "reported"
        assert (usage.input_tokens or 0) > 10
        assert (usage.output_tokens or 0) > 1


async def test_a_conversation_and_tools_are_taken(model: ChatModel) -> None:
    first = asking("Say a colour.")
    said = await whole_of(model, first)
    tool = ToolSpec("mcp.look/up", "Looks.", {"type": "object", "properties": {"q": {"type": "string"}}})
    history = (*first.messages, Message("assistant", said.blocks), Message("user", (Text("And another?"),)))
    whole = await whole_of(model, ReplyRequest(history, first.system, (tool,), first.options))
    assert whole.finished.stop.reason in ("end_turn", "max_tokens", "tool_use")


async def test_a_prompt_that_is_too_long_is_an_overflow_by_its_type(model: ChatModel) -> None:
    with pytest.raises(ModelError) as failed:
        await whole_of(model, asking(json.dumps(list(range(3000)))))
    assert failed.value.failure.kind == "context_overflow"
    assert failed.value.failure.provider.type == "exceed_context_size_error"
    assert len(failed.value.attempts) == 1


async def test_a_reply_that_is_dropped_frees_the_server(model: ChatModel) -> None:
    async with model.reply(asking("Count from one to a thousand.")) as reply:
        await anext(reply)
    async with asyncio.timeout(60):
        assert text_of((await whole_of(model, asking("Say hi."))).blocks).strip()
