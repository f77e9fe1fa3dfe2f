"""Brave Search (contract W3)."""

from typing import Any
from urllib.parse import urlencode

from norma.adapters.http.call import Call
from norma.adapters.http.egress import Egress
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
from norma.ports.web_search import DEFAULT_RESULTS, SearchAnswer, WebSearch

ENDPOINT = "https://api.search.brave.com/res/v1/web/search"
TIMEOUT_S = 30.0


class BraveSearch(WebSearch):
    """The web search of Brave's API. The egress stays its owner's."""

    def __init__(
        self, egress: Egress, key: Secret | None, url: str | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._egress = egress
        self._key = key
        self._url = url or ENDPOINT
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return "brave"

    @property
    def endpoint(self) -> str:
        return self._url

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        fault = key_fault(self.name, self._key)
        if fault is not None or self._key is None:
            return fault or SearchAnswer("auth")
        asked = urlencode({"q": query, "count": capped(limit)}, errors="replace")
        url = f"{self._url}{'&' if '?' in self._url else '?'}{asked}"
        headers: dict[str, str | Secret] = {"Accept": "application/json", "X-Subscription-Token": self._key}
        said = await ask(
            self._egress, Call("GET", url, headers), backend=self.name, timeout_s=self._timeout_s
        )
        return read(said, limit)


def read(said: Said, limit: int) -> SearchAnswer:
    """What Brave's answer says. Pure."""
    try:
        body = said.json()
    except ValueError:
        return not_json("brave", said) if said.status == 200 else _refusal(said, {})
    if not isinstance(body, dict):
        return strange("brave", "no object") if said.status == 200 else _refusal(said, {})
    if said.status != 200:
        error = body.get("error")
        return _refusal(said, error if isinstance(error, dict) else {})
    web = body.get("web")
    if web is None:  # what it answers when nothing was found, or null
        return found([], limit)
    rows = web.get("results") if isinstance(web, dict) else None
    hits = hits_of(
        [] if rows is None and isinstance(web, dict) else rows,
        title="title",
        url="url",
        snippet="description",
    )
    return strange("brave", "web.results is no list") if hits is None else found(hits, limit)


def _refusal(said: Said, error: dict[str, Any]) -> SearchAnswer:
    code = str(error.get("code") or "")
    words = str(error.get("detail") or code or "")
    if said.status in (401, 403) or "TOKEN" in code or "UNAUTHORIZED" in code:
        return refused("brave", "auth", said, words)
    if said.status == 402 or "QUOTA" in code:
        return refused("brave", "quota", said, words)
    if said.status != 429:
        return refused("brave", "error", said, words)
    if _is_used_up(said, error):
        return refused("brave", "quota", said, words or "the plan's quota is used up")
    answer = refused("brave", "blocked", said, words)
    wait = answer.retry_after_s if answer.retry_after_s is not None else _wait_s(said)
    return SearchAnswer("blocked", retry_after_s=wait, notes=answer.notes)


def _is_used_up(said: Said, error: dict[str, Any]) -> bool:
    """Whether the month's quota, and not the second's rate, is what ran out."""
    meta = error.get("meta")
    if isinstance(meta, dict):
        most, now = meta.get("quota_limit"), meta.get("quota_current")
        if isinstance(most, int | float) and isinstance(now, int | float) and most > 0:
            return now >= most
    left = _numbers(said, "x-ratelimit-remaining")
    return len(left) > 1 and left[-1] <= 0 < left[0]


def _wait_s(said: Said) -> float | None:
    """The reset of the first window that is used up."""
    left, resets = _numbers(said, "x-ratelimit-remaining"), _numbers(said, "x-ratelimit-reset")
    waits = [reset for rest, reset in zip(left, resets, strict=False) if rest <= 0]
    return waits[0] if waits else None


def _numbers(said: Said, name: str) -> list[float]:
    try:
        return [float(part) for part in said.headers.get(name, "").split(",") if part.strip()]
    except ValueError:
        return []
