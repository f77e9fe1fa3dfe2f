"""
DeepSeek's search, by its Messages endpoint and the server tool of that wire (contract W5).

The answer is an event stream: the body of an answer in one piece is no valid JSON there.
"""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from attrs import define, evolve, field

from norma.adapters.http.call import Call, CallFailed
from norma.adapters.http.egress import Egress
from norma.adapters.http.json_text import parse, write
from norma.adapters.http.sse import EventTooLong, SseDecoder
from norma.adapters.web_search.asking import (
    MOST_BYTES,
    Said,
    capped,
    clean,
    found,
    is_web,
    key_fault,
    not_json,
    refused,
)
from norma.domain.model.failures import Failure
from norma.domain.model.secrets import Secret
from norma.ports.web_search import DEFAULT_RESULTS, Outcome, SearchAnswer, SearchFailed, SearchHit, WebSearch

BASE = "https://api.deepseek.com/anthropic"
MODEL = "deepseek-chat"
TIMEOUT_S = 120.0

_OUTCOMES: dict[int, Outcome] = {
    401: "auth",
    403: "auth",
    402: "quota",
    429: "blocked",
    503: "blocked",
    529: "blocked",
}


class DeepSeekSearch(WebSearch):
    """Lets a model of DeepSeek's search, and takes what it found. The egress stays its owner's."""

    def __init__(
        self,
        egress: Egress,
        key: Secret | None,
        url: str | None = None,
        model: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._egress = egress
        self._key = key
        self._url = endpoint_of(url or BASE)
        self._model = model or MODEL
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return "deepseek"

    @property
    def endpoint(self) -> str:
        return self._url

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        fault = key_fault(self.name, self._key)
        if fault is not None or self._key is None:
            return fault or SearchAnswer("auth")
        headers: dict[str, str | Secret] = {
            "x-api-key": self._key,
            "anthropic-version": "2023-06-01",
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
        }
        call = Call("POST", self._url, headers, write(request_of(query, limit, self._model)))
        reader = HitReader(limit)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._ask(call, reader)
        except TimeoutError:
            if reader.hits:
                return reader.broken(f"no end within {self._timeout_s:g} s")
            message = f"{self.name} did not answer within {self._timeout_s:g} s"
            raise SearchFailed(Failure("timeout", message, "transport")) from None

    async def _ask(self, call: Call, reader: "HitReader") -> SearchAnswer:
        try:
            answer = await self._egress.send(call)
        except CallFailed as error:
            raise SearchFailed(error.failure) from error
        try:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            if answer.status != 200 or "event-stream" not in headers.get("content-type", "event-stream"):
                body, _ = await answer.read_up_to(MOST_BYTES)
                return refusal(Said(answer.status, headers, body))
            size = 0
            while piece := await answer.read():
                size += len(piece)
                if size > MOST_BYTES:
                    return reader.broken("the answer is longer than 2 MiB")
                reader.feed(piece)
        except CallFailed as error:
            return reader.broken(str(error))
        finally:
            answer.close()
        return reader.answer()


def endpoint_of(base: str) -> str:
    """The endpoint of a base that ends with or without `/v1` or the whole path; a query stays behind it."""
    head, mark, query = base.partition("?")
    head = head.rstrip("/").removesuffix("/messages").removesuffix("/v1").rstrip("/")
    return f"{head}/v1/messages{mark}{query}"


def request_of(query: str, limit: int, model: str) -> dict[str, Any]:
    """The body of a request. Pure."""
    wish = f"Search the web for the following and list what you find.\n\n{query}"
    tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": -(-capped(limit) // 10)}
    return {
        "model": model,
        "max_tokens": 1024,
        "stream": True,
        "messages": [{"role": "user", "content": wish}],
        "tools": [tool],
    }


def refusal(said: Said) -> SearchAnswer:
    """An answer that is no event stream. Pure."""
    try:
        body = said.json()
    except ValueError:
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    words = error.get("message") if isinstance(error, dict) else error if isinstance(error, str) else ""
    if said.status != 200:
        return refused("deepseek", _OUTCOMES.get(said.status, "error"), said, str(words or ""))
    if body is None:
        return not_json("deepseek", said)
    return SearchAnswer(
        "error", notes=(f"deepseek answered without a stream: {clean(str(words or ''))[:200]}",)
    )


@define
class HitReader:
    """Takes the hits from an event stream: `feed` it, then ask for its `answer`. Pure."""

    limit: int
    hits: dict[str, SearchHit] = field(factory=dict)
    _decoder: SseDecoder = field(factory=SseDecoder)
    _searches: int = 0
    _refusals: list[str] = field(factory=list)
    _fault: str = ""
    _limited: bool = False
    _ended: bool = False

    def feed(self, data: bytes) -> None:
        """More of the stream."""
        try:
            for event in self._decoder.feed(data):
                self._take(event)
        except EventTooLong as error:
            self._fault = str(error)

    def answer(self) -> SearchAnswer:
        """What all of it says; call it when the stream has ended."""
        rest = self._decoder.finish()
        if rest is not None:
            self._take(rest)
        if self._fault:
            return self.broken(self._fault)
        if not self._ended:
            return self.broken("the stream broke off before its end")
        if self.hits:
            notes = tuple(f"a search failed meanwhile: {code}" for code in self._refusals)
            return found(list(self.hits.values()), self.limit, notes)
        if self._refusals:
            limited = "too_many_requests" in self._refusals
            note = f"deepseek's search failed: {', '.join(self._refusals)}"
            return SearchAnswer("blocked" if limited else "error", notes=(note,))
        if not self._searches:
            return SearchAnswer("error", notes=("no search was made: the model answered by itself",))
        return found([], self.limit)

    def broken(self, why: str) -> SearchAnswer:
        """The answer of a stream that did not come to its end, with what had arrived."""
        outcome: Outcome = "blocked" if self._limited and not self.hits else "error"
        shown = tuple(self.hits.values())[: capped(self.limit)]
        return SearchAnswer(outcome, shown, notes=(f"deepseek: {why}",))

    def _take(self, data: bytes) -> None:
        try:
            event = parse(data)
        except ValueError:
            return  # what is no JSON says nothing; a stream that misses its end is told of as such
        if not isinstance(event, dict):
            return
        match event.get("type"):
            case "content_block_start":
                self._block(event.get("content_block"))
            case "content_block_delta":
                self._delta(event.get("delta"))
            case "error":
                error = event.get("error")
                error = error if isinstance(error, dict) else {}
                self._limited = error.get("type") == "rate_limit_error"
                self._fault = clean(f"{error.get('type') or 'error'}: {error.get('message') or ''}")[:300]
            case "message_stop":
                self._ended = True
            case _:
                pass  # pings, texts, and kinds of tomorrow

    def _block(self, block: Any) -> None:
        if not isinstance(block, dict):
            return
        if block.get("type") in ("server_tool_use", "web_search_tool_result"):
            self._searches += 1
        if block.get("type") == "web_search_tool_result":
            content = block.get("content")
            if isinstance(content, dict):
                self._refusals.append(
                    clean(str(content.get("error_code") or content.get("type") or "unknown"))[:60]
                )
            for hit in _hits(content):
                self.hits.setdefault(hit.url, hit)
        if isinstance(block.get("citations"), list):
            for citation in block["citations"]:
                self._cite(citation)

    def _delta(self, delta: Any) -> None:
        if isinstance(delta, dict) and delta.get("type") == "citations_delta":
            self._cite(delta.get("citation"))

    def _cite(self, citation: Any) -> None:
        """What the model wrote of a hit is that hit's snippet; the first words of each citation, once."""
        url = citation.get("url") if isinstance(citation, dict) else None
        text = clean(citation.get("cited_text")) if isinstance(citation, dict) else ""
        hit = self.hits.get(url.strip()) if isinstance(url, str) else None
        if hit is not None and text and text not in hit.snippet:
            self.hits[hit.url] = evolve(hit, snippet=f"{hit.snippet} {text}".strip()[:2000])


def _hits(content: Any) -> Iterator[SearchHit]:
    for row in content if isinstance(content, list) else ():
        url = row.get("url") if isinstance(row, dict) else None
        if isinstance(url, str) and is_web(url):
            yield SearchHit(clean(row.get("title")) or _host(url), url.strip())


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url
