"""
Find a local model server that already answers.

Only the three usual ports are tried, on loopback, all at once and each for a moment. A server counts if
`/v1/models` answers with a model list that holds a model for conversations.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from norma.domain.model.values import frozen
from norma.ports.errors import PortError

Get = Callable[[str, float], Awaitable[tuple[int, bytes]]]
"""GET a URL within a number of seconds: status and body. Raises OSError, TimeoutError or PortError."""

DEADLINE_S = 0.3


@frozen
class Candidate:
    """A program, and where it listens unless it was told otherwise."""

    program: str
    base_url: str


USUAL = (
    Candidate("Ollama", "http://127.0.0.1:11434/v1"),
    Candidate("llama.cpp", "http://127.0.0.1:8080/v1"),
    Candidate("LM Studio", "http://127.0.0.1:1234/v1"),
)
"""In the order of preference."""


@frozen
class LocalServer:
    """A server that answered: *models* as it lists them, *model* the first that can hold a conversation."""

    program: str
    base_url: str
    model: str
    models: tuple[str, ...]


async def find_local_server(get: Get, candidates: Sequence[Candidate] = USUAL) -> LocalServer | None:
    """
    The first of *candidates*, in their order, that answers as a model server; None if none does.

    Takes no longer than the deadline of one. A cancelled search leaves no request behind.
    """
    async with asyncio.TaskGroup() as group:
        tries = [group.create_task(_try(get, candidate)) for candidate in candidates]
        for one in tries:
            server = await one
            if server is not None:
                for other in tries:
                    other.cancel()
                return server
    return None


async def _try(get: Get, candidate: Candidate) -> LocalServer | None:
    try:
        async with asyncio.timeout(DEADLINE_S):
            status, body = await get(f"{candidate.base_url}/models", DEADLINE_S)
    except (OSError, TimeoutError, PortError):
        return None  # nobody there, or nobody who is quick enough to be useful
    models = _models_in(body) if status == 200 else ()
    usable = [model for model in models if not _is_for_embeddings(model)]
    return LocalServer(candidate.program, candidate.base_url, usable[0], models) if usable else None


def _models_in(body: bytes) -> tuple[str, ...]:
    """The ids of an OpenAI-style model list; empty for anything else."""
    try:
        answer: Any = json.loads(body)
    except ValueError:
        return ()
    match answer:
        case {"data": list(rows)}:
            return tuple(
                row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)
            )
        case _:
            return ()


def _is_for_embeddings(model: str) -> bool:
    """Whether its name says that it only makes vectors, as those of Ollama and LM Studio do."""
    return "embed" in model.lower()
