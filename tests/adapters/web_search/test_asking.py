"""The backends over real sockets: what they send, once, within limits, and without a key in any word."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import field, frozen

from norma.adapters.http.egress import CallReport, Egress, NetworkPolicy
from norma.adapters.web_search.brave import BraveSearch
from norma.adapters.web_search.deepseek import DeepSeekSearch
from norma.adapters.web_search.duckduckgo import BROWSER, DuckDuckGoSearch
from norma.adapters.web_search.searxng import SearxngSearch
from norma.adapters.web_search.tavily import TavilySearch
from norma.domain.model.secrets import Secret
from norma.ports.web_search import SearchFailed, WebSearch
from tests.rigs.listening import listening

KEY = "key-canary-90c1"


@frozen
class Request:
    first: str
    headers: dict[str, str]
    body: bytes


@frozen
class Backend:
    """A server that gives one answer to every request, and keeps the requests."""

    url: str
    egress: Egress
    requests: list[Request] = field(factory=list)
    reports: list[CallReport] = field(factory=list)


@asynccontextmanager
async def backend(
    body: bytes = b"{}", status: int = 200, kind: str = "application/json", *, silent: bool = False
) -> AsyncIterator[Backend]:
    requests: list[Request] = []
    reports: list[CallReport] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        requests.append(Request(first, headers, data))
        if silent:
            await reader.read()
            return
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()

    egress = Egress(NetworkPolicy("none"), environ={}, report=reports.append, keep_alive=False)
    async with listening(serve) as where:
        try:
            yield Backend(f"http://{where}/path", egress, requests, reports)
        finally:
            await egress.aclose()


MAKERS: dict[str, Callable[..., WebSearch]] = {
    "brave": lambda egress, url, **more: BraveSearch(egress, more.pop("key", Secret(KEY)), url, **more),
    "tavily": lambda egress, url, **more: TavilySearch(egress, more.pop("key", Secret(KEY)), url, **more),
    "deepseek": lambda egress, url, **more: DeepSeekSearch(egress, more.pop("key", Secret(KEY)), url, **more),
    "duckduckgo": DuckDuckGoSearch,
    "searxng": SearxngSearch,
}
KEYED = ("brave", "tavily", "deepseek")


async def test_W2_duckduckgo_is_asked_as_by_its_form() -> None:
    async with backend() as there:
        await DuckDuckGoSearch(there.egress, there.url).search("c++ & 한글", 5)
    (request,) = there.requests
    assert request.first == "POST /path HTTP/1.1"
    assert parse_qs(request.body.decode()) == {"q": ["c++ & 한글"], "kl": ["wt-wt"]}
    assert request.headers["user-agent"] == BROWSER
    assert request.headers["referer"].startswith("https://html.duckduckgo.com")


async def test_W3_brave_is_asked_with_its_token_and_a_capped_count() -> None:
    async with backend() as there:
        await BraveSearch(there.egress, Secret(KEY), there.url).search("a b&c", 50)
    (request,) = there.requests
    target = request.first.split(" ")[1]
    assert parse_qs(urlsplit(target).query) == {"q": ["a b&c"], "count": ["20"]}
    assert request.headers["x-subscription-token"] == KEY


async def test_W4_tavily_is_asked_with_the_key_in_the_body_alone() -> None:
    async with backend() as there:
        await TavilySearch(there.egress, Secret(KEY), there.url).search("x", 7)
    (request,) = there.requests
    assert json.loads(request.body) == {
        "api_key": KEY,
        "query": "x",
        "max_results": 7,
        "search_depth": "basic",
    }
    assert KEY not in str(request.headers)


async def test_W5_deepseek_is_asked_by_its_messages_endpoint() -> None:
    async with backend() as there:
        await DeepSeekSearch(there.egress, Secret(KEY), there.url, "m-1").search("x", 12)
    (request,) = there.requests
    body: Any = json.loads(request.body)
    assert request.first == "POST /path/v1/messages HTTP/1.1"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert (body["model"], body["stream"], body["tools"][0]["max_uses"]) == ("m-1", True, 2)


async def test_a_fifth_backend_is_short() -> None:
    rows = [{"title": "T", "url": "https://a.example/", "content": "c"}]
    async with backend(json.dumps({"results": rows}).encode()) as there:
        answer = await SearxngSearch(there.egress, there.url).search("x")
    assert answer.outcome == "results"
    assert there.requests[0].first == "GET /path/search?q=x&format=json HTTP/1.1"


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("status", [429, 500, 503])
async def test_W1_one_request_and_no_retry(name: str, status: int) -> None:
    async with backend(b"busy", status) as there:
        answer = await MAKERS[name](there.egress, there.url).search("x")
    assert answer.outcome in ("blocked", "error")
    assert len(there.requests) == 1


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("key", [None, Secret(""), Secret("a\nb"), Secret("a b"), Secret("schlüssel")])
async def test_W1_without_a_usable_key_nothing_is_sent(name: str, key: Secret | None) -> None:
    async with backend() as there:
        answer = await MAKERS[name](there.egress, there.url, key=key).search("x")
    assert answer.outcome == "auth"
    assert f"search.{name}.api_key_env" in answer.notes[0]
    assert there.requests == []


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("status", [200, 400, 401, 403, 429, 500])
async def test_W1_a_key_is_in_no_word(name: str, status: int) -> None:
    async with backend(b'{"message": "no"}', status) as there:
        search = MAKERS[name](there.egress, there.url)
        answer = await search.search("x")
    assert KEY not in repr((answer, search, there.reports))


@pytest.mark.parametrize("name", MAKERS)
async def test_W1_silence_ends_at_the_deadline(name: str) -> None:
    async with backend(silent=True) as there:
        with pytest.raises(SearchFailed) as caught:
            await MAKERS[name](there.egress, there.url, timeout_s=0.3).search("x")
    assert caught.value.failure.kind == "timeout"
    assert name in str(caught.value)


@pytest.mark.parametrize("name", MAKERS)
async def test_W1_a_cancel_passes_through(name: str) -> None:
    async with backend(silent=True) as there:
        task = asyncio.ensure_future(MAKERS[name](there.egress, there.url).search("x"))
        async with asyncio.timeout(10):
            while not there.requests:  # noqa: ASYNC110 - the server's list is what tells
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "deepseek"])
async def test_W1_an_answer_over_two_mebibytes_is_refused(name: str) -> None:
    async with backend(b" " * ((2 << 20) + 1)) as there:
        with pytest.raises(SearchFailed, match="2 MiB"):
            await MAKERS[name](there.egress, there.url).search("x")


async def test_W5_a_stream_over_two_mebibytes_is_an_error() -> None:
    async with backend(b": ping\n\n" * 300_000, kind="text/event-stream") as there:
        answer = await DeepSeekSearch(there.egress, Secret(KEY), there.url).search("x")
    assert answer.outcome == "error"
    assert "2 MiB" in answer.notes[0]


@pytest.mark.parametrize("limit", [1, 3, 20, 50])
async def test_W1_no_more_results_than_asked_for_and_never_over_20(limit: int) -> None:
    rows = [{"title": str(n), "url": f"https://a.example/{n}", "content": ""} for n in range(60)]
    async with backend(json.dumps({"results": rows}).encode()) as there:
        answer = await TavilySearch(there.egress, Secret(KEY), there.url).search("x", limit)
    assert [hit.title for hit in answer.results] == [str(n) for n in range(min(limit, 20))]


async def test_W1_five_results_by_default() -> None:
    rows = [{"title": str(n), "url": f"https://a.example/{n}", "content": ""} for n in range(60)]
    async with backend(json.dumps({"results": rows}).encode()) as there:
        answer = await TavilySearch(there.egress, Secret(KEY), there.url).search("x")
    assert len(answer.results) == 5
    assert json.loads(there.requests[0].body)["max_results"] == 5
