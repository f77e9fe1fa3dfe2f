"""One HTTP call: what goes out, what is told of it, and how it fails."""

from collections.abc import Mapping
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from attrs import field

from norma.domain.model.failures import Failure, FailureKind
from norma.domain.model.secrets import Secret
from norma.domain.model.values import frozen

Route: TypeAlias = Literal["direct", "proxy", "host"]


@frozen
class Call:
    """
    A request to be sent once. *attempt* counts, from 1, the requests that one logical request has made.

    A name in *headers* stands there once, whatever its letter case; secrets are `Secret`.
    """

    method: str
    url: str
    headers: Mapping[str, str | Secret] = field(factory=dict)
    body: bytes | None = field(default=None, repr=False)
    attempt: int = 1


@frozen
class CallReport:
    """
    What became of a call, told when its headers came or it failed. No secrets, no query.

    *route* "host": the host's own session decided. *proxy* and *address* are what the socket was opened
    to, as far as is known. *status* or *failure* is set, never both.
    """

    method: str
    url: str
    attempt: int
    route: Route
    proxy: str | None = None
    address: str | None = None
    status: int | None = None
    failure: FailureKind | None = None


class CallFailed(Exception):  # a port's adapter turns it into that port's error
    """
    A call did not get its answer, or not all of it.

    *may_retry*: it is a failure of the network that another attempt may not meet. *sent* is False where no
    connection was made, so that nobody can have got anything.
    """

    def __init__(self, failure: Failure, *, may_retry: bool, sent: bool = True) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.may_retry = may_retry
        self.sent = sent


def shown_url(url: str) -> str:
    """*url* without credentials, query and fragment, for messages and reports."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def host_of(url: str) -> str:
    """Host and port of *url*, for messages."""
    return urlsplit(url).netloc.rpartition("@")[2]


def refused_words(why: str) -> str:
    """The message of an address that the guard refused."""
    return f"{why}; it was not opened (fetch.allow_addresses names hosts and ranges that may be)"
