"""The parts that reach the web for a model: pages, and the search backend."""

from collections.abc import Callable, Mapping

from norma.adapters.http.egress import Egress
from norma.adapters.http.guard import AddressGuard
from norma.adapters.web_fetch.cache import CachedPages
from norma.adapters.web_fetch.fetch import FetchPolicy, WebPages
from norma.adapters.web_search.brave import BraveSearch
from norma.adapters.web_search.deepseek import DeepSeekSearch
from norma.adapters.web_search.duckduckgo import DuckDuckGoSearch
from norma.adapters.web_search.searxng import SearxngSearch
from norma.adapters.web_search.tavily import TavilySearch
from norma.app.settings import Backend, BackendSettings, Settings
from norma.domain.model.secrets import Secret
from norma.ports.clock import Clock
from norma.ports.page_fetch import PageFetch
from norma.ports.urls import UrlParser
from norma.ports.web_search import WebSearch


def web_pages(
    settings: Settings, egress: Egress, direct: Egress, urls: UrlParser, guard: AddressGuard, clock: Clock
) -> PageFetch:
    """What fetches pages, with pages kept for a while."""
    wishes = settings.fetch
    pages = WebPages(
        egress,
        urls,
        guard,
        direct=direct if wishes.proxy_fallback == "direct" else None,
        policy=FetchPolicy(
            wishes.user_agent,
            wishes.timeout_s,
            tuple(name.lower() for name in wishes.headers),
            wishes.reader,
        ),
    )
    return CachedPages(pages, urls, clock, keep_s=wishes.cache_s)


def web_search(settings: Settings, environ: Mapping[str, str], egress: Egress) -> WebSearch:
    """The backend that the settings name. A missing key is told by the first search, not here."""
    name = settings.search.backend
    wishes: BackendSettings = getattr(settings.search, name)
    text = environ.get(wishes.api_key_env, "") if wishes.api_key_env else ""
    return _BACKENDS[name](egress, wishes, Secret(text) if text else None)


_BACKENDS: Mapping[Backend, Callable[[Egress, BackendSettings, Secret | None], WebSearch]] = {
    "duckduckgo": lambda egress, wishes, key: DuckDuckGoSearch(egress, wishes.url),
    "brave": lambda egress, wishes, key: BraveSearch(egress, key, wishes.url),
    "tavily": lambda egress, wishes, key: TavilySearch(egress, key, wishes.url),
    "deepseek": lambda egress, wishes, key: DeepSeekSearch(egress, key, wishes.url, wishes.model),
    "searxng": lambda egress, wishes, key: SearxngSearch(egress, wishes.url or "http://127.0.0.1:8080"),
}
