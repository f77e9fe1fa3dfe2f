"""A loopback server of the chat wire that is always in one situation, and knows what is open."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from norma.ports.contracts.model import ARGUMENTS, BEFORE, WORDS, Situation


class SituationServer:
    """Meets every request with *situation*; `requests` and `open` count as the provider sees it."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests = 0
        self.open = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await _request(reader):
                self.requests += 1
                self.open += 1
                try:
                    await self._answer(reader, writer)
                finally:
                    self.open -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone, which is what some checks are about
        except asyncio.CancelledError:
            pass  # the check is over; asyncio's streams would report it
        finally:
            self._tasks.discard(task)
            writer.close()

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._situation == "refused":
            body = b'{"error": {"message": "no such model", "type": "invalid_request_error"}}'
            head = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % len(body) + body)
            await writer.drain()
            return
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for event in _EVENTS[self._situation]:
            data = f"data: {event}\n\n".encode()
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
        if self._situation == "stalled":
            await reader.read()  # until the client closes
            raise ConnectionResetError
        writer.write(b"0\r\n\r\n")
        await writer.drain()


@asynccontextmanager
async def situation_server(situation: Situation) -> AsyncIterator[SituationServer]:
    """A running server on a free port of the loopback address."""
    made = SituationServer(situation)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield made
    finally:
        server.close()
        await made.stop()


async def _request(reader: asyncio.StreamReader) -> bool:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    except asyncio.IncompleteReadError:
        return False
    length = next(line.partition(":")[2] for line in head.split("\r\n") if line.startswith("content-length"))
    await reader.readexactly(int(length))
    return True


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return json.dumps(
        {"id": "r1", "object": "chat.completion.chunk", "model": "m",
         "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    )  # fmt: skip


def _said(text: str) -> list[str]:
    cuts = [text[at : at + 9] for at in range(0, len(text), 9)]
    return [_chunk({"role": "assistant", "content": ""}), *(_chunk({"content": cut}) for cut in cuts)]


def _called(number: int, arguments: Any) -> list[str]:
    text = json.dumps(arguments)
    begin = {"index": number, "id": f"call_{number}", "type": "function"}
    pieces = (text[:5], text[5:])
    return [
        _chunk({"tool_calls": [{**begin, "function": {"name": "Look", "arguments": ""}}]}),
        *(_chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]}) for piece in pieces),
    ]


_EVENTS: dict[str, list[str]] = {
    "words": [*_said(WORDS), _chunk({}, "stop"), "[DONE]"],
    "calls": [
        *_said(BEFORE),
        *(event for number, made in enumerate(ARGUMENTS) for event in _called(number, made)),
        _chunk({}, "tool_calls"),
        "[DONE]",
    ],
    "dropped": _said(BEFORE),
    "stalled": _said(BEFORE),
}
