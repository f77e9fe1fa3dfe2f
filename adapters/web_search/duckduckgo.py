"""DuckDuckGo's page without scripts (contract W2): no key, no API, and a layout that may change."""

import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from norma.adapters.http.call import Call
from norma.adapters.http.egress import Egress
from norma.adapters.web_search.asking import Said, ask, clean, found, is_web, line, refused
from norma.ports.web_search import DEFAULT_RESULTS, SearchAnswer, SearchHit, WebSearch

ENDPOINT = "https://html.duckduckgo.com/html/"
TIMEOUT_S = 30.0
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

_BLOCKING = frozenset({202, 403, 418, 429})
_CHALLENGE = ("anomaly-modal", "anomaly.js", "challenge-form")
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]|&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}|0*5[5-7][0-9]{3});?"
)
"""Controls, half surrogate pairs, and references to such: libxml2 takes them and can't give them back."""


class DuckDuckGoSearch(WebSearch):
    """Asks as a browser's form would. The egress stays its owner's."""

    def __init__(self, egress: Egress, url: str | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self._egress = egress
        self._url = url or ENDPOINT
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return "duckduckgo"

    @property
    def endpoint(self) -> str:
        return self._url

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": BROWSER,
            "Referer": "https://html.duckduckgo.com/",
            "Accept": "text/html",
        }
        body = urlencode({"q": query, "kl": "wt-wt"}, errors="replace").encode()
        call = Call("POST", self._url, headers, body)
        said = await ask(self._egress, call, backend=self.name, timeout_s=self._timeout_s)
        return read(said, limit)


def read(said: Said, limit: int) -> SearchAnswer:
    """What the page says. Pure."""
    if said.status in _BLOCKING:
        return refused("duckduckgo", "blocked", said, "it wants fewer requests for now")
    if said.status != 200:
        return refused("duckduckgo", "error", said)
    text = said.body.decode("utf-8", "replace")
    root = _tree(text)
    if root is None or not clean(text):
        return SearchAnswer("error", notes=("duckduckgo answered with an empty page",))
    if any(mark in text for mark in _CHALLENGE) and not _links(root):
        wait = said.retry_after_s
        return SearchAnswer("blocked", retry_after_s=wait, notes=("duckduckgo wants a person to answer",))
    links = _links(root)
    if links:
        hits = [hit for hit in map(_hit, links) if hit is not None]
        skipped = len(links) - len(hits)
        notes = (f"{skipped} advertisements or unusable links were left out",) if skipped else ()
        return found(hits, limit, notes)
    if root.xpath("//*[contains(concat(' ', @class, ' '), ' no-results ')]"):
        return SearchAnswer("empty")
    note = f"duckduckgo's page has no results that this version knows: {said.beginning()}"
    return SearchAnswer("layout", notes=(note,))


def _tree(text: str) -> Any:
    from lxml import etree

    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8")
    try:
        return etree.fromstring(_UNREADABLE.sub("\ufffd", text).encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        return None


def _links(root: Any) -> list[Any]:
    return list(root.xpath("//a[contains(concat(' ', normalize-space(@class), ' '), ' result__a ')]"))


def _hit(link: Any) -> SearchHit | None:
    """One result; None for an advertisement and for what is no web address."""
    box = _box(link)
    if box is not None and "result--ad" in (box.get("class") or "").split():
        return None
    url = _unwrapped(link.get("href") or "")
    if url is None or not is_web(url) or _is_ad(url):
        return None
    title = line(str(link.xpath("string()")))
    path = ".//*[contains(concat(' ', normalize-space(@class), ' '), ' result__snippet ')]"
    snippets = box.xpath(path) if box is not None else []
    return SearchHit(title or url, url, line(str(snippets[0].xpath("string()"))) if snippets else "")


def _box(link: Any) -> Any:
    """The element of one result around *link*."""
    return next((one for one in link.iterancestors() if "result" in (one.get("class") or "").split()), None)


def _unwrapped(href: str) -> str | None:
    """The address behind the page's own link, decoded once."""
    href = href.strip()
    if href.startswith("//"):
        href = f"https:{href}"
    try:
        parts = urlsplit(href)
        ours = (
            not parts.netloc
            or parts.hostname == "duckduckgo.com"
            or (parts.hostname or "").endswith(".duckduckgo.com")
        )
        if ours and parts.path.rstrip("/") == "/l":
            return next(iter(parse_qs(parts.query).get("uddg", [])), None)
    except ValueError:
        return None
    return href


def _is_ad(url: str) -> bool:
    """Whether *url* is the click counter of an advertisement."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    host = parts.hostname or ""
    return (host == "duckduckgo.com" or host.endswith(".duckduckgo.com")) and parts.path == "/y.js"
