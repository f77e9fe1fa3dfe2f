"""
The URL parser port: one reading of an address, for rule, question and request alike.

Above: whatever judges or requests a URL. Below: an adapter that follows the URL standard. Two readings of
one text are how guards are walked around, so nobody else takes a URL apart.
"""

from abc import abstractmethod
from typing import Literal, Protocol, TypeAlias

from norma.domain.model.values import frozen

Scheme: TypeAlias = Literal["http", "https"]

DEFAULT_PORTS: dict[str, int] = {"http": 80, "https": 443}


class BadUrl(ValueError):
    """The text is no http or https URL that can be requested; the message says why."""


@frozen
class WebUrl:
    """
    An http or https URL, taken apart.

    *host* is in ASCII form without a trailing dot: a name, dotted IPv4, or IPv6 without brackets in its one
    spelling. *target* is path and query as they are sent, and begins with a slash. *fragment* is never sent;
    None if there is none. *dropped_credentials*: the text had a user or a password, which are not kept.
    """

    scheme: Scheme
    host: str
    port: int
    target: str
    fragment: str | None = None
    dropped_credentials: bool = False

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: what one permission is for."""
        return self.scheme, self.host, self.port

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def text(self) -> str:
        """The URL as it is requested, without fragment."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"

    def __str__(self) -> str:
        """The URL as it is shown, with its fragment."""
        return self.text if self.fragment is None else f"{self.text}#{self.fragment}"


class UrlParser(Protocol):
    """Reads URLs. Pure: it asks nobody and is quick."""

    @abstractmethod
    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        """
        The URL that *text* says, relative to *base* if there is one.

        Parsing `str(url)` again gives an equal value. Raises BadUrl, also for every other scheme and for
        a text that browsers and servers might read differently.
        """
