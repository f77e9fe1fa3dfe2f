"""The promises of the web-search port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from norma.domain.model.values import frozen
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import DoesNotApply, ended, raises, start
from norma.ports.web_search import DEFAULT_RESULTS, MOST_RESULTS, SearchFailed, WebSearch


@frozen
class WebSearchRig:
    """
    A backend with more than `MOST_RESULTS` results for *many*, none for *nothing*, and no answer to *broken*.

    *endless* never answers, None if that can't be arranged; *there* says whether a search has come to where
    it stays, *left* what of earlier ones still runs. *sent* counts requests.
    """

    search: WebSearch
    many: str
    nothing: str
    broken: str
    sent: Callable[[], int]
    endless: str | None = None
    there: Callable[[], bool] = lambda: True
    left: Callable[[], int] = lambda: 0


async def check_results(rig: WebSearchRig) -> None:
    """In the backend's order, as many as were asked for, plain text and web addresses."""
    few = await rig.search.search(rig.many, 3)
    more = await rig.search.search(rig.many, 7)
    assert few.outcome == "results", f"there are results: {few}"
    assert len(few.results) == 3, f"3 were asked for: {len(few.results)}"
    assert more.results[:3] == few.results, "the order is the backend's, whatever the limit"
    for hit in more.results:
        assert hit.url.startswith(("http://", "https://")), f"an address is http or https: {hit.url}"
        assert hit.title.strip(), "a result has a title"
        assert "\n" not in hit.title + hit.snippet, "titles and snippets are one line"


async def check_limits(rig: WebSearchRig) -> None:
    """Five by default, never more than the port allows."""
    assert len((await rig.search.search(rig.many)).results) == DEFAULT_RESULTS, "five by default"
    many = await rig.search.search(rig.many, MOST_RESULTS + 30)
    assert len(many.results) <= MOST_RESULTS, f"at most {MOST_RESULTS}: {len(many.results)}"


async def check_nothing(rig: WebSearchRig) -> None:
    """Nothing found is an answer of its own."""
    answer = await rig.search.search(rig.nothing)
    assert answer.outcome == "empty", f"nothing found is empty: {answer.outcome}"
    assert answer.results == (), "and has no results"


async def check_broken(rig: WebSearchRig) -> None:
    """No answer is SearchFailed or an outcome that says so, and never empty; there is no retry."""
    before = rig.sent()
    error = await raises(SearchFailed, rig.search.search(rig.broken), "no answer is SearchFailed")
    assert error.failure.message.strip(), "a failure has words"
    assert rig.sent() - before <= 1, "nothing is sent again"


async def check_names(rig: WebSearchRig) -> None:
    """Where queries go can be shown."""
    assert rig.search.name.strip(), "a backend has a name"
    assert rig.search.endpoint.startswith(("http://", "https://")), "queries go to a web address"


async def check_many_at_once(rig: WebSearchRig) -> None:
    """Searches share nothing."""
    tasks = [start(rig.search.search(query)) for query in (rig.many, rig.nothing) * 4]
    for task, outcome in zip(tasks, ("results", "empty") * 4, strict=True):
        await ended(task, "a search comes to its end")
        assert task.result().outcome == outcome, "answers do not mix"


async def check_cancel_everywhere(rig: WebSearchRig) -> None:
    """Cancelled at any await, the connection is closed before the cancellation passes."""
    query = rig.endless
    if query is None:
        raise DoesNotApply("every query of this rig is answered")

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        yield Scenario(rig.search.search(query), rig.there, after)

    async def after() -> None:
        assert rig.left() == 0, "nothing of a cancelled search runs on"

    await cancel_everywhere(make, "cancellation passes through a search", most=30)


CHECKS = (
    check_results,
    check_limits,
    check_nothing,
    check_broken,
    check_names,
    check_many_at_once,
    check_cancel_everywhere,
)
