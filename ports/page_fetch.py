"""
The page-fetch port: one page of the web as text (contract F).

Above: the WebFetch tool and `norma fetch`. Below: HTTP, and what turns pages into Markdown.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from attrs import field

from norma.domain.model.values import frozen
from norma.ports.errors import PortError
from norma.ports.urls import WebUrl

MOST_CHARACTERS = 50_000
"""Of a whole result: status, headers, notes and text together."""

Hop: TypeAlias = Callable[[WebUrl], Awaitable[None]]
"""Asked before a request goes to another scheme, host or port; raises Refused if it may not."""


class FetchFailed(PortError):
    """No answer came, or none that can be shown. *failure* says why."""


@frozen
class PageRequest:
    """
    A page to fetch; *extract* adds what the markup says besides the text.

    *session* is whose fetch it is: what is kept of it is for that one alone.
    """

    url: WebUrl
    extract: bool = False
    session: str = ""


@frozen
class Page:
    """
    An answer, whatever its status.

    *url* is where it came from in the end, with its fragment. *headers* are the selected ones, each cut to a
    bounded length. *markdown* is the text, cut so that a result with all of this stays under
    `MOST_CHARACTERS`. *notes* name every cut, drop, guess and fallback. *hops* are the URLs that redirects
    led to, in order. *age_s* is set for a page that was kept from an earlier fetch.
    """

    requested_url: str
    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    markdown: str = field(repr=False)
    notes: tuple[str, ...] = ()
    hops: tuple[WebUrl, ...] = ()
    age_s: float | None = None


class PageFetch(Protocol):
    """Fetches pages. Many fetches may run at once."""

    @abstractmethod
    def target(self, text: str) -> WebUrl:
        """
        The URL that *text* says, judged as far as that goes without the network. Answers at once.

        Raises Refused: it is no http or https URL, names a static asset, or its host is refused.
        """

    @abstractmethod
    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        """
        The page at `request.url`, redirects followed.

        Each request is judged before it is sent; *hop* is asked once for each that goes to another scheme,
        host or port than the one before, and never for the first. The time that *hop* takes counts for no
        deadline. A page that could be read in part only is given with a note. Cancellation passes through,
        and closes the connection first.

        Raises:
            Refused: the URL or one that a redirect names is refused, by a rule or by *hop*; nothing was
                sent to it. The message names it.
            FetchFailed: there is no answer, or not within the adapter's deadline.
        """
