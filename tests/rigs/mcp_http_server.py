"""A tool server over Streamable HTTP, scripted by how it answers, that notes all it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Handler = Callable[["HttpPeer", web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

INIT = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "http"}}
TOOLS = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}


class HttpPeer:
    """Answers the handshake and the list by itself; calls go to *on_call*, streams by GET to *on_get*."""

    def __init__(self) -> None:
        self.url = ""
        self.session = 1
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.on_call: Handler = answered
        self.on_get: Callable[[HttpPeer, web.Request], Awaitable[web.StreamResponse]] = no_stream
        self.init: Any = INIT

    def seen(self, method: str) -> list[Any]:
        """The headers of each request of that HTTP method."""
        return [headers for verb, headers, _ in self.requests if verb == method]

    @property
    def said(self) -> list[str]:
        """The methods of the frames, in order."""
        return [body["method"] for verb, _, body in self.requests if verb == "POST" and "method" in body]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"null")
        self.requests.append((request.method, dict(request.headers), body))
        if request.method == "GET":
            return await self.on_get(self, request)
        if request.method == "DELETE":
            return web.Response(status=200)
        if body.get("method") == "initialize":
            headers = {"Mcp-Session-Id": f"s{self.session}"}
            return web.json_response(result(body, self.init), headers=headers)
        if request.headers.get("Mcp-Session-Id") != f"s{self.session}":
            return web.Response(status=404)
        if "id" not in body or "method" not in body:
            return web.Response(status=202)
        if body["method"] == "tools/list":
            return web.json_response(result(body, TOOLS))
        return await self.on_call(self, request, body)


def result(body: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": body["id"], "result": value}


def text(body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a call of echo."""
    said = body["params"]["arguments"].get("text", "")
    return result(body, {"content": [{"type": "text", "text": said}]})


async def answered(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return web.json_response(text(body))


async def no_stream(peer: HttpPeer, request: web.Request) -> web.StreamResponse:
    return web.Response(status=405)


async def streamed(request: web.Request, *pieces: str | bytes, drop: bool = False) -> web.StreamResponse:
    """An event stream of these pieces; with *drop* the connection is cut behind them."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in pieces:
        await response.write(piece if isinstance(piece, bytes) else piece.encode())
    if drop and request.transport is not None:
        await asyncio.sleep(0)
        request.transport.close()
    return response


def event(frame: Any, number: str | None = None) -> str:
    """One event."""
    return (f"id: {number}\n" if number is not None else "") + f"data: {json.dumps(frame)}\n\n"


@asynccontextmanager
async def http_peer() -> AsyncIterator[HttpPeer]:
    """A peer on a free port of this machine."""
    peer = HttpPeer()
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/mcp", peer.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        peer.url = f"http://127.0.0.1:{port}/mcp"
        yield peer
    finally:
        await runner.cleanup()
