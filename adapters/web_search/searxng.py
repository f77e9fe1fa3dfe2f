"""A SearXNG server of one's own: the shortest backend, and a pattern for others."""

from urllib.parse import urlencode

from norma.adapters.http.call import Call
from norma.adapters.http.egress import Egress
from norma.adapters.web_search.asking import ask, found, hits_of, not_json, refused, strange
from norma.ports.web_search import DEFAULT_RESULTS, SearchAnswer, WebSearch


class SearxngSearch(WebSearch):
    """Its JSON answers, which the server must allow (`search.formats`). The egress stays its owner's."""

    def __init__(self, egress: Egress, url: str, *, timeout_s: float = 30.0) -> None:
        self._egress = egress
        self._url = url
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return "searxng"

    @property
    def endpoint(self) -> str:
        return self._url

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        asked = urlencode({"q": query, "format": "json"}, errors="replace")
        call = Call("GET", f"{self._url.rstrip('/')}/search?{asked}", {"Accept": "application/json"})
        said = await ask(self._egress, call, backend=self.name, timeout_s=self._timeout_s)
        if said.status != 200:
            return refused(self.name, "blocked" if said.status == 429 else "error", said)
        try:
            body = said.json()
        except ValueError:
            return not_json(self.name, said)
        rows = body.get("results") if isinstance(body, dict) else None
        hits = hits_of(rows, title="title", url="url", snippet="content")
        return strange(self.name, "results is no list") if hits is None else found(hits, limit)
