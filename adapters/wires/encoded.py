"""A request as a wire's codec made it: what is sent, and what is shown of it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from attrs import field

from norma.adapters.http.json_text import parse_exactly
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.domain.model.secrets import Secret
from norma.domain.model.values import frozen

_SECRET_HEADERS = frozenset(
    {"authorization", "api-key", "x-api-key", "x-goog-api-key", "proxy-authorization", "cookie"}
)
_SECRET_QUERY = frozenset({"key", "api_key", "api-key", "apikey", "token", "access_token", "sig", "code"})


@frozen
class EncodedRequest:
    """
    One request, ready to be sent; retries send the same bytes.

    *names* leads the reply's tool names back to the tools. *losses* is empty where nothing is lost.
    """

    method: str
    url: str
    headers: Mapping[str, str | Secret]
    body: bytes = field(repr=False)
    names: WireNames = field(repr=False)
    stream: bool = True
    losses: tuple[Loss, ...] = ()

    def shown(self) -> dict[str, Any]:
        """The request as plain JSON, secrets as `***`: the same values that are sent."""
        return {
            "type": "request",
            "method": self.method,
            "url": _shown_url(self.url),
            "headers": {name: _shown_header(name, value) for name, value in self.headers.items()},
            "body": parse_exactly(self.body),
            "losses": [
                {"what": loss.what, "fate": loss.fate, "why": loss.why, "where": loss.where}
                for loss in self.losses
            ],
        }


def merged_headers(
    ours: Mapping[str, str | Secret], *extra: Mapping[str, str | Secret]
) -> dict[str, str | Secret]:
    """Headers of which later ones replace earlier ones of the same name in any letter case (M8)."""
    out: dict[str, str | Secret] = dict(ours)
    for headers in extra:
        for name, value in headers.items():
            for known in [known for known in out if known.lower() == name.lower()]:
                del out[known]
            out[name] = value
    return out


def _shown_header(name: str, value: str | Secret) -> str:
    return "***" if isinstance(value, Secret) or name.lower() in _SECRET_HEADERS else value


def _shown_url(url: str) -> str:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not any(name.lower() in _SECRET_QUERY for name, _ in pairs):
        return url
    query = urlencode(
        [(name, "***" if name.lower() in _SECRET_QUERY else value) for name, value in pairs], safe="*"
    )
    return urlunsplit(parts._replace(query=query))
