"""Which local server is found: the first in order that answers with a model list."""

import asyncio
import json
from collections.abc import Mapping
from typing import cast

import pytest

from norma.adapters.discovery.local import DEADLINE_S, USUAL, LocalServer, find_local_server
from norma.domain.model.failures import Failure
from norma.ports.errors import PortError

OLLAMA, LLAMA_CPP, LM_STUDIO = (candidate.base_url for candidate in USUAL)


def listing(*models: str) -> tuple[int, bytes]:
    return 200, json.dumps({"object": "list", "data": [{"id": model} for model in models]}).encode()


class Silent:
    """Accepts a request and never answers it."""


class Late:
    """Answers only when another request has been answered."""

    def __init__(self, answer: tuple[int, bytes]) -> None:
        self.answer = answer


class Network:
    """Answers by URL; others refuse. Notes what was asked and what is still open."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, float]] = []
        self.open = 0
        self.all_open = asyncio.Event()
        self.one_answered = asyncio.Event()

    async def get(self, url: str, timeout_s: float) -> tuple[int, bytes]:
        self.asked.append((url, timeout_s))
        answer = self.answers.get(url.removesuffix("/models"), ConnectionRefusedError("refused"))
        self.open += 1
        if self.open == len(USUAL):
            self.all_open.set()
        try:
            await self.all_open.wait()  # so a search that asks one after the other finds nobody
            if isinstance(answer, Silent):
                await asyncio.Event().wait()
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, Late):
                await self.one_answered.wait()
                return answer.answer
            self.one_answered.set()
            return cast("tuple[int, bytes]", answer)
        finally:
            self.open -= 1


def test_the_usual_ports_in_their_order():
    ports = [candidate.base_url.removesuffix("/v1").rpartition(":")[2] for candidate in USUAL]
    assert ports == ["11434", "8080", "1234"]


async def test_nobody_there():
    network = Network({})
    assert await find_local_server(network.get) is None
    assert network.asked == [(f"{candidate.base_url}/models", DEADLINE_S) for candidate in USUAL]


async def test_the_first_in_order_wins_though_it_answers_last():
    network = Network({OLLAMA: Late(listing("qwen3")), LLAMA_CPP: listing("other"), LM_STUDIO: Silent()})
    found = await find_local_server(network.get)
    assert found == LocalServer("Ollama", OLLAMA, "qwen3", ("qwen3",))
    assert network.open == 0, "the other requests go on"


async def test_a_later_one_is_found_when_the_first_never_answers():
    network = Network({OLLAMA: Silent(), LM_STUDIO: listing("gemma")})
    found = await find_local_server(network.get)
    assert found is not None
    assert (found.program, found.model) == ("LM Studio", "gemma")


@pytest.mark.parametrize(
    "answer",
    [
        (404, listing("model")[1]),
        (200, b"<html>a web server of mine</html>"),
        (200, b"\xff\xfe"),
        (200, b'{"data": []}'),
        (200, b'{"data": "many"}'),
        (200, b'{"data": [{"name": "no id"}, 7, null]}'),
        (200, b"[]"),
        (401, b'{"error": {"message": "Invalid API Key"}}'),
        ConnectionResetError("reset"),
        TimeoutError(),
        PortError(Failure("network", "unknown host", "transport")),
    ],
)
async def test_what_is_no_model_list_does_not_count(answer):
    assert await find_local_server(Network({LLAMA_CPP: answer}).get) is None


async def test_a_model_for_embeddings_is_not_chosen():
    network = Network({OLLAMA: listing("nomic-embed-text", "llama3.2")})
    found = await find_local_server(network.get)
    assert found is not None
    assert found.model == "llama3.2"
    assert await find_local_server(Network({OLLAMA: listing("nomic-embed-text")}).get) is None


async def test_a_fault_of_ours_is_not_taken_for_an_absent_server():
    with pytest.raises(ExceptionGroup) as caught:
        await find_local_server(Network({OLLAMA: ZeroDivisionError()}).get)
    assert caught.group_contains(ZeroDivisionError)


async def test_a_cancelled_search_leaves_no_request():
    network = Network({candidate.base_url: Silent() for candidate in USUAL})
    search = asyncio.create_task(find_local_server(network.get))
    await network.all_open.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert network.open == 0
