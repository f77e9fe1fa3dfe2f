"""All three wires against aimock, a model server of others: text, tools, errors, and chaos."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import Text, ToolCall, ToolResult, text_of
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyWhole
from norma.domain.model.requests import ReplyRequest, ToolSpec
from norma.domain.model.secrets import Secret
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel
from tests.rigs.model_peers import aimock
from tests.rigs.wire_models import WIRES, a_request, an_egress, passing, whole_of

pytestmark = pytest.mark.timeout(300)  # the first run installs it

ANSWER = "Hi there, this is a fixture answer."
ARGUMENTS = {"pattern": "TODO", "path": "src"}
FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "grep it", "hasToolResult": False},
        "response": {"toolCalls": [{"name": "grep", "arguments": ARGUMENTS}]},
    },
    {"match": {"userMessage": "grep it", "hasToolResult": True}, "response": {"content": "Found three."}},
    {"match": {"userMessage": "hello"}, "response": {"content": ANSWER}},
    {
        "match": {"userMessage": "fail"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
]
GREP = ToolSpec("grep", "Searches files.", {"type": "object", "properties": {"pattern": {"type": "string"}}})
PATHS = {"anthropic": "", "openai-chat": "/v1", "openai-responses": "/v1"}


@asynccontextmanager
async def running(folder: Path, *options: str) -> AsyncIterator[str]:
    """An aimock on a free port; gives its URL, and ends it."""
    program = await asyncio.to_thread(aimock)
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": FIXTURES}))
    child = await asyncio.create_subprocess_exec(
        program, "-p", "0", "-f", str(file), *options, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield await asyncio.wait_for(_address(child), 60)
    finally:
        child.kill()
        await child.communicate()


async def _address(child: asyncio.subprocess.Process) -> str:
    assert child.stdout is not None
    async for line in child.stdout:
        if (found := re.search(rb"listening on (http://\S+)", line)) is not None:
            return found[1].decode()
    raise AssertionError("aimock ended before it listened")


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@asynccontextmanager
async def asked(wire: str, folder: Path, *options: str) -> AsyncIterator[ChatModel]:
    clock = ManualClock()
    async with running(folder, *options) as url, an_egress() as egress, passing(clock):
        key = Secret("test-key")
        yield WIRES[wire](egress, clock, base_url=url + PATHS[wire], model="gpt-4o", api_key=key)


async def test_text_tools_and_errors_of_aimock(wire: str, tmp_path: Path) -> None:
    async with asked(wire, tmp_path) as model:
        for stream in (True, False):
            whole = await whole_of(model, a_request("hello", stream=stream))
            assert whole.blocks == (Text(ANSWER),)
            assert whole.finished.stop.reason == "end_turn"
        request = evolve(a_request("grep it"), tools=(GREP,))
        called = await whole_of(model, request)
        (call,) = [block for block in called.blocks if isinstance(block, ToolCall)]
        assert (call.name, call.arguments) == ("grep", ARGUMENTS)
        assert called.finished.stop.reason == "tool_use"
        found = await whole_of(model, _answered(request, called, call))
        assert text_of(found.blocks) == "Found three."
        with pytest.raises(ModelError) as failed:
            await whole_of(model, a_request("fail"))
    assert (failed.value.failure.kind, failed.value.failure.status) == ("rate_limited", 429)
    assert len(failed.value.attempts) == 4
    assert "slow down" in str(failed.value)


def _answered(request: ReplyRequest, called: ReplyWhole, call: ToolCall) -> ReplyRequest:
    said = Message("assistant", called.blocks)
    result = Message("tool", (ToolResult(call.id, (Text("a.py:3: TODO"),)),))
    return evolve(request, messages=(*request.messages, said, result))


@pytest.mark.peers
@pytest.mark.parametrize(
    ("chaos", "kinds"),
    [
        ("--chaos-drop", {"server"}),
        ("--chaos-malformed", {"protocol"}),
        ("--chaos-disconnect", {"network", "stream_dropped"}),
        ("--chaos-ratelimit", {"rate_limited"}),
    ],
)
async def test_chaos_of_aimock_is_an_error_with_its_kind(chaos: str, kinds: set[str], tmp_path: Path) -> None:
    for wire in WIRES:
        async with asked(wire, tmp_path, chaos, "1") as model:
            with pytest.raises(ModelError) as failed:
                await whole_of(model, a_request("hello"))
        assert failed.value.failure.kind in kinds, (wire, failed.value.failure)
        assert len(failed.value.attempts) == (1 if "protocol" in kinds else 4)
