"""
Which proxy a URL goes through, by the rules of Go's `http.ProxyFromEnvironment` (contract N2, N3).

Pure: the environment is handed in. aiohttp's own reading of it differs (no address ranges, lower case
first, loopback not exempt), so it is switched off and this is used.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

_PORTS = {"http": "80", "https": "443"}

_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network


class ProxyRefused(ValueError):
    """The proxy can't be used; the message says why and never shows credentials."""


class CgiRefused(ProxyRefused):
    """In a CGI process HTTP_PROXY may come from a request's `Proxy:` header, so it is not believed."""

    def __init__(self) -> None:
        super().__init__(
            "HTTP_PROXY is not used for http:// URLs because REQUEST_METHOD is set (a CGI process, where any "
            "client can set HTTP_PROXY); set the proxy in the settings, or unset one of the two"
        )


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """
    The proxy for *url*, as an http or https URL that may hold credentials; None means directly.

    Raises ProxyRefused.
    """
    parts = urlsplit(url)
    value = _first(environ, "HTTPS_PROXY" if parts.scheme == "https" else "HTTP_PROXY")
    if parts.scheme not in _PORTS or not value:
        return None
    proxy = parse_proxy(value)
    if parts.scheme == "http" and environ.get("REQUEST_METHOD"):
        raise CgiRefused
    host, port = _ascii(parts.hostname or ""), str(parts.port or _PORTS[parts.scheme])
    return None if _exempt(host, port, _first(environ, "NO_PROXY")) else proxy


def parse_proxy(value: str) -> str:
    """The URL of a proxy; without a scheme it is http. Raises ProxyRefused."""
    try:
        parts = urlsplit(value)
        if "://" not in value:
            value = f"http://{value}"
            parts = urlsplit(value)
        good = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise ProxyRefused("the proxy is not a URL; right would be http://host:port") from None
    if parts.scheme not in _PORTS:
        raise ProxyRefused(
            f"the proxy has the scheme {parts.scheme!r}; only http and https proxies work here"
        )
    if not good:
        raise ProxyRefused("the proxy names no host; right would be http://host:port")
    return value


def shown(proxy: str) -> str:
    """The URL of a proxy without its credentials."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _first(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _exempt(host: str, port: str, no_proxy: str) -> bool:
    if host == "localhost":
        return True
    address = _address(host)
    if address is not None and address.is_loopback:
        return True
    rules = [rule.strip().lower() for rule in no_proxy.split(",")]
    return any(_matches(rule, host, address, port) for rule in rules if rule)


def _matches(rule: str, host: str, address: _Address | None, port: str) -> bool:
    if rule == "*":
        return True
    network = _network(rule)
    if network is not None:
        return address is not None and address in network
    name, only_port = _split_port(rule)
    if not name or only_port not in ("", port):
        return False
    rule_address = _address(name)
    if rule_address is not None:
        return rule_address == address
    return _same_domain(name, host)


def _same_domain(rule: str, host: str) -> bool:
    """`a.b` is for itself and what is below it, `.a.b` and `*.a.b` only for what is below."""
    below = rule.removeprefix("*") if rule.startswith("*.") else rule
    if below.startswith("."):
        return host.endswith(_ascii(below))
    name = _ascii(below)
    return host == name or host.endswith(f".{name}")


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    try:
        dot = "." if name.startswith(".") else ""
        return dot + name.removeprefix(".").encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _split_port(rule: str) -> tuple[str, str]:
    """Host and port of a rule; an IPv6 address with a port stands in square brackets."""
    if rule.startswith("["):
        name, _, rest = rule[1:].partition("]")
        return name, rest.removeprefix(":")
    name, colon, port = rule.rpartition(":")
    if not colon or ":" in name:
        return rule, ""
    return name, port


def _address(text: str) -> _Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _network(text: str) -> _Network | None:
    if "/" not in text:
        return None
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None
