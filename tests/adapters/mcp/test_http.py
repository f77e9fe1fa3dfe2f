"""Streamable HTTP: sessions, streams that go on, and what a status means (N8, P1, P3 to P6, P8)."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from norma.adapters.http.call import CallReport
from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.mcp.http import HttpChannel
from norma.adapters.mcp.restarts import RestartPolicy
from norma.adapters.mcp.server import McpServer
from norma.adapters.system.clock import SystemClock
from norma.domain.model.blocks import text_of
from norma.domain.model.secrets import Secret
from norma.ports.tool_server import Offers, OutcomeUnknown, ServerFailed
from tests.rigs.mcp_http_server import HttpPeer, event, http_peer, result, streamed, text
from tests.rigs.mcp_servers import BOUND_S, until


@pytest.fixture
async def peer() -> AsyncIterator[HttpPeer]:
    async with http_peer() as made:
        yield made


class Way:
    """A server behind a URL, with the egress that it goes through."""

    def __init__(self, url: str, **more: Any) -> None:
        self.reports: list[CallReport] = []
        self.egress = Egress(NetworkPolicy("none"), environ={}, report=self.reports.append)
        clock = SystemClock()
        headers: dict[str, str | Secret] = {"Authorization": Secret("Bearer canary"), "X-Mine": "1"}
        more = {
            "request_s": BOUND_S,
            "call_s": BOUND_S,
            "restarts": RestartPolicy(2, first_wait_s=0.01),
            **more,
        }
        self.server = McpServer(
            "h", url, lambda: HttpChannel("h", url, headers, self.egress, clock), clock, **more
        )

    async def __aenter__(self) -> McpServer:
        return self.server

    async def __aexit__(self, *error: object) -> None:
        before = asyncio.current_task()
        await self.server.aclose()
        await self.egress.aclose()
        assert self.server.waiting == 0
        assert not [
            task for task in asyncio.all_tasks() if "HttpChannel" in repr(task) and task is not before
        ]


async def echoed(server: McpServer, said: str = "hi") -> None:
    output = await server.call("echo", {"text": said})
    assert (text_of(output.blocks), output.is_error) == (said, False)


async def test_P1_the_order_the_session_and_the_goodbye(peer: HttpPeer) -> None:
    async with Way(peer.url) as server:
        await server.connect()
        await echoed(server)
        await until(lambda: peer.seen("GET"), "the stream")
    assert peer.said == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    first, *rest = peer.seen("POST")
    assert "Mcp-Session-Id" not in first
    for headers in (*rest, *peer.seen("GET"), *peer.seen("DELETE")):
        assert headers["Mcp-Session-Id"] == "s1"
        assert headers["MCP-Protocol-Version"] == "2025-06-18"
        assert headers["Authorization"] == "Bearer canary"
        assert headers["X-Mine"] == "1"
    assert len(peer.seen("DELETE")) == 1


async def test_N8_every_call_goes_through_the_egress(peer: HttpPeer) -> None:
    way = Way(peer.url)
    async with way as server:
        await server.connect()
        await echoed(server)
        await until(lambda: peer.seen("GET"), "the stream")
    assert sorted(report.method for report in way.reports) == sorted(verb for verb, _, _ in peer.requests)


async def test_P3_an_answer_in_a_stream_with_progress_and_a_question_before_it(peer: HttpPeer) -> None:
    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        token = body["params"]["_meta"]["progressToken"]
        progress = {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}
        ask = {"jsonrpc": "2.0", "id": "q", "method": "roots/list"}
        return await streamed(request, event(progress), event(ask), event(text(body)))

    peer.on_call = on_call
    seen: list[str] = []
    async with Way(peer.url, offers=Offers(roots=("/w",))) as server:
        await server.connect()
        output = await server.call("echo", {"text": "x"}, seen.append)
        assert text_of(output.blocks) == "x"
        await until(lambda: [b for _, _, b in peer.requests if b and b.get("id") == "q"], "the answer")
    assert seen == ["1"]
    (answer,) = (body for _, _, body in peer.requests if body and body.get("id") == "q")
    assert answer["result"]["roots"][0]["uri"] == "file:///w"


async def test_a_stream_that_breaks_goes_on_where_it_was(peer: HttpPeer) -> None:
    waiting: list[dict[str, Any]] = []

    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        waiting.append(body)
        return await streamed(request, "retry: 1\n", event({"method": "x"}, "e7"), drop=True)

    async def on_get(peer: HttpPeer, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Last-Event-ID") == "e7":
            return await streamed(request, event(text(waiting[0]), "e8"))
        return web.Response(status=405)

    peer.on_call, peer.on_get = on_call, on_get
    async with Way(peer.url) as server:
        await server.connect()
        await echoed(server, "after the break")
    assert len(waiting) == 1


async def test_P8_a_stream_that_can_not_go_on_is_an_unknown_outcome_and_not_repeated(peer: HttpPeer) -> None:
    calls: list[Any] = []

    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        calls.append(body)
        return await streamed(request, event({"method": "x"}), drop=len(calls) == 1)

    peer.on_call = on_call
    async with Way(peer.url) as server:
        await server.connect()
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match="unknown"):
                await server.call("echo", {})
    assert len(calls) == 2


async def test_P8_a_session_that_was_forgotten_is_begun_anew_and_nothing_is_lost(peer: HttpPeer) -> None:
    async with Way(peer.url) as server:
        await server.connect()
        await echoed(server)
        peer.session = 2
        await echoed(server, "again")
    assert peer.said.count("initialize") == 2
    assert peer.seen("DELETE")[-1]["Mcp-Session-Id"] == "s2"


@pytest.mark.parametrize(
    ("status", "kind", "word", "unknown"),
    [
        (401, "authentication", "headers", False),
        (403, "permission", "headers", False),
        (400, "invalid_request", "HTTP 400", False),
        (429, "rate_limited", "HTTP 429", False),
        (302, "server", "elsewhere.example", False),
        (500, "server", "HTTP 500", True),
        (502, "server", "HTTP 502", True),
    ],
)
async def test_what_a_status_means(peer: HttpPeer, status: int, kind: str, word: str, unknown: bool) -> None:
    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": "http://elsewhere.example/x"})

    peer.on_call = on_call
    async with Way(peer.url) as server:
        await server.connect()
        with pytest.raises(ServerFailed, match=word) as caught:
            await server.call("echo", {})
    assert caught.value.failure.kind == kind
    assert isinstance(caught.value, OutcomeUnknown) is unknown
    assert "canary" not in str(caught.value)


async def test_P3_an_error_answer_with_a_bad_status_is_an_error_result(peer: HttpPeer) -> None:
    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        error = {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32602, "message": "bad input"}}
        return web.json_response(error, status=400)

    peer.on_call = on_call
    async with Way(peer.url) as server:
        await server.connect()
        output = await server.call("echo", {})
    assert (output.is_error, text_of(output.blocks)) == (True, "bad input (code -32602)")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"id":"other","result":{}}'])
async def test_P4_an_answer_that_is_none(peer: HttpPeer, body: bytes) -> None:
    async def on_call(peer: HttpPeer, request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    peer.on_call = on_call
    async with Way(peer.url, call_s=0.3) as server:
        await server.connect()
        with pytest.raises(ServerFailed):
            await server.call("echo", {})


async def test_P4_a_body_over_the_limit_fails_its_call_alone(peer: HttpPeer) -> None:
    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        size = int(body["params"]["arguments"]["text"])
        return web.json_response(result(body, {"content": [{"type": "text", "text": "x" * size}]}))

    peer.on_call = on_call
    async with Way(peer.url) as server:
        await server.connect()
        with pytest.raises(ServerFailed, match=str(8 << 20)):
            await server.call("echo", {"text": str(9 << 20)})
        assert len(text_of((await server.call("echo", {"text": "9"})).blocks)) == 9


async def test_P6_a_cancelled_call_closes_its_request_and_tells_the_server(peer: HttpPeer) -> None:
    gone = asyncio.Event()

    async def on_call(peer: HttpPeer, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            gone.set()
            raise
        return web.Response()

    peer.on_call = on_call
    async with Way(peer.url) as server:
        await server.connect()
        call = asyncio.create_task(server.call("echo", {}))
        await until(lambda: "tools/call" in peer.said, "the call")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: "notifications/cancelled" in peer.said, "the notice")
    assert server.waiting == 0


async def test_P2_changes_are_told_on_the_stream_of_its_own(peer: HttpPeer) -> None:
    change = asyncio.Event()

    async def on_get(peer: HttpPeer, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await change.wait()
        await response.write(event({"method": "notifications/tools/list_changed"}).encode())
        await asyncio.sleep(60)
        return response

    peer.on_get = on_get
    async with Way(peer.url) as server:
        await server.connect()
        assert peer.said.count("tools/list") == 1
        change.set()
        await until(lambda: peer.said.count("tools/list") == 2, "the second list")


async def test_a_server_that_is_not_there_says_so(peer: HttpPeer) -> None:
    async with Way(peer.url.replace("/mcp", "/nope")) as server:
        with pytest.raises(ServerFailed, match="no MCP server over Streamable HTTP"):
            await server.connect()
    async with Way("http://127.0.0.1:1/mcp") as server:
        with pytest.raises(ServerFailed, match="tool server h: no connection"):
            await server.connect()


async def test_P1_the_stateless_generation_says_its_version_each_time(peer: HttpPeer) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        peer.requests.append((request.method, dict(request.headers), body))
        if body["method"] == "server/discover":
            found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
            return web.json_response(result(body, found))
        if body["method"] == "tools/list":
            return web.json_response(result(body, {"tools": [], "resultType": "complete"}))
        if body["method"] == "subscriptions/listen":
            return web.json_response({"id": body["id"], "error": {"code": -32601, "message": "no"}})
        if "inputResponses" not in body["params"]:
            asks = {"k": {"method": "roots/list"}}
            wanted = {"resultType": "input_required", "inputRequests": asks, "requestState": "st"}
            return web.json_response(result(body, wanted))
        return web.json_response(text(body))

    app = web.Application()
    app.router.add_post("/mcp", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    try:
        async with Way(url, protocol="2026-07-28", offers=Offers(roots=("/w",))) as server:
            await server.connect()
            await echoed(server, "x")
    finally:
        await runner.cleanup()
    assert peer.said[:2] == ["server/discover", "tools/list"]
    assert peer.said.count("tools/call") == 2
    for _, headers, body in peer.requests:
        assert headers["MCP-Protocol-Version"] == "2026-07-28"
        assert headers["Mcp-Method"] == body["method"]
        assert body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    last = [body for _, _, body in peer.requests if body["method"] == "tools/call"][-1]
    assert last["params"]["requestState"] == "st"
    assert last["params"]["inputResponses"]["k"]["roots"][0]["uri"] == "file:///w"
