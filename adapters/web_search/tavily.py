"""Tavily (contract W4). The key goes into the body, where its API has it, and nowhere else."""

from typing import Any

from norma.adapters.http.call import Call
from norma.adapters.http.egress import Egress
from norma.adapters.http.json_text import write
from norma.adapters.web_search.asking import (
    Said,
    ask,
    capped,
    found,
    hits_of,
    key_fault,
    not_json,
    refused,
    strange,
)
from norma.domain.model.secrets import Secret
from norma.ports.web_search import DEFAULT_RESULTS, Outcome, SearchAnswer, WebSearch

ENDPOINT = "https://api.tavily.com/search"
TIMEOUT_S = 30.0

_OUTCOMES: dict[int, Outcome] = {
    401: "auth",
    403: "auth",
    402: "quota",
    429: "blocked",
    432: "quota",  # the plan's limit
    433: "quota",  # the pay-as-you-go limit
}


class TavilySearch(WebSearch):
    """The search of Tavily's API, basic depth. The egress stays its owner's."""

    def __init__(
        self, egress: Egress, key: Secret | None, url: str | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._egress = egress
        self._key = key
        self._url = url or ENDPOINT
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return "tavily"

    @property
    def endpoint(self) -> str:
        return self._url

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        fault = key_fault(self.name, self._key)
        if fault is not None or self._key is None:
            return fault or SearchAnswer("auth")
        asked = {
            "api_key": self._key.reveal(),
            "query": query,
            "max_results": capped(limit),
            "search_depth": "basic",
        }
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        call = Call("POST", self._url, headers, write(asked))
        return read(await ask(self._egress, call, backend=self.name, timeout_s=self._timeout_s), limit)


def read(said: Said, limit: int) -> SearchAnswer:
    """What Tavily's answer says. Pure."""
    try:
        body = said.json()
    except ValueError:
        body = None
    if said.status != 200:
        detail = body.get("detail", body.get("error")) if isinstance(body, dict) else None
        return refused("tavily", _OUTCOMES.get(said.status, "error"), said, _words(detail))
    if body is None:
        return not_json("tavily", said)
    rows = body.get("results") if isinstance(body, dict) else None
    hits = hits_of(rows, title="title", url="url", snippet="content")
    return strange("tavily", "results is no list") if hits is None else found(hits, limit)


def _words(detail: Any) -> str:
    """The text of a detail, which is a string, an object or a list of objects."""
    if isinstance(detail, str):
        return detail
    if isinstance(detail, dict):
        return next((str(detail[name]) for name in ("error", "message", "msg") if detail.get(name)), "")
    if isinstance(detail, list):
        return "; ".join(filter(None, map(_words, detail[:5])))
    return ""
