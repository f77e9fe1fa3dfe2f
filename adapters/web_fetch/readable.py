"""
The other reader: readability-lxml chooses the article, markdownify writes it.

Cleaner than the walk (on news pages almost no menus are left) and about ten times as slow; it may leave out
parts of a page (div soups, lists of links, tables), does so without a word, and can't go deep. So it serves
only where the settings ask for it (fetch.reader = "article"), and when it finds under a quarter of the body's
text, or fails, the walk serves and a note says so.
"""

from collections.abc import Callable
from typing import Any

from norma.adapters.web_fetch.html import Document, Reading, read
from norma.adapters.web_fetch.marks import plain, tidy
from norma.adapters.web_fetch.paths import length_of

_LEAST_SHARE = 0.25
_DEEPEST = 150
"""Levels that markdownify is given: it recurses, and fails from about 330."""


def read_article(text: str, document: Document, stop: Callable[[], None]) -> Reading:
    """The article of a page that was parsed as *document* from *text*, or the whole body with a note."""
    article = _article(text, document)
    stop()
    whole = length_of(document.body)
    if article is None or len(article) < _LEAST_SHARE * whole:
        reading = read(document, stop)
        why = "the article reader found too little; the page was read whole"
        return Reading(reading.markdown, (*reading.notes, why))
    heading = f"# {plain(document.title)}\n\n" if document.title and not article.startswith("# ") else ""
    return Reading(heading + article, ("only what was recognised as the page's article is shown",))


def _article(text: str, document: Document) -> str | None:
    """The article as Markdown; None if the libraries find none, or fail on the page in any way."""
    from markdownify import markdownify
    from readability import Document as Article

    if _depth(document.root) > _DEEPEST:
        return None
    try:
        summary = Article(text).summary(html_partial=True)
        return tidy(markdownify(_with_links(summary, document), heading_style="ATX"))
    except Exception:  # of any class, on strange pages; the caller reads the page otherwise, and says so
        return None


def _with_links(summary: str, document: Document) -> str:
    from lxml import html

    root = html.fragment_fromstring(summary, create_parent="div")
    for node in root.iter("a", "img"):
        name = "href" if node.tag == "a" else "src"
        target = document.absolute(node.get(name) or "")
        if target is None:
            node.attrib.pop(name, None)
        else:
            node.set(name, target)
    return str(html.tostring(root, encoding="unicode"))


def _depth(root: Any) -> int:
    from lxml import etree

    depth = deepest = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest
