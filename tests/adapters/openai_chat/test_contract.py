"""The chat model keeps the promises of its port, over a real socket."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.http.egress import Egress
from norma.adapters.memory.clock import ManualClock
from norma.adapters.openai_chat.model import OpenAIChatModel
from norma.ports.contracts import model as kit
from norma.ports.contracts.pytest import contract
from norma.ports.model import ChatModel
from tests.rigs.wire_models import an_egress
from tests.rigs.wire_server import JSON, Scripted, WireServer, sse, wire_server


def _delta(finish: str | None = None, **fields: object) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def _call(index: int, arguments: str) -> str:
    function = {"name": "Look", "arguments": arguments}
    return _delta(tool_calls=[{"index": index, "id": f"call_{index}", "function": function}])


_BEFORE = _delta(content=kit.BEFORE)
_SITUATIONS: dict[kit.Situation, Scripted] = {
    "words": Scripted(
        [
            sse(_delta(reasoning="Let me think.")),
            *(sse(_delta(content=f"{word} ")) for word in kit.WORDS.split(" ")[:-1]),
            sse(_delta(content=kit.WORDS.split(" ")[-1]), _delta("stop"), "[DONE]"),
        ]
    ),
    "calls": Scripted(
        [
            sse(_BEFORE, *(_call(at, json.dumps(value)) for at, value in enumerate(kit.ARGUMENTS))),
            sse(_delta("tool_calls"), "[DONE]"),
        ]
    ),
    "dropped": Scripted([sse(_BEFORE)]),
    "refused": Scripted([b'{"error": {"message": "no such key"}}'], 401, JSON),
    "stalled": Scripted([sse(_BEFORE)], end="hold_open"),
}


class ChatRig(kit.ModelRig):
    """A scripted server and the model that asks it."""

    def __init__(self, server: WireServer, egress: Egress) -> None:
        self._server = server
        self._egress = egress

    def model(self, situation: kit.Situation) -> ChatModel:
        url = f"{self._server.url}/{situation}"
        return OpenAIChatModel(self._egress, ManualClock(), base_url=url, model="m", api_key=None)

    def requests(self) -> int:
        return len(self._server.requests)

    def open(self) -> int:
        return self._server.open_answers


@asynccontextmanager
async def over_a_socket(_: str) -> AsyncIterator[kit.ModelRig]:
    async with wire_server(Scripted()) as server, an_egress() as egress:
        server.by_path = {f"/{situation}/": answer for situation, answer in _SITUATIONS.items()}
        yield ChatRig(server, egress)


test_the_chat_model_keeps_the_promises_of_its_port = contract(kit.CHECKS, over_a_socket)
