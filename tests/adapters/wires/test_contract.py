"""The models of all three wires keep the promises of their port, over real sockets."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from norma.adapters.http.egress import Egress
from norma.adapters.memory.clock import ManualClock
from norma.ports.contracts import model as kit
from norma.ports.contracts.pytest import contract
from norma.ports.model import ChatModel
from tests.adapters.wires.answers import (
    block,
    call_block,
    called,
    chunk,
    events,
    item,
    message,
    message_start,
    response,
    said,
    stream,
    text_block,
    unnamed,
)
from tests.rigs.wire_models import WIRES, an_egress
from tests.rigs.wire_server import JSON, Scripted, WireServer, wire_server

_PIECES = [f"{word} " for word in kit.WORDS.split(" ")[:-1]] + [kit.WORDS.split(" ")[-1]]
_GIVEN = [json.dumps(value) for value in kit.ARGUMENTS]


def _chat_call(index: int, arguments: str) -> dict[str, object]:
    function = {"name": "Look", "arguments": arguments}
    return chunk(tool_calls=[{"index": index, "id": f"call_{index}", "function": function}])


_THINKING = block(
    0, {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "Let me see."}
)
_REASONING = item(
    0,
    {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "Let me see."}]},
    {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": "Let me see."},
)

_STREAMS: Mapping[str, tuple[bytes, bytes, bytes]] = {
    "anthropic": (
        message(_THINKING, text_block(1, *_PIECES)),
        message(
            text_block(0, kit.BEFORE),
            *(call_block(at, f"call_{at}", "Look", text) for at, text in enumerate(_GIVEN, 1)),
            reason="tool_use",
        ),
        events(message_start(), *text_block(0, kit.BEFORE)[:-1]),
    ),
    "openai-chat": (
        unnamed(
            chunk(reasoning="Let me see."),
            *(chunk(content=piece) for piece in _PIECES),
            chunk("stop"),
            "[DONE]",
        ),
        unnamed(
            chunk(content=kit.BEFORE),
            *(_chat_call(at, text) for at, text in enumerate(_GIVEN)),
            chunk("tool_calls"),
            "[DONE]",
        ),
        unnamed(chunk(content=kit.BEFORE)),
    ),
    "openai-responses": (
        response(_REASONING, said(1, *_PIECES)),
        response(
            said(0, kit.BEFORE),
            *(called(at, f"call_{at}", "Look", text) for at, text in enumerate(_GIVEN, 1)),
        ),
        events(*said(0, kit.BEFORE)[:-1]),
    ),
}
"""Of each wire: words, calls, and words that break off."""


def _situations(wire: str) -> dict[kit.Situation, Scripted]:
    words, calls, begun = _STREAMS[wire]
    return {
        "words": stream(words),
        "calls": stream(calls),
        "dropped": stream(begun),
        "refused": Scripted([b'{"error": {"message": "no such key"}}'], 401, JSON),
        "stalled": stream(begun, end="hold_open"),
    }


class WireRig(kit.ModelRig):
    """A scripted server and the model that asks it."""

    def __init__(self, wire: str, server: WireServer, egress: Egress) -> None:
        self._make = WIRES[wire]
        self._server = server
        self._egress = egress

    def model(self, situation: kit.Situation) -> ChatModel:
        url = f"{self._server.url}/{situation}"
        return self._make(self._egress, ManualClock(), base_url=url, model="m", api_key=None)

    def requests(self) -> int:
        return len(self._server.requests)

    def open(self) -> int:
        return self._server.open_answers


def _over_a_socket(wire: str) -> Callable[[str], AbstractAsyncContextManager[kit.ModelRig]]:
    @asynccontextmanager
    async def rig(_: str) -> AsyncIterator[kit.ModelRig]:
        async with wire_server(Scripted()) as server, an_egress() as egress:
            server.by_path = {f"/{situation}/": answer for situation, answer in _situations(wire).items()}
            yield WireRig(wire, server, egress)

    return rig


test_the_messages_model_keeps_the_promises_of_its_port = contract(kit.CHECKS, _over_a_socket("anthropic"))
test_the_chat_model_keeps_the_promises_of_its_port = contract(kit.CHECKS, _over_a_socket("openai-chat"))
test_the_responses_model_keeps_the_promises_of_its_port = contract(
    kit.CHECKS, _over_a_socket("openai-responses")
)
