"""How a client reaches the network (contract N1)."""

from typing import Any

from attrs import Attribute, field

from norma.adapters.http.proxy import ProxyRefused, parse_proxy
from norma.domain.model.values import frozen


def _is_proxy(_: object, __: "Attribute[str]", value: str) -> None:
    if value in ("env", "none"):
        return
    try:
        parse_proxy(value)
    except ProxyRefused as error:
        raise ValueError(f"network.proxy: {error} (or say 'env' or 'none')") from None


def _is_time(_: object, attribute: "Attribute[Any]", value: float | None) -> None:
    if value is not None and not value > 0:
        raise ValueError(f"network.{attribute.name} is {value}, but must be more than 0 seconds")


@frozen
class NetworkPolicy:
    """
    Proxy, trust and deadlines of a client; each is independent of the others.

    *proxy* is "env", "none" or the URL of an HTTP proxy. *ca_file* is trusted beside the system's own
    authorities. *insecure_tls* trusts every certificate. *idle_timeout_s* bounds the time without a single
    byte from the server, headers included; None means no bound. Nothing bounds the whole of a call.
    """

    proxy: str = field(default="env", validator=_is_proxy, repr=False)
    ca_file: str | None = None
    insecure_tls: bool = False
    connect_timeout_s: float = field(default=10.0, validator=_is_time)
    idle_timeout_s: float | None = field(default=300.0, validator=_is_time)
