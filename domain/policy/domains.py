"""
Patterns of host names: `example.com`, `*.example.com`, `*`.

Compared label by label on the ASCII form; case and a trailing dot make no difference; ports,
schemes and paths are not looked at. `*.example.com` stands for example.com and everything beneath
it, in allow as in deny: whoever owns the apex owns the rest, and a deny that leaves the apex open
surprises. (`dir/**` includes `dir` likewise.) `example.com` is that host alone.

A name in another script is turned to ASCII by the standard library, which knows IDNA 2003.
Characters that later versions read otherwise are refused, since the rule would bind another host
than the one that is asked for; the ASCII form (xn--…) can always be written.
"""

import ipaddress
import re

from norma.domain.model.values import frozen

_ASCII_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOTS_OF_OTHER_SCRIPTS = frozenset("\u3002\uff0e\uff61")


@frozen
class DomainPattern:
    """One pattern. *wild*: the labels and everything beneath them; without labels, every host."""

    labels: tuple[str, ...]
    wild: bool

    @classmethod
    def parse(cls, text: str) -> "DomainPattern":
        """Raises ValueError saying what is wrong with *text* and what would be right."""
        if text == "*":
            return cls((), True)
        wild = text.startswith("*.")
        name = text[2:] if wild else text
        _refuse_more_than_a_name(name)
        address = _address(name)
        if address is not None:
            if wild:
                raise ValueError(f"{text}: an address has no subdomains; write {name}")
            return cls((address,), False)
        labels = tuple(_ascii(label) for label in name.removesuffix(".").split("."))
        if _NUMBER.fullmatch(labels[-1]):
            raise ValueError(f"{text} is neither a host name nor an address such as 192.0.2.1")
        return cls(labels, wild)

    def matches(self, host: str) -> bool:
        """Whether *host*, in ASCII form, fits."""
        labels = labels_of(host)
        if self.wild:
            return labels[len(labels) - len(self.labels) :] == self.labels
        return labels == self.labels


def labels_of(host: str) -> tuple[str, ...]:
    """The labels of a host in ASCII form; an address is one label."""
    address = _address(host)
    return tuple(host.lower().removesuffix(".").split(".")) if address is None else (address,)


def _address(host: str) -> str | None:
    """The one spelling of an IP address, None for a name."""
    try:
        return str(ipaddress.ip_address(host.removeprefix("[").removesuffix("]").removesuffix(".")))
    except ValueError:
        return None


def _refuse_more_than_a_name(name: str) -> None:
    if not name:
        raise ValueError("the name is empty; write domain:example.com, or domain:* for every host")
    if "*" in name:
        raise ValueError(f"{name}: * can only stand at the beginning, as in *.example.com")
    if "/" in name or "@" in name:
        raise ValueError(f"{name} is more than a host name; write domain:example.com")
    if ":" in name and _address(name) is None:
        raise ValueError(f"{name}: rules do not look at ports; write domain:{name.split(':', maxsplit=1)[0]}")


def _ascii(label: str) -> str:
    if label.isascii():
        lowered = label.lower()
        if not _ASCII_LABEL.fullmatch(lowered):
            raise ValueError(f"{label!r} is no part of a host name; write domain:example.com")
        return lowered
    # Loaded only for such names: its tables take a while.
    from encodings import idna

    # What comes back as it went (unlike ß, ς, joiners, wide letters) is read alike by all versions.
    try:
        encoded = idna.ToASCII(label.lower()).decode("ascii")
        certain = idna.ToUnicode(encoded) == label.lower()
    except UnicodeError:
        encoded, certain = "", False
    if not certain or _DOTS_OF_OTHER_SCRIPTS & set(label):
        raise ValueError(f"{label} is not read alike by all versions of IDNA; write its ASCII form (xn--…)")
    return encoded
