"""Pages kept for a while, behind the same port: a wrapper around whatever fetches."""

from collections import OrderedDict
from collections.abc import Sequence

from attrs import evolve

from norma.domain.model.values import frozen
from norma.ports.clock import Clock
from norma.ports.errors import Refused
from norma.ports.page_fetch import Hop, Page, PageFetch, PageRequest
from norma.ports.urls import BadUrl, UrlParser, WebUrl

MOST_PAGES = 64

_Key = tuple[str, str, bool]


@frozen
class _Kept:
    page: Page
    at: float


class CachedPages(PageFetch):
    """
    Keeps whole answers of status 200 for *keep_s* seconds, by URL and options; 0: keeps none.

    A page stands under the URL that was asked for and under the one that it came from, for one session.
    Before a kept page is given it is judged as a fresh fetch is: the URL, and each hop that led to it is
    asked about again.
    """

    def __init__(self, pages: PageFetch, urls: UrlParser, clock: Clock, *, keep_s: float) -> None:
        self._pages = pages
        self._urls = urls
        self._clock = clock
        self._keep_s = keep_s
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()

    def target(self, text: str) -> WebUrl:
        return self._pages.target(text)

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        kept = self._find(request)
        if kept is None:
            page = await self._pages.fetch(request, hop=hop)
            self._keep(request, page)
            return page
        await self._judge(request.url, kept.page.hops, hop)
        age = self._clock.monotonic() - kept.at
        url = _with_fragment(kept.page.url, request.url)
        note = f"from the cache, fetched {round(age)} s ago"
        return evolve(
            kept.page, requested_url=str(request.url), url=url, age_s=age, notes=(note, *kept.page.notes)
        )

    def _find(self, request: PageRequest) -> _Kept | None:
        key = (request.session, request.url.text, request.extract)
        kept = self._kept.get(key)
        if kept is None or self._clock.monotonic() - kept.at >= self._keep_s:
            self._kept.pop(key, None)
            return None
        return kept

    async def _judge(self, url: WebUrl, hops: Sequence[WebUrl], hop: Hop) -> None:
        """As a fresh fetch: the URL policy on each URL, the caller's word on each new origin."""
        self._pages.target(str(url))
        for target in hops:
            self._pages.target(str(target))
            if target.origin != url.origin:
                try:
                    await hop(target)
                except Refused as error:
                    raise Refused(f"{url} redirects to {target}, which is refused. {error}") from error
            url = target

    def _keep(self, request: PageRequest, page: Page) -> None:
        if not self._keep_s or page.status != 200 or any(_partial(note) for note in page.notes):
            return
        now = self._clock.monotonic()
        self._put((request.session, request.url.text, request.extract), _Kept(page, now))
        try:
            final = self._urls.parse(page.url)
        except BadUrl:
            return
        if final.text != request.url.text:
            self._put((request.session, final.text, request.extract), _Kept(evolve(page, hops=()), now))

    def _put(self, key: _Key, kept: _Kept) -> None:
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_PAGES:
            self._kept.popitem(last=False)


def _with_fragment(url: str, asked: WebUrl) -> str:
    text, sharp, fragment = url.partition("#")
    wanted = asked.fragment if asked.fragment is not None else fragment if sharp else None
    return text if wanted is None else f"{text}#{wanted}"


def _partial(note: str) -> bool:
    """Whether the page came in part only, so that another fetch may bring more."""
    return note.startswith("incomplete")
