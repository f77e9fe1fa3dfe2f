"""
A model's server on loopback that costs next to nothing, so that the client is what is measured.

    http://127.0.0.1:PORT/<kind>-<n>-<size>-<mode>[/v1]/{chat/completions,messages,responses}

Each answer is rendered once and then sent as stored bytes. Nothing is remembered of a conversation: its
place is read from the last call's id in the request. Modes: `event`, an HTTP chunk for each event, 16 KiB
at a time; `large`, chunks of 32 KiB; `tiny`, chunks of 37 bytes, both cut anywhere; `paced`, one event a
millisecond. `GET /stats` gives the server's own CPU seconds, to show that it was not what was measured.
"""

import asyncio
import json
import re
import resource
from contextlib import suppress
from functools import lru_cache
from typing import cast

from tests.benchmarks.scenarios import MARK, RENDERED, said

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_LAST = b"0\r\n\r\n"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_LENGTH = re.compile(rb"(?i)\r\ncontent-length:\s*(\d+)")
_WIRES = {b"chat/completions": "chat", b"messages": "messages", b"responses": "responses"}
_SCENARIO = re.compile(
    rb"/(text|tool|agent)-(\d+)-(\d+)-(event|large|tiny|paced)(?:/v1)?/(chat/completions|messages|responses)"
)
PACE_S = 0.001


@lru_cache(maxsize=8192)
def rendered(wire: str, kind: str, n: int, size: int, mode: str, done: int) -> tuple[bytes, ...]:
    """An answer as the pieces that are sent, one after the other."""
    events = [event.encode() for event in RENDERED[wire](said(kind, n, size, done))]
    if mode == "paced":
        first, *rest = [_chunk(event) for event in events]
        return (_HEAD + first, *rest[:-1], rest[-1] + _LAST)
    if mode == "event":
        return _slices(_HEAD + b"".join(map(_chunk, events)) + _LAST, 16 << 10)
    step = 37 if mode == "tiny" else 32 << 10
    body = b"".join(_chunk(piece) for piece in _slices(b"".join(events), step))
    return _slices(_HEAD + body + _LAST, 64 << 10)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _slices(data: bytes, step: int) -> tuple[bytes, ...]:
    return tuple(data[at : at + step] for at in range(0, len(data), step))


class Connection(asyncio.Protocol):
    """One client's connection; requests on it come one after the other."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._head: bytes | None = None
        self._parts: list[bytes] = []
        self._missing = 0
        self._pacing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._pacing is not None:
            self._pacing.cancel()

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        if self._head is None:
            head, end, body = b"".join(self._parts).partition(b"\r\n\r\n")
            if not end:
                return
            found = _LENGTH.search(head)
            self._head, self._parts = head, [body]
            self._missing = (int(found[1]) if found else 0) - len(body)
        else:
            self._missing -= len(data)
        if self._missing <= 0:
            head, body = self._head, b"".join(self._parts)
            self._head, self._parts = None, []
            self._answer(head.split(b" ", 2)[1].partition(b"?")[0], body)

    def _answer(self, target: bytes, body: bytes) -> None:
        if target == b"/stats":
            self._transport.write(_stats())
            return
        scenario = _SCENARIO.fullmatch(target)
        if scenario is None:
            self._transport.write(_NOT_FOUND)
            return
        kind, n, size, mode, wire = scenario.groups()
        at = body.rfind(MARK.encode())
        done = 0 if at < 0 else int(body[at + len(MARK) : at + len(MARK) + 5])
        pieces = rendered(_WIRES[wire], kind.decode(), int(n), int(size), mode.decode(), done)
        if mode == b"paced":
            self._pacing = asyncio.ensure_future(self._pace(pieces))
        else:
            self._transport.writelines(pieces)

    async def _pace(self, pieces: tuple[bytes, ...]) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for piece in pieces:
            self._transport.write(piece)
            due += PACE_S
            await asyncio.sleep(max(0.0, due - loop.time()))


def _stats() -> bytes:
    use = resource.getrusage(resource.RUSAGE_SELF)
    body = json.dumps({"cpu_seconds": use.ru_utime + use.ru_stime}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )


async def serve() -> None:
    """Listen on a free port, say which, and serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(serve())
