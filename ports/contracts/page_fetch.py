"""The promises of the page-fetch port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from norma.domain.model.values import frozen
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import DoesNotApply, ended, raises, start
from norma.ports.errors import Refused
from norma.ports.page_fetch import MOST_CHARACTERS, FetchFailed, PageFetch, PageRequest
from norma.ports.urls import WebUrl


@frozen
class PageRig:
    """
    Pages at these URLs: *plain* answers with `WORDS` and status 200, *missing* with status 404, *hops*
    redirects once on its own host and then to *other*, which answers with `WORDS`. *refused* is a URL that is
    refused, *to_refused* redirects to one. *broken* gives no answer. *long* is longer than a result may be.

    *endless* never answers, None if that can't be arranged; *there* says whether a fetch has come to where it
    stays, *left* what of earlier ones still runs. *requested* are the URLs that were really asked for.
    """

    pages: PageFetch
    plain: str
    missing: str
    hops: str
    other: str
    refused: str
    to_refused: str
    broken: str
    long: str
    requested: Callable[[], list[str]]
    endless: str | None = None
    there: Callable[[], bool] = lambda: True
    left: Callable[[], int] = lambda: 0


WORDS = "The words of the page."


class _Asked:
    def __init__(self, *, allow: bool = True) -> None:
        self.urls: list[WebUrl] = []
        self._allow = allow

    async def __call__(self, url: WebUrl) -> None:
        self.urls.append(url)
        if not self._allow:
            raise Refused("no rule allows it")


def _request(rig: PageRig, url: str) -> PageRequest:
    return PageRequest(rig.pages.target(url))


def _refusal(rig: PageRig, url: str) -> str:
    try:
        rig.pages.target(url)
    except Refused as error:
        return str(error)
    return ""


async def check_page(rig: PageRig) -> None:
    """A page is given with its status, its text and where it came from."""
    asked = _Asked()
    page = await rig.pages.fetch(_request(rig, rig.plain), hop=asked)
    assert page.status == 200, f"the status is the server's: {page.status}"
    assert WORDS in page.markdown, f"the text is there: {page.markdown!r}"
    assert page.url == page.requested_url == str(rig.pages.target(rig.plain)), "it says where it came from"
    assert asked.urls == [], "nobody is asked about the first URL"


async def check_f5_any_status_is_an_answer(rig: PageRig) -> None:
    """A status other than 2xx is no error."""
    page = await rig.pages.fetch(_request(rig, rig.missing), hop=_Asked())
    assert page.status == 404, f"a 404 is an answer: {page.status}"


async def check_f6_hops_are_asked_about(rig: PageRig) -> None:
    """Once for each that goes to another place, and not for those on the same host."""
    asked = _Asked()
    page = await rig.pages.fetch(_request(rig, rig.hops), hop=asked)
    assert [str(url) for url in asked.urls] == [rig.other], (
        f"the other host is asked about once: {asked.urls}"
    )
    assert page.url == rig.other, "the page says where it came from in the end"
    assert str(page.hops[-1]) == rig.other, "the hops are told in order"
    assert len(page.hops) == 2, f"every hop is told: {page.hops}"


async def check_f6_a_denied_hop_is_not_requested(rig: PageRig) -> None:
    """Refused names it, and nothing was sent to it."""
    before = len(rig.requested())
    fetch = rig.pages.fetch(_request(rig, rig.hops), hop=_Asked(allow=False))
    error = await raises(Refused, fetch, "a denied hop is Refused")
    assert rig.other in str(error), f"the message names the hop: {error}"
    assert rig.other not in rig.requested()[before:], "nothing is sent to a denied hop"


async def check_f7_what_is_refused_is_not_requested(rig: PageRig) -> None:
    """At `target`, at `fetch` and at a hop."""
    before = len(rig.requested())
    assert _refusal(rig, rig.refused).strip(), "a refused URL is Refused at once, with words"
    fetch = rig.pages.fetch(_request(rig, rig.to_refused), hop=_Asked())
    await raises(Refused, fetch, "a hop to a refused URL is Refused")
    assert rig.refused not in rig.requested()[before:], "nothing is sent to a refused URL"


async def check_no_answer(rig: PageRig) -> None:
    """Is FetchFailed with a reason."""
    fetch = rig.pages.fetch(_request(rig, rig.broken), hop=_Asked())
    error = await raises(FetchFailed, fetch, "no answer is FetchFailed")
    assert error.failure.message.strip(), "a failure has words"


async def check_f2_a_long_page_is_cut_with_a_note(rig: PageRig) -> None:
    """And never beyond what a result may have."""
    page = await rig.pages.fetch(_request(rig, rig.long), hop=_Asked())
    assert len(page.markdown) <= MOST_CHARACTERS, f"the text is cut: {len(page.markdown)} characters"
    assert page.notes, "a cut has a note"


async def check_many_at_once(rig: PageRig) -> None:
    """Fetches share nothing."""
    tasks = [
        start(rig.pages.fetch(_request(rig, url), hop=_Asked()))
        for url in (rig.plain, rig.missing, rig.hops) * 3
    ]
    for task, status in zip(tasks, (200, 404, 200) * 3, strict=True):
        await ended(task, "a fetch comes to its end")
        assert task.result().status == status, "answers do not mix"


async def check_cancel_everywhere(rig: PageRig) -> None:
    """Cancelled at any await, the connection is closed before the cancellation passes."""
    url = rig.endless
    if url is None:
        raise DoesNotApply("every page of this rig answers")

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        yield Scenario(rig.pages.fetch(_request(rig, url), hop=_Asked()), rig.there, after)

    async def after() -> None:
        assert rig.left() == 0, "nothing of a cancelled fetch runs on"

    await cancel_everywhere(make, "cancellation passes through a fetch", most=30)


CHECKS = (
    check_page,
    check_f5_any_status_is_an_answer,
    check_f6_hops_are_asked_about,
    check_f6_a_denied_hop_is_not_requested,
    check_f7_what_is_refused_is_not_requested,
    check_no_answer,
    check_f2_a_long_page_is_cut_with_a_note,
    check_many_at_once,
    check_cancel_everywhere,
)
