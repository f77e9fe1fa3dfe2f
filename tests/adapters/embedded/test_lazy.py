"""The embedded model whole: its server starts with the first reply, dies, starts again, and is closed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.lazy import EmbeddedModel
from norma.adapters.embedded.model import GuidedModel, SchemaToolsModel, Speed
from norma.adapters.embedded.server import EmbeddedServer, Endpoint
from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.memory.gates import Forever
from norma.adapters.memory.model import ScriptedModel, end, say
from norma.adapters.openai_chat.model import OpenAIChatModel
from norma.adapters.system.clock import SystemClock
from norma.domain.model.blocks import Text, ToolCall, text_of
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyWhole, TextDelta, fold_reply
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel
from tests.adapters.embedded.conversations import GREP, answered, asked, files
from tests.adapters.embedded.processes import (
    CRASHING,
    HOLDING_THE_LOCK,
    Watched,
    children,
    fail_if_left,
    native_package,
)
from tests.adapters.embedded.test_planner import TREE

Open = Callable[[], EmbeddedModel]

PLAIN = ReplyRequest(
    (Message("user", (Text("Write a long story about a ship."),)),),
    (SystemSegment("You are a helpful assistant."),),
    options=ReplyOptions(max_tokens=24, temperature=0.0),
)


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = children()
    yield
    fail_if_left(before)


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    egress = Egress(NetworkPolicy(proxy="none"), environ={})
    yield egress
    await egress.aclose()


@pytest.fixture
async def real(gguf: str, egress: Egress) -> AsyncIterator[EmbeddedModel]:
    def chat(endpoint: Endpoint) -> ChatModel:
        return OpenAIChatModel(
            egress,
            SystemClock(),
            base_url=endpoint.base_url,
            model=endpoint.model,
            api_key=endpoint.api_key,
            retry=RetryPolicy(retries=0),
        )

    model = EmbeddedModel(path_of(gguf), chat)
    yield model
    await model.aclose()


def path_of(gguf: str) -> Callable[[], Awaitable[str]]:
    async def path() -> str:
        return gguf

    return path


async def whole_of(model: ChatModel, request: ReplyRequest) -> ReplyWhole:
    return fold_reply([event async for event in model.reply(request)])


def pid_of(model: EmbeddedModel) -> int:
    assert model.server is not None
    assert model.server.pid is not None
    return model.server.pid


@pytest.mark.model
@pytest.mark.timeout(600)
class TestRealModel:
    async def test_it_starts_with_the_first_event_that_is_wanted_and_not_before(self, real: EmbeddedModel):
        reply = real.reply(PLAIN)
        assert real.server is None
        whole = fold_reply([event async for event in reply])
        assert text_of(whole.blocks)
        assert whole.finished.usage.output_tokens == 24
        assert whole.finished.stop.reason == "max_tokens"
        first = pid_of(real)
        for _ in range(5):  # without a retry, so that a connection the server gave up would show
            await whole_of(real, PLAIN)
        assert pid_of(real) == first

    async def test_replies_at_once_share_one_server(self, real: EmbeddedModel):
        wholes = await asyncio.gather(*(whole_of(real, PLAIN) for _ in range(3)))
        assert all(text_of(whole.blocks) for whole in wholes)
        assert len(children()) == 1

    async def test_a_guided_turn_from_prompt_to_answer(self, real: EmbeddedModel):
        speeds: list[Speed] = []
        model = GuidedModel(real, clock=SystemClock(), report=speeds.append)
        request = asked("Where is the turn machine defined and what does it do?")
        for _ in range(2):
            whole = await whole_of(model, request)
            calls = [block for block in whole.blocks if isinstance(block, ToolCall)]
            request = answered(request, calls, files(TREE))
        assert real.server is None, "the rounds with tools need no model"
        whole = await whole_of(model, request)
        quoted, _, added = text_of(whole.blocks).partition("**The embedded model adds:** ")
        assert "domain/engine/turn.py:1\n" in quoted
        assert added.strip()
        assert whole.finished.stop.reason == "end_turn"
        assert whole.finished.usage.output_tokens
        assert speeds[0].tokens_per_s is not None

    async def test_tools_by_schema_give_a_call_or_an_answer_and_never_broken_json(self, real: EmbeddedModel):
        schema = {
            "type": "object",
            "properties": {"pattern": {"type": "string", "maxLength": 20}},
            "required": ["pattern"],
            "additionalProperties": False,
        }
        request = ReplyRequest(
            (Message("user", (Text("Search the files for the word TODO."),)),),
            tools=(type(GREP)("Grep", "Search the files.", schema),),
            options=ReplyOptions(max_tokens=200, temperature=0.0),
        )
        whole = await whole_of(SchemaToolsModel(real), request)
        [block] = whole.blocks
        assert isinstance(block, Text | ToolCall)
        if isinstance(block, ToolCall):
            assert block.name == "Grep"
            assert not block.invalid
            assert isinstance(block.arguments["pattern"], str)

    async def test_a_server_that_died_in_the_middle_is_the_reason_and_the_next_reply_has_a_new_one(
        self, real: EmbeddedModel
    ):
        request = ReplyRequest(PLAIN.messages, PLAIN.system, options=ReplyOptions(max_tokens=2000))
        reply = real.reply(request)
        assert isinstance(await anext(reply), TextDelta)
        first = pid_of(real)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(ModelError, match="the embedded model's process was ended by SIGKILL") as caught:
            async for _ in reply:
                pass
        assert text_of(caught.value.partial)
        assert text_of((await whole_of(real, PLAIN)).blocks)
        assert pid_of(real) != first

    async def test_a_cancelled_reply_leaves_the_server_for_the_next(self, real: EmbeddedModel):
        request = ReplyRequest(PLAIN.messages, PLAIN.system, options=ReplyOptions(max_tokens=2000))
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in real.reply(request):
                begun.set()

        reading = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 60)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert text_of((await whole_of(real, PLAIN)).blocks)

    async def test_closing_ends_the_server_and_refuses_further_replies(self, real: EmbeddedModel):
        await whole_of(real, PLAIN)
        child = Watched(pid_of(real))
        try:
            await real.aclose()
            assert child.gone()
        finally:
            child.close()
        with pytest.raises(ModelError, match="is closed"):
            await whole_of(real, PLAIN)


class TestWithoutWeights:
    """What goes wrong before there is a server."""

    @pytest.fixture
    def plausible(self, tmp_path: Path) -> str:
        path = tmp_path / "plausible.gguf"
        path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") * 2 + bytes(100))
        return str(path)

    @staticmethod
    def never(endpoint: Endpoint) -> ChatModel:
        raise AssertionError("there is no server")

    async def test_weights_that_can_not_be_had_are_the_error_of_the_reply(self):
        async def none() -> str:
            raise EmbeddedFailed("network", "no way to the index")

        model = EmbeddedModel(none, self.never)
        with pytest.raises(ModelError, match="no way to the index") as caught:
            await whole_of(model, PLAIN)
        assert caught.value.failure.kind == "network"
        await model.aclose()

    async def test_a_damaged_file_is_the_error_of_the_reply(self, tmp_path: Path):
        (tmp_path / "bad.gguf").write_bytes(b"not at all")
        model = EmbeddedModel(path_of(str(tmp_path / "bad.gguf")), self.never)
        with pytest.raises(ModelError, match="is no usable GGUF file"):
            await whole_of(model, PLAIN)
        await model.aclose()

    async def test_a_crash_at_the_start_is_told_with_its_last_words(self, tmp_path: Path, plausible: str):
        environ = native_package(tmp_path / "p", CRASHING)
        model = EmbeddedModel(
            path_of(plausible), self.never, make_server=lambda gguf: EmbeddedServer(gguf, environ=environ)
        )
        with pytest.raises(ModelError, match=r"SIGSEGV(?s:.*)tensor on fire"):
            await whole_of(model, PLAIN)
        await model.aclose()

    @pytest.mark.parametrize("moment", ["before the child runs", "while native code loads"])
    async def test_closing_while_it_starts_ends_it(self, tmp_path: Path, plausible: str, moment: str):
        pipe = tmp_path / "loading"
        os.mkfifo(pipe)
        body = f"        open({str(pipe)!r}, 'w').close()\n{HOLDING_THE_LOCK}"
        environ = native_package(tmp_path / "p", body)
        made = asyncio.Event()

        def make(gguf: str) -> EmbeddedServer:
            made.set()
            return EmbeddedServer(gguf, environ=environ)

        model = EmbeddedModel(path_of(plausible), self.never, make_server=make)
        reading = asyncio.create_task(whole_of(model, PLAIN))
        await made.wait()
        if moment == "while native code loads":
            assert await asyncio.to_thread(pipe.read_text) == ""  # returns when the child has opened it
        await model.aclose()
        with pytest.raises(ModelError, match="embedded model's process"):
            await reading

    async def test_when_the_one_who_starts_it_is_cancelled_the_next_one_starts_it(self):
        gate, tries = Forever(), []

        async def first_waits() -> str:
            tries.append(1)
            if len(tries) == 1:
                await gate
            raise EmbeddedFailed("network", "the second try")

        model = EmbeddedModel(first_waits, self.never)
        first, second = (asyncio.create_task(whole_of(model, PLAIN)) for _ in range(2))
        await gate.reached()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(ModelError, match="the second try"):
            await second
        await model.aclose()

    async def test_a_reply_that_is_closed_unread_starts_nothing(self):
        async def none() -> str:
            raise AssertionError("nobody asked for it")

        model = EmbeddedModel(none, self.never)
        reply = model.reply(PLAIN)
        await reply.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(reply)
        await model.aclose()


def test_importing_the_embedded_model_does_not_import_the_native_package():
    import subprocess
    import sys

    modules = "model lazy server fetch schema_tools child"
    script = (
        f"import importlib, sys\nfor name in {modules.split()!r}:\n"
        "    importlib.import_module(f'norma.adapters.embedded.{name}')\n"
        "print(sorted({'xllamacpp', 'aiohttp', 'orjson'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


def test_the_name_is_told_without_a_server():
    model = EmbeddedModel(path_of("x"), TestWithoutWeights.never, name="mine")
    assert model.name == "mine"
    assert GuidedModel(model, clock=SystemClock()).name == "mine, guided"
    assert SchemaToolsModel(ScriptedModel([(say("x"), end())], name="other")).name == "other"
