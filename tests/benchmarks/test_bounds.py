"""
Bounds ten times as wide as the goals of `make bench`, in the ordinary tests: they catch work that grows with
the square of something, or that is done for nothing, and no busy machine can break them.

Most count function calls, which no other process changes; the two that compare times do so with a work of the
same size in this process, many times over.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.openai_chat.codec import ChatCodec
from norma.adapters.schemas.checks import SchemaChecks
from norma.adapters.system.clock import SystemClock
from norma.adapters.wires.profiles import profile_for
from norma.domain.engine.engine import Engine
from norma.domain.engine.session import Session
from norma.domain.model.blocks import Text, ToolCall, ToolResult
from norma.domain.model.facts import Limits, TurnEnded
from norma.domain.model.messages import Message
from norma.domain.model.replies import BlockEnded, TextDelta
from norma.domain.model.requests import ReplyRequest, ToolSpec
from norma.domain.model.secrets import Secret
from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules
from tests.benchmarks import meter
from tests.benchmarks.norma_peer import tools
from tests.benchmarks.scenarios import chat, said

SPECS = tuple(ToolSpec(*tool) for tool in meter.TOOLS)


def codec() -> ChatCodec:
    return ChatCodec(
        base_url="http://h.test/v1", model="m", api_key=Secret("k"), profile=profile_for("compatible")
    )


def stream(kind: str, n: int, size: int = 0) -> bytes:
    return "".join(chat(said(kind, n, size, 0))).encode()


def decoded(data: bytes) -> list[Any]:
    """The events of an answer that comes in pieces of 16 KB."""
    speaker = codec()
    decoding = speaker.decoding(speaker.encode(asking()), lambda: "id", frozenset())
    for at in range(0, len(data), 16 << 10):
        decoding.feed(data[at : at + (16 << 10)])
    return list(decoding.events)


def asking(turns: int = 0) -> ReplyRequest:
    history = [Message("user", (Text("q"),))]
    for turn in range(turns):
        history.append(Message("assistant", (ToolCall(f"c{turn}", "echo", {"text": "x"}),)))
        history.append(Message("tool", (ToolResult(f"c{turn}", (Text("x"),)),)))
    return ReplyRequest(tuple(history), (), SPECS)


class Calls:
    """Counts the function calls of what runs inside."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Self:
        sys.setprofile(self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _seen(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.count += 1


def calls_of(work: Callable[[], object]) -> int:
    work()  # what is imported, compiled or kept at the first time is not what is counted
    with Calls() as calls:
        work()
    return calls.count


def seconds_of(work: Callable[[], object], times: int = 5) -> float:
    """The least of several, in CPU time."""
    took = []
    for _ in range(times):
        before = time.process_time()
        work()
        took.append(time.process_time() - before)
    return min(took)


def test_a_piece_of_text_takes_few_calls() -> None:
    data = stream("text", 2000)
    assert sum(isinstance(event, TextDelta) for event in decoded(data)) == 2000
    assert calls_of(lambda: decoded(data)) < 2000 * 100  # it is 20


def test_a_piece_of_text_costs_little_beside_its_parse() -> None:
    data = stream("text", 2000)
    events = [event[6:] for event in data.split(b"\n\n") if event.startswith(b"data: {")]
    parsed = seconds_of(lambda: [json.loads(event) for event in events])
    assert (
        seconds_of(lambda: decoded(data)) < 20 * parsed
    )  # it is two thirds of that: ours is a quicker parser


def test_M12_arguments_cost_as_much_as_they_are_long() -> None:
    small, large = stream("tool", 1000, 50 << 10), stream("tool", 4000, 200 << 10)
    (block,) = [event.block for event in decoded(large) if isinstance(event, BlockEnded)]
    assert isinstance(block, ToolCall)
    assert len(block.arguments["content"]) > 150 << 10
    assert calls_of(lambda: decoded(large)) < 5 * calls_of(lambda: decoded(small))


def test_M12_arguments_are_not_copied_with_each_piece() -> None:
    """Copies of all that has come would be 64 times as much for 8 times as many pieces."""
    small, large = stream("tool", 2000, 100 << 10), stream("tool", 16000, 800 << 10)
    assert seconds_of(lambda: decoded(large), 3) < 40 * seconds_of(lambda: decoded(small))


def test_a_request_costs_what_is_new_in_it() -> None:
    """Not as much as the conversation is long."""
    speaker, long = codec(), asking(200)
    counts = []
    for turn in range(201):
        request = ReplyRequest(long.messages[: 1 + 2 * turn], (), SPECS)
        with Calls() as calls:
            speaker.encode(request)
        counts.append(calls.count)
    assert counts[200] < 2 * counts[20]


def engine(journal: MemoryJournal, turns: int) -> Engine:
    def script(request: ReplyRequest) -> Any:
        turn = sum(message.role == "tool" for message in request.messages)
        words = say("I take the next step", 5)
        return (*words, *call(f"c{turn}", "echo", {"text": "x"}), *end("tool_use")) if turn < turns else end()

    return Engine(
        model=ScriptedModel(script),
        tools=tools(),
        policy=CurrentPolicy(Policy.of("default", [ScopeRules("session", allow=("echo",))])),
        approver=None,
        journal=journal,
        clock=SystemClock(),
        schemas=SchemaChecks(),
    )


async def conversation(session: Session) -> None:
    async with session.prompt("q", limits=Limits(max_turns=None)) as turn:
        async for event in turn:
            if isinstance(event, TurnEnded):
                assert event.outcome == "completed"


async def turn_calls(turns: int) -> int:
    """Calls of a whole conversation, those of the script left aside as far as can be."""
    session = await engine(MemoryJournal(), turns).session()
    with Calls() as calls:
        await conversation(session)
    return calls.count


async def test_a_turn_takes_a_bounded_number_of_calls_however_long_the_conversation() -> None:
    await turn_calls(1)
    short, long = await turn_calls(20), await turn_calls(100)
    assert short / 20 < 12_000  # it is 1,400
    assert long / 100 < 2 * short / 20


async def test_S1_a_turn_of_the_model_is_few_entries_and_each_holds_only_what_is_new() -> None:
    journal = MemoryJournal()
    session = await engine(journal, 50).session()
    await conversation(session)
    entries = journal.entries(session.id)
    assert len(entries) < 10 * 51  # it is 3 a turn
    assert max(map(len, entries)) < 20


def test_importing_app_costs_little_beside_what_it_leaves_for_later() -> None:
    def importing(code: str) -> float:
        program = f"import time; before = time.process_time(); {code}; print(time.process_time() - before)"
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        return float(done.stdout)

    ours = min(importing("from norma.app import Settings, open_norma") for _ in range(2))
    assert ours < 5 * min(importing("import aiohttp, orjson") for _ in range(2))
