"""
The address guard: where a URL that a model or a page supplied may lead (contract F7).

Refused is every address that is not globally reachable, by the special-purpose registries of IANA and not
by the interpreter's tables, which differ from version to version. An address inside another one (mapped,
6to4, NAT64, ISATAP) is what counts. Above: the egress, which asks about hosts and literals before it
sends, and the connector, which asks about the address that a socket is about to open. Pure.
"""

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    import aiohttp.abc

Address: TypeAlias = IPv4Address | IPv6Address

_V4 = tuple(
    (IPv4Network(network), why)
    for network, why in {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.100.100.200/32": "cloud metadata",
        "100.64.0.0/10": "shared between customers of a provider",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud metadata",
        "169.254.169.254/32": "cloud metadata",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "for protocols",
        "192.0.2.0/24": "for documentation",
        "192.88.99.0/24": "a relay",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "for benchmarks",
        "198.51.100.0/24": "for documentation",
        "203.0.113.0/24": "for documentation",
        "224.0.0.0/4": "multicast",
        "255.255.255.255/32": "broadcast",
        "240.0.0.0/4": "reserved",
    }.items()
)
_V6 = tuple(
    (IPv6Network(network), why)
    for network, why in {
        "::1/128": "loopback",
        "::/128": "unspecified",
        "fd00:ec2::254/128": "cloud metadata",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "fec0::/10": "private",
        "ff00::/8": "multicast",
        "2001::/23": "for protocols",
        "2001:db8::/32": "for documentation",
        "3fff::/20": "for documentation",
    }.items()
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = IPv6Network("::/96")

_LOOPBACK = ("127.0.0.1", "::1")
_METADATA = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)


TARGET: ContextVar[str] = ContextVar("norma_target")
"""The host that the running call wants; a socket that opens for it is judged as that host's."""


class AddressRefused(OSError):
    """The guard does not let a socket be opened to this address."""


class AddressGuard:
    """
    Judges hosts and addresses. *allow* opens hosts (exactly these) and ranges on purpose.

    *resolver* answers names instead of the system, and *open_socket* opens sockets instead of it, each only
    for what the guard let through. Raises ValueError for an entry of *allow* that is neither host nor range.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        resolver: "aiohttp.abc.AbstractResolver | None" = None,
        open_socket: "Callable[[Sequence[object]], socket.socket] | None" = None,
    ) -> None:
        self.resolver = resolver
        self.open_socket = open_socket
        self._networks: list[IPv4Network | IPv6Network] = []
        self._names: set[str] = set()
        for entry in allow:
            self._add(entry)

    def _add(self, entry: str) -> None:
        try:
            self._networks.append(ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            name = entry.rstrip(".").lower()
            if not name or "/" in name or ":" in name or not name.isascii():
                message = f"{entry!r} is no host and no range; right would be 10.0.0.0/8 or intranet.example"
                raise ValueError(message) from None
            self._names.add(name)

    def check_host(self, host: str) -> None:
        """
        Judge *host*, in ASCII form, before anything is sent, whoever is to look it up.

        Raises AddressRefused for a literal that is refused, and for names of this machine and of metadata
        services.
        """
        name = _name(host)
        if name in self._names:
            return
        if is_local(name) and not self.local_addresses():
            raise AddressRefused(f"{host} is a name of this machine (loopback)")
        if name in _METADATA:
            raise AddressRefused(f"{host} is a name of cloud metadata")
        address = _address(name)
        if address is not None:
            self.check_address(host, str(address))

    def check_address(self, host: str, address: str) -> None:
        """Judge the *address* that *host* stands for. Raises AddressRefused."""
        found = _address(address)
        if found is None:
            raise AddressRefused(f"{address} is no address")
        if _name(host) in self._names or any(self._opened(one) for one in (found, *_inside(found))):
            return
        why = refusal(found)
        if why is not None:
            shown = address if _name(host) == address.lower() else f"{host} ({address})"
            raise AddressRefused(f"{shown} is {why}")

    def local_addresses(self) -> tuple[str, ...]:
        """What a name of this machine stands for, as far as it is opened; nobody is asked for such names."""
        return tuple(one for one in _LOOPBACK if self._opened(ip_address(one)))

    def _opened(self, address: Address) -> bool:
        return any(address in network for network in self._networks if network.version == address.version)


def is_local(name: str) -> bool:
    """Whether *name* is `localhost` or beneath it, which is this machine whatever a resolver says."""
    return name == "localhost" or name.endswith(".localhost")


def refusal(address: Address) -> str | None:
    """Why *address* is not globally reachable; None if it is."""
    if isinstance(address, IPv4Address):
        return next((why for network, why in _V4 if address in network), None)
    for inner in _inside(address):
        why = refusal(inner)
        if why is not None:
            return f"{why} ({inner} inside {address})"
    if address.ipv4_mapped is not None or address in _NAT64:
        return None
    why = next((why for network, why in _V6 if address in network), None)
    if why is None and address not in _GLOBAL_V6:
        return "not in the globally reachable range"
    return why


def _inside(address: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that *address* carries."""
    if isinstance(address, IPv4Address):
        return ()
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address in _NAT64 or address in _LOCAL_NAT64:
        return (low,)
    if address in _COMPATIBLE and int(address) > 1:
        return (low,)
    if int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE:  # ISATAP
        return (low,)
    return ()


def _name(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _address(text: str) -> Address | None:
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None
