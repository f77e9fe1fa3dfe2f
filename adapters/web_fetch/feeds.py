"""RSS and Atom as Markdown: the feed's title, then each entry with its link, date and summary."""

from collections.abc import Callable
from typing import Any

from norma.adapters.web_fetch.html import parse, read
from norma.adapters.web_fetch.marks import SPACE, link_maker, plain
from norma.adapters.web_fetch.source import readable

_ENTRIES = 100


def feed(text: str, url: str, stop: Callable[[], None]) -> str | None:
    """The feed; None if it can't be read as one. No entity is expanded and nothing is loaded."""
    from lxml import etree

    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, encoding="utf-8"
    )
    try:
        root = etree.fromstring(readable(text).strip().encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is None:
        return None
    entries = [node for node in root.iter() if _name(node) in ("item", "entry")]
    if not entries:
        return None
    absolute = link_maker(url, None)
    channel = next((node for node in root.iter() if _name(node) == "channel"), root)
    parts = [
        f"# {plain(_said(channel, 'title') or 'Feed')}",
        plain(_said(channel, "description", "subtitle")),
    ]
    for entry in entries[:_ENTRIES]:
        stop()
        parts.append(_entry(entry, url, absolute, stop))
    if len(entries) > _ENTRIES:
        parts.append(f"({len(entries) - _ENTRIES} more entries)")
    return "\n\n".join(filter(None, parts))


def _entry(entry: Any, url: str, absolute: Callable[[str], str | None], stop: Callable[[], None]) -> str:
    title = plain(_said(entry, "title")) or "(untitled)"
    link = absolute(_link(entry)) if _link(entry) else None
    heading = f"## [{title}]({link})" if link else f"## {title}"
    date = plain(_said(entry, "pubDate", "updated", "published", "date"))
    body = _said(entry, "encoded", "content", "description", "summary")
    if "<" in body:
        document = parse(body, url)
        body = read(document, stop).markdown if document is not None else ""
    else:
        body = plain(body)
    return "\n\n".join(filter(None, (heading, date, body)))


def _link(entry: Any) -> str:
    for node in entry:
        if _name(node) == "link":
            if node.get("href") and node.get("rel", "alternate") == "alternate":
                return str(node.get("href"))
            if (node.text or "").strip():
                return str(node.text).strip()
    return ""


def _said(node: Any, *names: str) -> str:
    """The text of the first child of one of these names."""
    for name in names:
        for child in node:
            if _name(child) == name:
                text = "".join(child.itertext()) if len(child) else child.text or ""
                if text.strip():
                    return SPACE.sub(" ", text).strip()
    return ""


def _name(node: Any) -> str:
    """The name without its namespace."""
    return str(node.tag.rpartition("}")[2]) if isinstance(node.tag, str) else ""
