"""What the markup of a page says besides its text: comments, scripts, forms, links and meta tags."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from norma.adapters.web_fetch.html import Document
from norma.adapters.web_fetch.marks import SPACE

_COMMENT, _VALUE, _META = 300, 60, 120
_ENDPOINTS, _LINKS, _EACH = 40, 100, 100
_LONGEST = 500
_ENDPOINT = re.compile(
    r"""["'`]((?:https?://[^\s"'`<>\\]{3,300})|(?:/[A-Za-z0-9_][^\s"'`<>\\]{1,300}))["'`]"""
)
_SCANNED = 500_000


def signals(document: Document, stop: Callable[[], None]) -> str:
    """A section in Markdown; each part is bounded, and says how many more there are."""
    parts = [
        _part("Comments", _comments(document.root), _EACH),
        _part("Scripts", _scripts(document), _EACH),
        _part("Endpoints in scripts", _endpoints(document.root, stop), _EACH),
        _part("Forms", _forms(document), _EACH),
        _part("Meta", _meta(document.root), _EACH),
        _part("Links", _links(document), _LINKS),
    ]
    found = [part for part in parts if part]
    return "\n\n".join(["## Page signals", *(found or ["(none)"])])


def _part(name: str, lines: Iterator[str], most: int) -> str:
    unique = list(dict.fromkeys(lines))
    if not unique:
        return ""
    rows = [f"- {line}" for line in unique[:most]]
    more = len(unique) - most
    return "\n".join([f"### {name}", "", *rows, *([f"- … {more} more"] if more > 0 else [])])


def _short(text: str | None, most: int) -> str:
    words = SPACE.sub(" ", text or "").strip()
    return words if len(words) <= most else words[:most] + "…"


def _comments(root: Any) -> Iterator[str]:
    for node in root.xpath("//comment()"):
        words = _short(node.text, _COMMENT)
        if words:
            yield words


def _scripts(document: Document) -> Iterator[str]:
    for node in document.root.iter("script"):
        source = node.get("src")
        if source:
            yield _short(document.absolute(source) or source, _LONGEST)


def _endpoints(root: Any, stop: Callable[[], None]) -> Iterator[str]:
    for node in root.iter("script"):
        stop()
        text = (node.text or "")[:_SCANNED]
        found = dict.fromkeys(match[1] for match in _ENDPOINT.finditer(text))
        yield from list(found)[:_ENDPOINTS]


def _forms(document: Document) -> Iterator[str]:
    for form in document.root.iter("form"):
        action = document.absolute(form.get("action") or "") or "(none)"
        fields = ", ".join(_field(node) for node in form.iter("input", "select", "textarea", "button"))
        method = (form.get("method") or "get").upper()[:10]
        yield f"{method} {_short(action, _LONGEST)}: {_short(fields, 1000) or 'no fields'}"


def _field(node: Any) -> str:
    kind = node.get("type") or ("text" if node.tag == "input" else node.tag)
    name = _short(node.get("name") or node.get("id") or "(unnamed)", _VALUE)
    value = f"={_short(node.get('value'), _VALUE)}" if kind.lower() == "hidden" else ""
    return f"{name} ({_short(kind, 20)}){value}"


def _meta(root: Any) -> Iterator[str]:
    for node in root.iter("meta"):
        name = node.get("name") or node.get("property")
        if name and node.get("content"):
            yield f"{_short(name, _VALUE)}: {_short(node.get('content'), _META)}"


def _links(document: Document) -> Iterator[str]:
    for node in document.root.iter("a"):
        href = node.get("href")
        target = document.absolute(href) if href else None
        if target:
            yield _short(target, _LONGEST)
