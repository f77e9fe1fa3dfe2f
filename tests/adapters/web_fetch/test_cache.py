"""Pages that a session keeps: judged as fresh ones, for a while, each session its own."""

import pytest

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.pages import ScriptedPages
from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.cache import MOST_PAGES, CachedPages
from norma.ports.errors import Refused
from norma.ports.page_fetch import Page, PageRequest
from norma.ports.urls import WebUrl

URLS = StandardUrls()
A, B = URLS.parse("https://a.example/start"), URLS.parse("https://b.example/end")


def page(url: WebUrl, *hops: WebUrl, status: int = 200, notes: tuple[str, ...] = ()) -> Page:
    return Page(str(url), str(hops[-1] if hops else url), status, "OK", (), f"text of {url}", notes, hops)


class Asked:
    def __init__(self, denied: str = "") -> None:
        self.hops: list[str] = []
        self.denied = denied

    async def __call__(self, url: WebUrl) -> None:
        self.hops.append(url.host)
        if url.host == self.denied:
            raise Refused("denied")


def cached(*given: Page, keep_s: float = 900) -> tuple[CachedPages, ScriptedPages, ManualClock]:
    inner = ScriptedPages({one.requested_url: one for one in given}, read=URLS.parse)
    clock = ManualClock()
    return CachedPages(inner, URLS, clock, keep_s=keep_s), inner, clock


async def test_a_kept_page_says_that_it_is_kept_and_for_how_long() -> None:
    pages, inner, clock = cached(page(A))
    fresh = await pages.fetch(PageRequest(A), hop=Asked())
    clock.advance(61)
    kept = await pages.fetch(PageRequest(URLS.parse(f"{A}#part")), hop=Asked())
    assert (fresh.age_s, kept.age_s) == (None, 61)
    assert kept.markdown == fresh.markdown
    assert "61 s ago" in kept.notes[0]
    assert kept.url == f"{A}#part"
    assert len(inner.requests) == 1


async def test_it_is_kept_for_the_time_that_was_set() -> None:
    pages, inner, clock = cached(page(A), keep_s=10)
    for seconds in (9.9, 0.2, 9.9):
        await pages.fetch(PageRequest(A), hop=Asked())
        clock.advance(seconds)
    assert len(inner.requests) == 2


async def test_nothing_is_kept_where_the_time_is_nothing() -> None:
    pages, inner, _ = cached(page(A), keep_s=0)
    for _ in range(2):
        await pages.fetch(PageRequest(A), hop=Asked())
    assert len(inner.requests) == 2


async def test_F6_a_kept_page_is_judged_hop_by_hop_as_a_fresh_one() -> None:
    pages, inner, _ = cached(page(A, B))
    await pages.fetch(PageRequest(A), hop=Asked())
    asked = Asked()
    await pages.fetch(PageRequest(A), hop=asked)
    assert asked.hops == ["b.example"]
    with pytest.raises(Refused):
        await pages.fetch(PageRequest(A), hop=Asked("b.example"))
    assert len(inner.requests) == 1


async def test_it_stands_under_the_final_url_too_where_no_hop_is_left_to_ask_about() -> None:
    pages, inner, _ = cached(page(A, B))
    await pages.fetch(PageRequest(A), hop=Asked())
    asked = Asked()
    kept = await pages.fetch(PageRequest(B), hop=asked)
    assert kept.age_s is not None
    assert asked.hops == []
    assert len(inner.requests) == 1


async def test_options_and_sessions_have_pages_of_their_own() -> None:
    pages, inner, _ = cached(page(A))
    for request in (PageRequest(A), PageRequest(A, extract=True), PageRequest(A, session="other")):
        assert (await pages.fetch(request, hop=Asked())).age_s is None
    assert len(inner.requests) == 3


@pytest.mark.parametrize("kind", [page(A, status=404), page(A, notes=("incomplete: it broke off",))])
async def test_what_may_be_better_next_time_is_not_kept(kind: Page) -> None:
    pages, inner, _ = cached(kind)
    for _ in range(2):
        await pages.fetch(PageRequest(A), hop=Asked())
    assert len(inner.requests) == 2


async def test_no_more_pages_are_kept_than_the_bound() -> None:
    many = [page(URLS.parse(f"https://a.example/{n}")) for n in range(MOST_PAGES + 5)]
    pages, _, _ = cached(*many)
    for one in many:
        await pages.fetch(PageRequest(URLS.parse(one.requested_url)), hop=Asked())
    assert (await pages.fetch(PageRequest(URLS.parse("https://a.example/0")), hop=Asked())).age_s is None
    last = URLS.parse(f"https://a.example/{MOST_PAGES + 4}")
    assert (await pages.fetch(PageRequest(last), hop=Asked())).age_s is not None
