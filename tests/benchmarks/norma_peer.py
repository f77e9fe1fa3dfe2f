"""
Norma as a peer: an engine with events, permissions, folding and a journal, over the real wire and egress.

Variants: none (the engine, journal in memory), `sqlite` (the journal on disk), `app` (through `open_norma`,
as a host would, journal on disk), `reply` (the bare model, the loop by hand).

Runs under this folder's meter, or under a yardstick whose `_common.py` is on the path and takes such peers.
"""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__" and not find_spec("tests.benchmarks"):
    sys.path.append(str(Path(__file__).resolve().parents[2]))

if TYPE_CHECKING:
    from norma.domain.engine.session import Session
    from norma.domain.model.messages import Message
    from norma.ports.model import ChatModel
    from norma.ports.tool import Tool

meter: Any = import_module("_common" if find_spec("_common") else "tests.benchmarks.meter")
TOOLS = (meter.ECHO, meter.WRITE) if hasattr(meter, "tool_specs") else meter.TOOLS

MODELS = {
    "chat": ("norma.adapters.openai_chat.model", "OpenAIChatModel"),
    "messages": ("norma.adapters.anthropic.model", "AnthropicModel"),
    "responses": ("norma.adapters.openai_responses.model", "OpenAIResponsesModel"),
}
WIRES = {"chat": "openai-chat", "messages": "anthropic", "responses": "openai-responses"}


class NormaPeer:
    """Norma on one wire."""

    def __init__(self, arguments: Any) -> None:
        self._wire: str = arguments.wire
        self._variant: str = arguments.variant
        self._stack = AsyncExitStack()
        self._made: dict[str, Any] = {}

    async def close(self) -> None:
        await self._stack.aclose()

    async def text(self, url: str, n: int) -> int:
        return await self._conversation(url)

    async def tool(self, url: str, size: int) -> int:
        return await self._conversation(url)

    async def agent(self, url: str, turns: int) -> int:
        return await self._conversation(url)

    async def first(self, url: str) -> float:
        if self._variant == "reply":
            async for _ in self._deltas(await self._model(url), [], []):
                return float(meter.first_token())
        session = await self._session(url)
        from norma.domain.model.replies import TextDelta

        async with session.prompt(meter.PROMPT) as turn:
            async for event in turn:
                if isinstance(event, TextDelta):
                    return float(meter.first_token())
        return 0.0

    async def _conversation(self, url: str) -> int:
        """All pieces of text and all calls that a host is told of."""
        if self._variant == "reply":
            return await self._by_hand(await self._model(url))
        session = await self._session(url)
        from norma.domain.model.events import ToolCalled
        from norma.domain.model.facts import Limits, TurnEnded
        from norma.domain.model.replies import TextDelta

        count = 0
        counted = (TextDelta, ToolCalled)
        async with session.prompt(meter.PROMPT, limits=Limits(max_turns=None)) as turn:
            async for event in turn:
                if isinstance(event, counted):
                    count += 1
                elif isinstance(event, TurnEnded) and event.outcome != "completed":
                    raise RuntimeError(f"{event.outcome}: {event.error and event.error.message}")
        return count

    async def _session(self, url: str) -> "Session":
        if self._variant == "app":
            return await self._app_session(url)
        if url not in self._made:
            self._made[url] = await self._engine(url)
        session: Session = await self._made[url].session()
        return session

    async def _app_session(self, url: str) -> "Session":
        from norma.app import Settings, open_norma

        if url not in self._made:
            model = {"wire": WIRES[self._wire], "base_url": url, "model": "bench"}
            settings = Settings.from_mapping(
                {
                    "models": {"default": model},
                    "permissions": {"allow": ["echo", "write"]},
                    "network": {"proxy": "none"},
                    "journal": {"path": self._journal_path()},
                }
            )
            norma = await self._stack.enter_async_context(open_norma(settings, environ={}, tools=tools()))
            self._made[url] = norma
        session: Session = await self._made[url].session()
        return session

    async def _engine(self, url: str) -> Any:
        from norma.adapters.journal.sqlite import SqliteJournal
        from norma.adapters.memory.journal import MemoryJournal
        from norma.adapters.schemas.checks import SchemaChecks
        from norma.adapters.system.clock import SystemClock
        from norma.domain.engine.engine import Engine
        from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules
        from norma.ports.journal import Journal

        clock = SystemClock()
        journal: Journal = MemoryJournal(clock)
        if self._variant == "sqlite":
            journal = SqliteJournal(self._journal_path(), clock=clock)
        self._stack.push_async_callback(journal.aclose)
        return Engine(
            model=await self._model(url),
            tools=tools(),
            policy=CurrentPolicy(Policy.of("default", [ScopeRules("session", allow=("echo", "write"))])),
            approver=None,
            journal=journal,
            clock=clock,
            schemas=SchemaChecks(),
        )

    def _journal_path(self) -> str:
        from tempfile import TemporaryDirectory

        return f"{self._stack.enter_context(TemporaryDirectory())}/journal.db"

    async def _model(self, url: str) -> "ChatModel":
        from norma.adapters.http.egress import Egress, NetworkPolicy
        from norma.adapters.system.clock import SystemClock
        from norma.domain.model.secrets import Secret

        if "egress" not in self._made:
            self._made["egress"] = Egress(NetworkPolicy("none"), environ={})
            self._stack.push_async_callback(self._made["egress"].aclose)
        module, name = MODELS[self._wire]
        make = getattr(import_module(module), name)
        model: ChatModel = make(
            self._made["egress"], SystemClock(), base_url=url, model="bench", api_key=Secret("x")
        )
        return model

    async def _by_hand(self, model: "ChatModel") -> int:
        """The loop around the bare model."""
        from norma.domain.model.blocks import Block, Text, ToolCall, ToolResult
        from norma.domain.model.messages import Message

        history: list[Message] = []
        count = 0
        while True:
            blocks: list[Block] = []
            async for _ in self._deltas(model, history, blocks):
                count += 1
            calls = [block for block in blocks if isinstance(block, ToolCall)]
            if not calls:
                return count
            count += len(calls)
            results = [(call.id, meter.run_tool(call.name, call.arguments)) for call in calls]
            history.append(Message("assistant", tuple(blocks)))
            history.append(Message("tool", tuple(ToolResult(id_, (Text(text),)) for id_, text in results)))

    async def _deltas(
        self, model: "ChatModel", history: "list[Message]", blocks: list[Any]
    ) -> AsyncIterator[str]:
        from norma.domain.model.blocks import Text
        from norma.domain.model.messages import Message
        from norma.domain.model.replies import BlockEnded, TextDelta
        from norma.domain.model.requests import ReplyRequest, ToolSpec

        if not history:
            history.append(Message("user", (Text(meter.PROMPT),)))
        if "specs" not in self._made:
            self._made["specs"] = tuple(ToolSpec(*tool) for tool in TOOLS)
        request = ReplyRequest(tuple(history), (), self._made["specs"])
        async with model.reply(request) as reply:
            async for event in reply:
                if isinstance(event, TextDelta):
                    yield event.text
                elif isinstance(event, BlockEnded):
                    blocks.append(event.block)


def tools() -> "list[Tool]":
    """The tools of the works, as a host would write them."""
    from norma.domain.model.actions import Action, Effects, Traits
    from norma.domain.model.requests import ToolSpec
    from norma.ports.tool import Tool, ToolOutput, ToolRun

    class BenchTool(Tool):
        """Touches nothing."""

        def __init__(self, name: str, description: str, schema: Mapping[str, Any]) -> None:
            self._spec = ToolSpec(name, description, schema)

        @property
        def spec(self) -> ToolSpec:
            return self._spec

        @property
        def traits(self) -> Traits:
            return Traits()

        def examine(self, arguments: Mapping[str, Any]) -> Action:
            return Action(self._spec.name, Effects(), f"{self._spec.name} …", self._spec.name)

        async def run(self, run: ToolRun) -> ToolOutput:
            return ToolOutput.of(meter.run_tool(self._spec.name, run.arguments))

    return [BenchTool(*tool) for tool in TOOLS]


if __name__ == "__main__":
    meter.main("norma", NormaPeer, tuple(MODELS))
