"""
Hosts of URLs by the URL standard: names to ASCII, and every spelling of an address to its one form.

`127.1`, `0x7f000001`, `%31%32%37.0.0.1` and full-width digits all mean 127.0.0.1 to what opens the socket,
so they must to what judges it.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

from norma.ports.urls import BadUrl

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\"#%/:<>?@\[\\\]^`{|}]")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_MOST = 253
_MOST_LABEL = 63


def read_host(text: str) -> str:
    """The host in ASCII form. Raises BadUrl."""
    if not text:
        raise BadUrl("the URL names no host; right would be https://example.com/")
    if text.startswith("["):
        return _ipv6(text)
    name = _decoded(text)
    name = (name if name.isascii() else _to_ascii(name)).lower()
    bad = _FORBIDDEN.search(name)
    if bad is not None:
        raise BadUrl(f"the host {text!r} can't hold {bad[0]!r}")
    name = name.removesuffix(".")
    labels = name.split(".")
    if not all(labels):
        raise BadUrl(f"the host {text!r} has an empty part")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(text, labels)
    if len(name) > _MOST or max(map(len, labels)) > _MOST_LABEL:
        raise BadUrl("the host is longer than a name can be")
    return name


def _decoded(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeError:
        raise BadUrl(f"the host {text!r} is no UTF-8") from None


def _to_ascii(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True, std3_rules=False).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise BadUrl(f"the host {name!r} has no ASCII form: {error}") from None


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text.removeprefix("[").removesuffix("]"))) if _bracketed(text) else ""
    except AddressValueError:
        raise BadUrl(f"{text} is no IPv6 address") from None


def _bracketed(text: str) -> bool:
    if not text.endswith("]") or "%" in text:
        raise BadUrl(f"{text} is no IPv6 address")
    return True


def _ipv4(text: str, labels: list[str]) -> str:
    """One to four numbers, decimal, octal or hexadecimal; the last fills what is left."""
    numbers = [_number(text, label) for label in labels]
    if len(numbers) > 4 or any(number > 255 for number in numbers[:-1]):
        raise BadUrl(f"{text} is no IPv4 address")
    if numbers[-1] >= 256 ** (5 - len(numbers)):
        raise BadUrl(f"{text} is no IPv4 address")
    value = numbers[-1] + sum(number << 8 * (3 - place) for place, number in enumerate(numbers[:-1]))
    return str(IPv4Address(value))


def _number(text: str, label: str) -> int:
    try:
        if label[:2].lower() == "0x":
            return int(label[2:] or "0", 16)
        if not label.isdigit() or len(label) > 20:
            raise ValueError
        return int(label, 8 if label.startswith("0") and len(label) > 1 else 10)
    except ValueError:
        raise BadUrl(f"{text} is no IPv4 address") from None
