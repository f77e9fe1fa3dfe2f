"""
http and https URLs, read as the URL standard reads them.

Differences, each towards refusing: a URL without two slashes behind its scheme, one with more than two, an
empty part of a host, port 0 and every other scheme. Credentials are left out and marked.
"""

import re
from typing import cast

from norma.adapters.urls.hosts import read_host
from norma.ports.urls import DEFAULT_PORTS, BadUrl, Scheme, UrlParser, WebUrl

MOST_CHARACTERS = 16_384

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(.*)", re.DOTALL)
_REMOVED = re.compile(r"[\t\n\r]")
_EDGE = "".join(map(chr, range(0x21)))
_AUTHORITY = re.compile(r"[^/\\?#]*")
# All but what may stand as it is: written as the rest of Unicode, each would take milliseconds to compile.
_PATH = re.compile(r"[^!$-;=@-\]_a-z|~]")
_QUERY = re.compile(r"[^!$-&(-;=?-~]")
_FRAGMENT = re.compile(r"[^!#-;=?-_a-~]")
_DOT = frozenset({".", "%2e"})
_DOTS = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


class StandardUrls(UrlParser):
    """The parser."""

    def parse(self, text: str, base: WebUrl | None = None) -> WebUrl:
        if len(text) > MOST_CHARACTERS:
            raise BadUrl(f"the URL has {len(text)} characters; {MOST_CHARACTERS} are the most")
        text = _REMOVED.sub("", text.strip(_EDGE))
        found = _SCHEME.fullmatch(text)
        if found is None:
            if base is None:
                raise BadUrl("the URL has no scheme; right would be https://example.com/")
            return _relative(text, base)
        scheme, rest = found[1].lower(), found[2]
        if scheme not in DEFAULT_PORTS:
            raise BadUrl(f"the scheme {scheme!r} is not fetched; only http and https are")
        if base is not None and scheme == base.scheme and rest[:1] not in ("/", "\\"):
            return _relative(rest, base)
        return _absolute(cast("Scheme", scheme), rest)


def _absolute(scheme: Scheme, rest: str) -> WebUrl:
    slashes = re.match(r"[/\\]*", rest)
    if slashes is None or len(slashes[0]) != 2:
        raise BadUrl(f"{scheme}: must be followed by two slashes and a host, as in https://example.com/")
    return _with_authority(scheme, rest[2:])


def _with_authority(scheme: Scheme, rest: str) -> WebUrl:
    authority = _authority(rest)
    _, at, where = authority.rpartition("@")
    host, port = _split_port(where)
    target, fragment = _target(rest[len(authority) :], "/")
    number = DEFAULT_PORTS[scheme] if not port else _port(port)
    return WebUrl(scheme, read_host(host), number, target, fragment, bool(at))


def _authority(rest: str) -> str:
    found = _AUTHORITY.match(rest)
    return found[0] if found else ""


def _relative(text: str, base: WebUrl) -> WebUrl:
    if text[:2].replace("\\", "/") == "//":
        if text[2:3] in ("/", "\\"):
            raise BadUrl("more than two slashes name no host")
        return _with_authority(base.scheme, text[2:])
    path, _, _ = base.target.partition("?")
    if not text or text.startswith("#"):
        fragment = _escaped(text[1:], _FRAGMENT) if text else None
        return WebUrl(base.scheme, base.host, base.port, base.target, fragment)
    if text.startswith("?"):
        target, fragment = _target(path + text, path)
    elif text[0] in "/\\":
        target, fragment = _target(text, "/")
    else:
        target, fragment = _target(path.rpartition("/")[0] + "/" + text, "/")
    return WebUrl(base.scheme, base.host, base.port, target, fragment)


def _target(text: str, empty: str) -> tuple[str, str | None]:
    """Path and query as they are sent, and the fragment, of what follows the authority."""
    rest, sharp, fragment = text.partition("#")
    path, mark, query = rest.partition("?")
    sent = _normal(path or empty) + (f"?{_escaped(query, _QUERY)}" if mark else "")
    return sent, _escaped(fragment, _FRAGMENT) if sharp else None


def _normal(path: str) -> str:
    """Slashes, dots and escapes as the standard has them."""
    out: list[str] = []
    parts = path.replace("\\", "/").removeprefix("/").split("/")
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part.lower() in _DOTS:
            if out:
                out.pop()
            if last:
                out.append("")
        elif part.lower() in _DOT:
            if last:
                out.append("")
        else:
            out.append(_escaped(part, _PATH))
    return "/" + "/".join(out)


def _escaped(text: str, unsafe: "re.Pattern[str]") -> str:
    return unsafe.sub(_percent, text)


def _percent(found: "re.Match[str]") -> str:
    # A header's bytes that were no UTF-8 came as half surrogates, and go out as the bytes they were.
    try:
        data = found[0].encode("utf-8", "surrogateescape")
    except UnicodeError:
        data = "\ufffd".encode()
    return "".join(f"%{byte:02X}" for byte in data)


def _split_port(where: str) -> tuple[str, str]:
    if where.startswith("["):
        host, bracket, rest = where.partition("]")
        if rest and not rest.startswith(":"):
            raise BadUrl(f"{where} is no host and port")
        return host + bracket, rest[1:]
    host, _, port = where.partition(":")
    return host, port


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or not 0 < int(text) < 65536:
        raise BadUrl(f"{text[:20]!r} is no port; ports go from 1 to 65535")
    return int(text)
