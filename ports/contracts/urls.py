"""The promises of the URL parser port."""

from norma.domain.model.values import frozen
from norma.ports.urls import BadUrl, UrlParser

SAME = (
    ("http://example.com", "http://example.com/"),
    ("HTTP://EXAMPLE.COM.:80/", "http://example.com/"),
    ("https://example.com:8443/a/../b?q=1#f", "https://example.com:8443/b?q=1#f"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://0x7f000001/", "http://127.0.0.1/"),
    ("http://017700000001/", "http://127.0.0.1/"),
    ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
    ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
)
"""Texts, and the one spelling that each has."""

REFUSED = (
    "", "example.com", "//example.com/", "http://", "http:///path", "http://a b/", "http://h:0/", "http://h:65536/",
    "file:///etc/hostname", "ftp://h/", "javascript:alert(1)", "data:text/plain,x", "http://1.2.3.4.5/", "http://[::1/",
)  # fmt: skip

RELATIVE = (
    ("/\\evil.example/x", "http://evil.example/x"),
    ("//evil.example/x", "http://evil.example/x"),
    ("../up", "http://h.example/a/up"),
    ("#part", "http://h.example/a/b/c?q#part"),
)
"""What a redirect from `http://h.example/a/b/c?q` may say, and where it leads."""


@frozen
class UrlRig:
    """A parser."""

    urls: UrlParser


def _refusal(rig: UrlRig, text: str) -> str:
    try:
        rig.urls.parse(text)
    except BadUrl as error:
        return str(error)
    return ""


async def check_one_spelling(rig: UrlRig) -> None:
    """Every spelling of one address is the same value."""
    for text, wanted in SAME:
        assert str(rig.urls.parse(text)) == wanted, f"{text} is {wanted}, got {rig.urls.parse(text)}"


async def check_stable(rig: UrlRig) -> None:
    """Reading again what was read changes nothing."""
    for text, _ in SAME:
        url = rig.urls.parse(text)
        assert rig.urls.parse(str(url)) == url, f"{url} is read as it was written"


async def check_refused(rig: UrlRig) -> None:
    """What is no http or https URL, or could be read in two ways, is BadUrl with words."""
    for text in REFUSED:
        assert _refusal(rig, text).strip(), f"{text!r} is refused, with words"


async def check_relative(rig: UrlRig) -> None:
    """A relative URL leads to where a browser would go."""
    base = rig.urls.parse("http://h.example/a/b/c?q")
    for text, wanted in RELATIVE:
        assert str(rig.urls.parse(text, base)) == wanted, f"{text} leads to {wanted}"


async def check_credentials(rig: UrlRig) -> None:
    """Credentials are dropped and marked."""
    url = rig.urls.parse("http://user:pass@h.example/")
    assert url.host == "h.example", "what stands before an @ is no host"
    assert url.dropped_credentials, "dropped credentials are marked"
    assert "pass" not in repr(url), "credentials are not kept"


CHECKS = (check_one_spelling, check_stable, check_refused, check_relative, check_credentials)
