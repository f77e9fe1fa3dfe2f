"""From a body to what is shown of it: kind, charset, reader, signals, and the cap (contract F2 to F4)."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from norma.adapters.web_fetch.charsets import decode
from norma.adapters.web_fetch.html import Reading
from norma.adapters.web_fetch.kinds import described, kind_of
from norma.domain.model.values import frozen
from norma.ports.page_fetch import MOST_CHARACTERS

Reader: TypeAlias = Literal["whole", "article"]

ROOM = 4_000
"""Characters of a result that are kept for status, headers and notes."""


@frozen
class Body:
    """
    The body of an answer. *cut*: it goes on. *length* is what the server said of its length.

    *url* is where it came from, for its links.
    """

    data: bytes
    content_type: str
    url: str
    cut: bool = False
    length: str | None = None


def reading_of(body: Body, *, extract: bool, reader: Reader, stop: Callable[[], None]) -> Reading:
    """The Markdown of *body*. Never raises for what is in it; *stop* may raise."""
    kind = kind_of(body.data, body.content_type)
    if kind == "binary":
        return Reading(described(body.data, body.content_type, cut=body.cut, length=body.length))
    decoded = decode(body.data, body.content_type, markup=kind != "text", cut=body.cut)
    stop()
    if kind == "text":
        return _capped(_without_controls(decoded.text), decoded.notes)
    if kind == "feed":
        from norma.adapters.web_fetch.feeds import feed

        shown = feed(decoded.text, body.url, stop)
        if shown is not None:
            return _capped(shown, decoded.notes)
        return _capped(_without_controls(decoded.text), (*decoded.notes, "the feed can't be parsed"))
    return _page(decoded.text, body, decoded.notes, extract=extract, reader=reader, stop=stop)


def _page(
    text: str, body: Body, notes: tuple[str, ...], *, extract: bool, reader: Reader, stop: Callable[[], None]
) -> Reading:
    from norma.adapters.web_fetch.html import parse, read

    document = parse(text, body.url)
    if document is None:
        return _capped("", notes)
    stop()
    if reader == "article":
        from norma.adapters.web_fetch.readable import read_article

        found = read_article(text, document, stop)
    else:
        found = read(document, stop)
    if not extract:
        return _capped(found.markdown, (*notes, *found.notes))
    from norma.adapters.web_fetch.signals import signals

    # The signals were asked for, so a long text makes room for them.
    section = _cut(signals(document, stop), (MOST_CHARACTERS - ROOM) // 2)[0]
    rest = MOST_CHARACTERS - ROOM - len(section) - 2
    capped = _capped(found.markdown, (*notes, *found.notes), rest)
    return Reading("\n\n".join(filter(None, (capped.markdown, section))), capped.notes)


def _capped(text: str, notes: tuple[str, ...], most: int = MOST_CHARACTERS - ROOM) -> Reading:
    shown, left = _cut(text, most)
    if left:
        notes = (*notes, f"cut: {left} more characters are not shown")
    return Reading(shown, notes)


def _cut(text: str, most: int) -> tuple[str, int]:
    """*text* up to *most* characters, at the end of a line where one is near, and how much is left out."""
    if len(text) <= most:
        return text, 0
    end = text.rfind("\n", most - most // 20, most)
    end = most if end < 0 else end
    return text[:end], len(text) - end


def _without_controls(text: str) -> str:
    """Plain text as it is; only what no reader can show is replaced."""
    if text.isprintable():
        return text
    return text.translate(_CONTROLS)


_CONTROLS = dict.fromkeys((*range(9), 11, *range(14, 32), 127, *range(55296, 57344)), "�")
_CONTROLS[27] = ""
