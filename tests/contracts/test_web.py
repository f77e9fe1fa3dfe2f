"""The ports to the web keep their promises, and wrong adapters of them are caught."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve

from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Forever
from norma.adapters.memory.pages import ScriptedPages
from norma.adapters.memory.web_search import ScriptedWebSearch
from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.cache import CachedPages
from norma.adapters.web_search.searxng import SearxngSearch
from norma.adapters.web_search.tavily import TavilySearch
from norma.domain.model.failures import Failure
from norma.domain.model.secrets import Secret
from norma.domain.tools.web_fetch import WebFetch
from norma.domain.tools.web_search import SearchTheWeb
from norma.ports.contracts import page_fetch, tool, urls, web_search
from norma.ports.contracts.page_fetch import WORDS, PageRig
from norma.ports.contracts.pytest import broken_promise, contract
from norma.ports.contracts.tool import ToolRig
from norma.ports.contracts.urls import UrlRig
from norma.ports.contracts.web_search import WebSearchRig
from norma.ports.page_fetch import FetchFailed, Hop, Page, PageFetch, PageRequest
from norma.ports.urls import BadUrl, WebUrl
from norma.ports.web_search import SearchAnswer, SearchFailed, SearchHit, WebSearch
from tests.rigs.listening import listening
from tests.rigs.web import fetcher

URLS = StandardUrls()
A, B = "https://a.example", "https://b.example"
HITS = tuple(SearchHit(f"T{n}", f"https://a.example/{n}", "s") for n in range(40))


def url_rig(kind: type[StandardUrls]) -> Any:
    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[UrlRig]:
        yield UrlRig(kind())

    rig.__name__ = kind.__name__
    return rig


def _page(path: str, *hops: str, status: int = 200, text: str = WORDS, notes: tuple[str, ...] = ()) -> Page:
    end = hops[-1] if hops else path
    return Page(path, end, status, "", (), text, notes, tuple(URLS.parse(hop) for hop in hops))


def scripted(wrap: Callable[[PageFetch], PageFetch] = lambda pages: pages, name: str = "scripted") -> Any:
    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[PageRig]:
        pages = ScriptedPages(
            {
                f"{A}/plain": _page(f"{A}/plain"),
                f"{A}/missing": _page(f"{A}/missing", status=404),
                f"{A}/hops": _page(f"{A}/hops", f"{A}/next", f"{B}/end"),
                f"{A}/to-refused": _page(f"{A}/to-refused", "https://refused.example/"),
                f"{A}/broken": FetchFailed(Failure("network", "no answer")),
                f"{A}/long": _page(f"{A}/long", text="x" * 50_000, notes=("cut: 9 more characters",)),
                f"{A}/endless": Forever(),
            },
            refused=("https://refused.example/",),
            read=URLS.parse,
        )
        made = wrap(pages)
        yield PageRig(
            made, f"{A}/plain", f"{A}/missing", f"{A}/hops", f"{B}/end", "https://refused.example/",
            f"{A}/to-refused", f"{A}/broken", f"{A}/long", lambda: getattr(made, "sent", []),
            f"{A}/endless", lambda: pages.running > 0, lambda: pages.running,
        )  # fmt: skip

    rig.__name__ = name
    return rig


@asynccontextmanager
async def over_http(folder: str) -> AsyncIterator[PageRig]:
    """The real adapter against a server on loopback; localhost plays the other host."""
    open_now: set[str] = set()
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        path = head[0].split(" ")[1]
        host = next(line[6:] for line in head if line.startswith("Host: "))
        seen.append(f"http://{host}{path}")
        port = host.rpartition(":")[2]
        where = {"/hops": "/next", "/next": f"http://localhost:{port}/end", "/to-refused": "http://10.0.0.1/"}
        body = b"x" * 60_000 if path == "/long" else f"<p>{WORDS}".encode()
        if path == "/broken":
            return
        if path == "/endless":
            open_now.add(path)
            try:
                await reader.read()
            finally:
                open_now.discard(path)
            return
        status = "302 Found" if path in where else "404 No" if path == "/missing" else "200 OK"
        location = f"Location: {where[path]}\r\n" if path in where else ""
        writer.write(
            f"HTTP/1.1 {status}\r\n{location}Content-Type: text/html\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()

    async with listening(serve) as where, fetcher() as fetch:
        base, port = f"http://{where}", where.rpartition(":")[2]
        yield PageRig(
            fetch.pages, f"{base}/plain", f"{base}/missing", f"{base}/hops", f"http://localhost:{port}/end",
            "http://10.0.0.1/", f"{base}/to-refused", f"{base}/broken", f"{base}/long", lambda: seen,
            f"{base}/endless", lambda: bool(open_now),
        )  # fmt: skip


def search_rig(kind: type[ScriptedWebSearch]) -> Any:
    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[WebSearchRig]:
        made = kind(
            {
                "many": SearchAnswer("results", HITS),
                "nothing": SearchAnswer("empty"),
                "broken": SearchFailed(Failure("network", "no answer")),
                "endless": Forever(),
            }
        )
        yield WebSearchRig(
            made, "many", "nothing", "broken", lambda: len(made.queries), "endless",
            lambda: made.running > 0, lambda: made.running,
        )  # fmt: skip

    rig.__name__ = kind.__name__
    return rig


def backend_rig(make: Callable[[Egress, str], WebSearch], name: str) -> Any:
    """A JSON backend against a server on loopback."""

    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[WebSearchRig]:
        sent: list[str] = []
        open_now: set[str] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                (int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: ")), 0
            )
            data = await reader.readexactly(int(length))
            asked = parse_qs(urlsplit(head.split(" ")[1]).query).get("q") or [json.loads(data)["query"]]
            sent.append(asked[0])
            if asked[0] == "broken":
                return
            if asked[0] == "endless":
                open_now.add(asked[0])
                try:
                    await reader.read()
                finally:
                    open_now.discard(asked[0])
                return
            rows = [{"title": hit.title, "url": hit.url, "content": hit.snippet} for hit in HITS]
            body = json.dumps({"results": rows if asked[0] == "many" else []}).encode()
            writer.write(
                f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
            )
            await writer.drain()

        egress = Egress(NetworkPolicy("none"), environ={}, keep_alive=False)
        async with listening(serve) as where:
            try:
                yield WebSearchRig(
                    make(egress, f"http://{where}"), "many", "nothing", "broken", lambda: len(sent),
                    "endless", lambda: bool(open_now),
                )  # fmt: skip
            finally:
                await egress.aclose()

    rig.__name__ = name
    return rig


def kept(pages: PageFetch) -> PageFetch:
    return CachedPages(pages, URLS, ManualClock(), keep_s=900)


test_urls = contract(urls.CHECKS, url_rig(StandardUrls))
test_pages = contract(page_fetch.CHECKS, scripted(), scripted(kept, "kept"), over_http)
test_searches = contract(
    web_search.CHECKS,
    search_rig(ScriptedWebSearch),
    backend_rig(SearxngSearch, "searxng"),
    backend_rig(lambda egress, url: TavilySearch(egress, Secret("k"), url), "tavily"),
)


class TakesText(StandardUrls):
    """Judges the text of a host and not what it means."""

    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        url = super().parse(text, base)
        return evolve(url, host=text.split("/")[2].lower()) if "0x" in text else url


class TakesAnyScheme(StandardUrls):
    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        return super().parse(text.replace("ftp://", "http://"), base)


class TakesBackslashesForPaths(StandardUrls):
    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        return super().parse(text.replace("\\", "%5C"), base)


class KeepsDots(StandardUrls):
    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        url = super().parse(text, base)
        return evolve(url, target=url.target + "." if "q=1" in url.target else url.target)


class KeepsCredentials(StandardUrls):
    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        return evolve(super().parse(text, base), dropped_credentials=False)


class _Around(PageFetch):
    """Wraps pages; a wrong one changes one thing."""

    def __init__(self, pages: PageFetch) -> None:
        self.pages = pages
        self.sent: list[str] = []

    def target(self, text: str) -> WebUrl:
        return self.pages.target(text)

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        page = await self.pages.fetch(request, hop=hop)
        self.sent += [str(one) for one in page.hops]
        return page


class AsksNobody(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        async def nobody(url: WebUrl) -> None:
            self.sent.append(str(url))

        return await super().fetch(request, hop=nobody)


class AsksTooLate(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        async def late(url: WebUrl) -> None:
            self.sent.append(str(url))
            await hop(url)

        return await super().fetch(request, hop=late)


class RaisesForStatus(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        page = await super().fetch(request, hop=hop)
        if page.status != 200:
            raise FetchFailed(Failure("not_found", "404"))
        return page


class LosesTheHops(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        page = await super().fetch(request, hop=hop)
        return evolve(page, url=page.requested_url, hops=())


class CutsSilently(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        return evolve(await super().fetch(request, hop=hop), notes=())


class JudgesTheFirstUrlAlone(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        if request.url.path == "/to-refused":
            return await super().fetch(PageRequest(URLS.parse(f"{A}/plain")), hop=hop)
        return await super().fetch(request, hop=hop)


class SwallowsCancel(_Around):
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        try:
            return await super().fetch(request, hop=hop)
        except asyncio.CancelledError:
            raise FetchFailed(Failure("network", "cancelled")) from None


class MixesAnswers(_Around):
    last: list[Page] = []  # noqa: RUF012 - what it shares is its fault

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        page = await super().fetch(request, hop=hop)
        MixesAnswers.last.append(page)
        return MixesAnswers.last[-2:][0]


class ForgetsTheLimit(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 20) -> SearchAnswer:
        return await super().search(query, 20)


class SaysEmptyForBroken(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 5) -> SearchAnswer:
        try:
            return await super().search(query, limit)
        except SearchFailed:
            return SearchAnswer("empty")


class Retries(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 5) -> SearchAnswer:
        try:
            return await super().search(query, limit)
        except SearchFailed:
            return await super().search(query, limit)


class SaysResultsForNothing(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 5) -> SearchAnswer:
        return evolve(await super().search(query, limit), outcome="results")


class TurnsTheOrder(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 5) -> SearchAnswer:
        answer = await super().search(query, limit)
        return evolve(answer, results=answer.results[::-1])


class HidesItsEndpoint(ScriptedWebSearch):
    @property
    def endpoint(self) -> str:
        return "secret"


class HoldsBackCancel(ScriptedWebSearch):
    async def search(self, query: str, limit: int = 5) -> SearchAnswer:
        try:
            return await super().search(query, limit)
        except asyncio.CancelledError:
            return SearchAnswer("error")


WRONG: tuple[tuple[Any, Any, str], ...] = (
    (urls, url_rig(TakesText), "one_spelling"),
    (urls, url_rig(TakesAnyScheme), "refused"),
    (urls, url_rig(TakesBackslashesForPaths), "relative"),
    (urls, url_rig(KeepsDots), "stable"),
    (urls, url_rig(KeepsCredentials), "credentials"),
    *(
        (page_fetch, scripted(kind, kind.__name__), check)
        for kind, check in (
            (AsksNobody, "f6_hops_are_asked_about"),
            (AsksTooLate, "f6_a_denied_hop_is_not_requested"),
            (RaisesForStatus, "f5_any_status_is_an_answer"),
            (LosesTheHops, "f6_hops_are_asked_about"),
            (CutsSilently, "f2_a_long_page_is_cut_with_a_note"),
            (JudgesTheFirstUrlAlone, "f7_what_is_refused_is_not_requested"),
            (SwallowsCancel, "cancel_everywhere"),
            (MixesAnswers, "many_at_once"),
        )
    ),
    *(
        (web_search, search_rig(kind), check)
        for kind, check in (
            (ForgetsTheLimit, "results"),
            (ForgetsTheLimit, "limits"),
            (SaysEmptyForBroken, "broken"),
            (Retries, "broken"),
            (SaysResultsForNothing, "nothing"),
            (TurnsTheOrder, "results"),
            (HidesItsEndpoint, "names"),
            (HoldsBackCancel, "cancel_everywhere"),
        )
    ),
)


@pytest.mark.parametrize(
    ("kit", "rig", "name"), [pytest.param(*row, id=f"{row[1].__name__}-{row[2]}") for row in WRONG]
)
def test_wrong_adapter_is_caught(kit: Any, rig: Any, name: str, tmp_path: Any) -> None:
    (check,) = (one for one in kit.CHECKS if one.__name__ == f"check_{name}")
    assert broken_promise(check, rig, str(tmp_path)) is not None, f"check_{name} is content with it"


def test_a_bad_url_is_a_value_error() -> None:
    assert issubclass(BadUrl, ValueError)


def fetch_tool_rig(real: bool) -> Any:
    """WebFetch over the double, or over a server on loopback."""

    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[ToolRig]:
        inner = over_http(folder) if real else scripted()(folder)
        async with inner as pages:
            assert pages.endless is not None
            made = WebFetch(pages.pages, ManualClock())
            yield ToolRig(made, {"url": pages.hops}, {"url": pages.endless}, pages.there, lambda: "")

    rig.__name__ = "fetch_over_http" if real else "fetch"
    return rig


def search_tool_rig(inner: Any, name: str) -> Any:
    """WebSearch over a backend."""

    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[ToolRig]:
        async with inner(folder) as backend:
            made = SearchTheWeb(backend.search)
            yield ToolRig(made, {"query": "many"}, {"query": "endless"}, backend.there, lambda: "")

    rig.__name__ = name
    return rig


test_web_tools = contract(
    tool.CHECKS,
    fetch_tool_rig(False),
    fetch_tool_rig(True),
    search_tool_rig(search_rig(ScriptedWebSearch), "search"),
    search_tool_rig(backend_rig(SearxngSearch, "searxng"), "search_over_http"),
)
