"""
Pages nested more deeply than any parser keeps: the source made shallow, by its tags alone.

libxml2 keeps 2,048 levels and drops the text below without a word.
"""

import re
from html import unescape

# fmt: off
_KEPT = frozenset({
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "a", "li", "pre", "code", "hr", "img", "tr", "td", "th",
    "title", "base", "meta", "script", "style",
})
# fmt: on
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)([^>]*)>")
_UNSEEN = re.compile(
    r"<(script|style|template|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.IGNORECASE
)
# fmt: off
_BLOCKS = frozenset({
    "div", "section", "article", "main", "ul", "ol", "dl", "table", "tbody", "blockquote", "dd", "dt",
    "figure", "center", "form",
})
# fmt: on


def flat(source: str) -> str:
    """*source* without the tags that only group; where a block ends, a line ends."""
    return _TAG.sub(_flattened, _UNSEEN.sub(" ", source))


def plain_paragraphs(source: str) -> str:
    """*source* as paragraphs of its text, each tag taken away."""
    text = unescape(_TAG.sub("\n", _UNSEEN.sub(" ", source)))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return "<p>" + re.sub(r"\s*\n\s*", "<p>", escaped)


def _flattened(found: "re.Match[str]") -> str:
    name = found[2].lower()
    if name in _KEPT:
        return found[0]
    return "<br><br>" if name in _BLOCKS else " "
