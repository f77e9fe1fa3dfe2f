"""
A model server that follows a script: raw bytes over a real socket, so that a test decides each chunk,
each reset and each silence. Fixtures of tests/fixtures/model-wires name what it can do.
"""

import asyncio
import base64
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, field, frozen

from tests.rigs.listening import listening

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}
JSON = {"Content-Type": "application/json"}


@frozen
class Scripted:
    """
    One answer. *action* "close" or "reset" ends the connection before the headers; *end* says what comes
    after the chunks: "clean", "reset", or "hold_open" (nothing, until the client closes). *repeat* is sent
    every *every_s* seconds after the chunks.
    """

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(factory=lambda: dict(EVENT_STREAM))
    end: str = "clean"
    action: str = "respond"
    repeat: bytes = b""
    every_s: float = 0.02


@frozen
class Seen:
    """A request as it came."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for known, value in self.headers if known.lower() == name.lower()]
        assert len(found) < 2, f"{name} came {len(found)} times"
        return found[0] if found else None


@define
class WireServer:
    """
    Answers one request after another; beyond the script it repeats the last answer. *by_path* answers
    instead what is asked below its paths.
    """

    script: Sequence[Scripted]
    by_path: Mapping[str, Scripted] = field(factory=dict)
    url: str = ""
    requests: list[Seen] = field(factory=list)
    connections: int = 0
    open_answers: int = 0
    """Answers that were begun and are neither at their end nor closed by the client."""
    client_closed: asyncio.Event = field(factory=asyncio.Event)
    """Set when a client closes a connection on which an answer was not at its end."""
    asked: asyncio.Event = field(factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            while (seen := await _read_request(reader)) is not None:
                answer = self._next_answer(seen)
                self.requests.append(seen)
                self.asked.set()
                self.open_answers += 1
                try:
                    goes_on = await self._answer(answer, reader, writer)
                finally:
                    self.open_answers -= 1
                if not goes_on:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_closed.set()

    def _next_answer(self, seen: Seen) -> Scripted:
        for path, answer in self.by_path.items():
            if seen.target.startswith(path):
                return answer
        return self.script[min(len(self.requests), len(self.script) - 1)]

    async def _answer(
        self, answer: Scripted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Give *answer*; whether the connection goes on."""
        if answer.action == "close":
            return False
        if answer.action == "reset":
            _reset(writer)
            return False
        head = [f"HTTP/1.1 {answer.status} Whatever", "Transfer-Encoding: chunked"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join([*head, "", ""]).encode())
        for chunk in answer.chunks:
            await _send(writer, chunk)
        if answer.end == "reset":
            await _flushed(writer)
            _reset(writer)
            return False
        if answer.end == "hold_open":
            await self._hold(answer, reader, writer)
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _hold(
        self, answer: Scripted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        closed = asyncio.ensure_future(reader.read())
        try:
            while answer.repeat and not closed.done():
                await _send(writer, answer.repeat)
                await asyncio.wait([closed], timeout=answer.every_s)
            await closed
        except ConnectionError:
            pass
        finally:
            closed.cancel()
        self.client_closed.set()


@asynccontextmanager
async def wire_server(*script: Scripted, tls: ssl.SSLContext | None = None) -> AsyncIterator[WireServer]:
    """A running server on a free port of the loopback address."""
    rig = WireServer(script)
    async with listening(rig.serve, ssl=tls) as address:
        rig.url = f"http{'s' if tls else ''}://{address}"
        yield rig


def scripted(fixture: Mapping[str, Any]) -> Scripted:
    """An answer as a fixture describes it."""
    action = fixture.get("action", "respond")
    return Scripted(
        chunks_of(fixture),
        fixture.get("status", 200),
        fixture.get("headers", {}),
        fixture.get("end", "clean"),
        {"close_before_headers": "close", "reset_before_headers": "reset"}.get(action, action),
        fixture.get("repeat_text", "").encode(),
        fixture.get("then_every_s", 0.02),
    )


def chunks_of(fixture: Mapping[str, Any]) -> list[bytes]:
    """The chunks of a fixture's answer."""
    if "chunks" in fixture:
        chunks = [base64.b64decode(chunk) for chunk in fixture["chunks"]]
    else:
        chunks = [
            (entry if isinstance(entry, str) else entry["repeat"] * entry["times"]).encode()
            for entry in fixture.get("text", ())
        ]
    size = fixture.get("rechunk")
    if size:
        whole = b"".join(chunks)
        chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
    return chunks


def sse(*events: str) -> bytes:
    """Events of the chat wire, each given as its JSON."""
    return b"".join(f"data: {event}\n\n".encode() for event in events)


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    return Seen(method, target, headers, await reader.readexactly(length))


async def _send(writer: asyncio.StreamWriter, chunk: bytes) -> None:
    if chunk:
        writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
    await asyncio.sleep(0)


async def _flushed(writer: asyncio.StreamWriter) -> None:
    writer.transport.set_write_buffer_limits(high=0)
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
