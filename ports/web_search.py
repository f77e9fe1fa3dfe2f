"""
The web-search port: results for a query, from a backend that is somebody else's (contract W).

Above: the WebSearch tool, `norma search` and `norma probe search`. Below: a provider's API or page.
"""

from abc import abstractmethod
from typing import Literal, Protocol, TypeAlias

from norma.domain.model.values import frozen
from norma.ports.errors import PortError

DEFAULT_RESULTS, MOST_RESULTS = 5, 20

Outcome: TypeAlias = Literal["results", "empty", "blocked", "quota", "auth", "layout", "error"]
"""
What came of a search. empty: the backend says that there is nothing, which is an answer. blocked: not now (a
rate limit, a challenge); waiting may help. quota: the plan is used up; waiting does not help soon. auth: no
key, or not a good one. layout: the answer has a shape that this version does not know. error: anything else.
"""


class SearchFailed(PortError):
    """The backend could not be asked, or gave no answer at all. *failure* says why."""


@frozen
class SearchHit:
    """One result, as plain text; *url* is http or https. *snippet* may be empty."""

    title: str
    url: str
    snippet: str = ""


@frozen
class SearchAnswer:
    """
    What a backend answered. *results* are in its order; beside "results" only "error" may have some.

    *retry_after_s* is the backend's wish. *notes* say what was wrong, in words without secrets.
    """

    outcome: Outcome
    results: tuple[SearchHit, ...] = ()
    retry_after_s: float | None = None
    notes: tuple[str, ...] = ()


class WebSearch(Protocol):
    """Searches the web. Many searches may run at once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The backend's name, as the settings have it."""

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """Where queries are sent, without secrets."""

    @abstractmethod
    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        """
        The answer to *query*, with *limit* results at most (1 to `MOST_RESULTS`; more is read as that).

        One request, no retry. Cancellation passes through and closes the connection first.

        Raises SearchFailed: there is no answer, or none within the adapter's deadline.
        """
