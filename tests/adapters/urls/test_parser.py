"""One reading of a URL: the table of spellings, the standard's corners, and thousands of made ones."""

import ipaddress
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.http.guard import AddressGuard, AddressRefused
from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.fetch import WebPages
from norma.ports.errors import Refused
from norma.ports.urls import BadUrl, WebUrl
from tests.rigs.fixtures import rows_of

URLS = StandardUrls()
BASE = URLS.parse("http://h.example:81/a/b/c?x=1#f")


def pages() -> WebPages:
    guard = AddressGuard()
    return WebPages(Egress(NetworkPolicy("none"), environ={}, guard=guard), URLS, guard)


def test_F5_F7_every_row_of_the_table_is_decided_as_it_says(pytestconfig: pytest.Config) -> None:
    wrong = []
    for row in rows_of(pytestconfig, "web", "urls.json"):
        try:
            url = pages().target(row["url"])
            decision = "allow"
        except Refused:
            url, decision = None, "refuse"
        wanted = "refuse" if row["decision"] == "refuse" else "allow"
        if decision != wanted:
            wrong.append((row["url"], decision, row["why"]))
        if "ascii" in row["decision"]:
            assert url is not None
            assert url.host.isascii()
            assert "xn--" in str(url)
    assert wrong == []


def spellings(address: ipaddress.IPv4Address, chance: random.Random) -> str:
    """One of the ways in which a URL can name an IPv4 address."""
    parts = list(address.packed)
    count = chance.randint(1, 4)
    last = int.from_bytes(bytes(parts[count - 1 :]), "big")
    numbers = [*parts[: count - 1], last]
    forms = (str, hex, "0X{:X}".format, "0{:o}".format, "0x{:08x}".format)
    text = ".".join(chance.choice(forms)(number) for number in numbers)
    if chance.random() < 0.3:
        text = "".join(f"%{ord(c):02x}" if chance.random() < 0.5 else c for c in text)
    elif chance.random() < 0.3:
        text = text.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789"})
    elif chance.random() < 0.2:
        text = text.replace(".", "\u3002")
    return text + ("." if chance.random() < 0.2 else "")


def six(address: ipaddress.IPv4Address, chance: random.Random) -> str:
    """An IPv6 address that carries it."""
    value = int(address)
    high, low = value >> 16, value & 0xFFFF
    form = chance.choice(
        (f"::ffff:{address}", f"::ffff:{high:x}:{low:x}", f"::{address}", f"64:ff9b::{address}",
         f"64:ff9b::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1", f"0:0:0:0:0:FFFF:{high:X}:{low:X}",
         f"2001:470::5efe:{high:x}:{low:x}")
    )  # fmt: skip
    return f"[{form}]"


INSIDE = [
    ipaddress.ip_network(text)
    for text in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
        "0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "192.0.2.0/24", "198.18.0.0/15", "203.0.113.0/24",
    )
]  # fmt: skip


def test_F7_ten_thousand_spellings_of_inner_addresses_are_refused() -> None:
    chance = random.Random(20)
    fetch = pages()
    passed = []
    for number in range(10_000):
        network = chance.choice(INSIDE)
        address = ipaddress.IPv4Address(
            int(network.network_address) + chance.randrange(network.num_addresses)
        )
        host = spellings(address, chance) if number % 3 else six(address, chance)
        scheme, user = chance.choice(("http", "HTTPS")), chance.choice(("", "u:p@"))
        text = f"{scheme}://{user}{host}{chance.choice(('', ':8080', '/x', '?q'))}"
        with suppress(Refused):
            passed.append((text, fetch.target(text)))
    assert passed == []


def test_F7_the_same_spellings_of_public_addresses_pass_and_mean_them() -> None:
    chance = random.Random(21)
    fetch = pages()
    for _ in range(2_000):
        address = ipaddress.IPv4Address(f"93.184.{chance.randrange(256)}.{chance.randrange(256)}")
        assert fetch.target(f"http://{spellings(address, chance)}/").host == str(address)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "http://h.example:81/a/b/c?x=1"),
        ("#g", "http://h.example:81/a/b/c?x=1#g"),
        ("?y", "http://h.example:81/a/b/c?y"),
        ("d", "http://h.example:81/a/b/d"),
        ("../d", "http://h.example:81/a/d"),
        ("../../../d", "http://h.example:81/d"),
        ("%2e%2E/q", "http://h.example:81/a/q"),
        ("./", "http://h.example:81/a/b/"),
        ("//h2.example/x", "http://h2.example/x"),
        ("/\\h2.example/x", "http://h2.example/x"),
        ("\\\\h2.example\\x", "http://h2.example/x"),
        ("http:z", "http://h.example:81/a/b/z"),
        ("/한글?q=a b", "http://h.example:81/%ED%95%9C%EA%B8%80?q=a%20b"),
        ("/a\tb\nc", "http://h.example:81/abc"),
        ("/%41%zz", "http://h.example:81/%41%zz"),
        ("  HTTPS://User:pw@EXAMPLE.com.:443/A#B  ", "https://example.com/A#B"),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
        ("http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8::1]/"),
        ("/caf\udcc3\udca9", "http://h.example:81/caf%C3%A9"),
    ],
)
def test_relative_and_odd_urls_are_read_as_the_standard_reads_them(text: str, wanted: str) -> None:
    assert str(URLS.parse(text, BASE)) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "example.com", "//example.com/", "http:", "http:/x.example/", "http:///x.example/", "http://",
        "http://a b/", "http://a..b/", "http://.example/", "http://[::1", "http://[::1%25lo]/", "http://[v1.x]/",
        "http://1.2.3.4.5/", "http://256.1/", "http://1.2.3.09/", "http://0x1ffffffff/", "http://h:0/",
        "http://h:65536/", "http://h:8a/", "http://h:-1/", "http://a%00b/", "http://a%ff/", "http://\u00ad/",
        "http://a^b/", "http://" + "a" * 64 + "/", "http://" + "a." * 130 + "b/", "http://h/" + "x" * 20_000,
        "ws://h/", "about:blank", "mailto:a@b.example", "view-source:http://h/", "h\u200bttp://h/",
    ],
)  # fmt: skip
def test_F5_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(BadUrl) as caught:
        URLS.parse(text)
    assert str(caught.value)


@given(st.text(max_size=60), st.sampled_from(["http://", "https://", "//", "/", "", "http://h.example/"]))
def test_reading_what_was_read_changes_nothing_and_nothing_else_is_raised(text: str, before: str) -> None:
    try:
        url = URLS.parse(before + text, BASE)
    except BadUrl:
        return
    again = URLS.parse(str(url))
    assert again == WebUrl(url.scheme, url.host, url.port, url.target, url.fragment)
    assert str(url).isascii()


def test_credentials_are_left_out_and_marked() -> None:
    url = URLS.parse("http://alice:secret@h.example/")
    assert url.dropped_credentials
    assert "secret" not in repr(url)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700:4700::1111]"])
def test_F7_public_literals_pass(scheme: str, host: str) -> None:
    guard = AddressGuard()
    guard.check_host(URLS.parse(f"{scheme}://{host}/").host)
    with pytest.raises(AddressRefused):
        guard.check_host("localhost")
