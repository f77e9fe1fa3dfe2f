"""Pages that a test wrote."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.ports.errors import Refused
from norma.ports.page_fetch import Hop, Page, PageFetch, PageRequest
from norma.ports.urls import WebUrl

Answered: TypeAlias = Page | Exception | Gate


class ScriptedPages(PageFetch):
    """
    Gives *pages*, by URL without fragment; another URL is an AssertionError.

    A page's *hops* are asked about as redirects are: one to another scheme, host or port than the URL before.
    *refused* are URLs that the URL policy refuses. *read* takes a text apart; the default knows plain URLs.
    """

    def __init__(
        self,
        pages: Mapping[str, Answered],
        *,
        refused: tuple[str, ...] = (),
        read: Callable[[str], WebUrl] | None = None,
    ) -> None:
        self._pages = pages
        self._refused = refused
        self._read = read or plain_url
        self._asked = Counter()
        self.requests: list[PageRequest] = []
        """Every fetch, in order."""
        self.running = 0
        """How many fetches have begun and not ended in any way."""

    async def asked(self, requests: int = 1) -> None:
        """Return as soon as that many fetches have begun."""
        await self._asked.reached(requests)

    def target(self, text: str) -> WebUrl:
        """The URL; Refused for those that are to be, and for what is no URL."""
        try:
            url = self._read(text)
        except ValueError as error:
            raise Refused(f"{text} is not fetched: {error}") from error
        self._judge(url)
        return url

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        """The scripted page."""
        self._judge(request.url)
        self.requests.append(request)
        self._asked.add()
        self.running += 1
        try:
            return await self._answer(request, hop)
        finally:
            self.running -= 1

    async def _answer(self, request: PageRequest, hop: Hop) -> Page:
        found = self._pages.get(request.url.text)
        if found is None:
            raise AssertionError(f"nobody scripted this page: {request.url.text}")
        page = await found if isinstance(found, Gate) else found
        if isinstance(page, Exception):
            raise page
        url = request.url
        for target in page.hops:
            self._judge(target)
            if target.origin != url.origin:
                try:
                    await hop(target)
                except Refused as error:
                    raise Refused(f"{url} redirects to {target}, which is refused. {error}") from error
            url = target
        return page

    def _judge(self, url: WebUrl) -> None:
        if url.text in self._refused:
            raise Refused(f"{url} is refused here")


def plain_url(text: str) -> WebUrl:
    """A URL without escapes, names in other scripts or dots in its path. Raises ValueError."""
    scheme, colon, rest = text.partition("://")
    rest, sharp, fragment = rest.partition("#")
    where, _, path = rest.partition("/")
    host, _, port = where.partition(":")
    if not colon or not host or (scheme != "http" and scheme != "https"):
        raise ValueError("right would be https://example.com/")
    number = int(port) if port else 443 if scheme == "https" else 80
    return WebUrl(
        "https" if scheme == "https" else "http", host, number, f"/{path}", fragment if sharp else None
    )
