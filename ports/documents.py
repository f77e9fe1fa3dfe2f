"""
The documents port: the text of files that have pages (today: PDF).

Above: the Read tool. Below: a library in a process of its own, or a double.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from norma.domain.model.values import frozen


@frozen
class DocumentPage:
    """
    One page: *number* counts from 1, *of* is how many there are.

    *text* has line feeds alone between its lines and is empty where the page has none: a blank page, or the
    picture of one. *fault* says in a few words why text is missing; empty if none is.
    """

    number: int
    of: int
    text: str
    fault: str = ""


class Unreadable(ValueError):
    """It is damaged, locked, too large, or no such document; the message says which, without a full stop."""


class NotInstalled(Exception):
    """What would read such documents is not installed; the message says how to get it."""


class Documents(Protocol):
    """
    Reads documents that nobody vouches for. Many may be read at once.

    Nothing in a document makes this process wait, grow or fail with it.
    """

    @abstractmethod
    async def read(self, data: bytes, page: Callable[[DocumentPage], bool], *, first: int = 1) -> None:
        """
        Give *page* the pages of the document *data*, from the page *first* on, one by one and in order.

        It ends when there are no more (none at all where *first* is behind the last), or when *page* says by
        False that it wants no more. The same data gives the same pages. What *page* raises passes through.
        When this has ended, in whatever way, all that it started is gone.

        Raises:
            Unreadable: nothing can be read from here on.
            NotInstalled: see there.
            TimeoutError: it took too long; *page* has had all that came in time.
        """
