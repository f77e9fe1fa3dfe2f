"""
HTML to Markdown: one parse, the main part chosen, one walk (contract F3).

    parse → leave out what is hidden → choose → walk → was too much lost? then the whole body, then all

The main part is `<main>`, `[role=main]` or an `<article>` that holds most of the text outside of links. When
what was written is under a quarter of the body's text, the next wider choice is taken and a note says so:
silent loss is worse than noise. Nothing here recurses, and a page nested more deeply than the parser keeps is
flattened first.
"""

import re
from collections.abc import Callable
from typing import Any

from attrs import field

from norma.adapters.web_fetch.marks import SPACE, link_maker, plain
from norma.adapters.web_fetch.paths import length_of, text_of, xpath
from norma.adapters.web_fetch.source import readable
from norma.adapters.web_fetch.walk import AROUND, DROPPED, INSIDE, Walk
from norma.domain.model.values import frozen

_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?(.+?)[\"']?\s*$", re.IGNORECASE | re.DOTALL)
_CONSENT = re.compile(r"\bcookies?\b|\bconsent\b|before you continue|쿠키|Cookie|同意|zustimm", re.IGNORECASE)
_MAIN_SHARE = 0.4
_LEAST_SHARE = 0.25
_SHORT = 250
_SHORT_DIALOG = 1500
_SHOWN_TARGET = 500


@frozen
class Reading:
    """The Markdown of a page, and a note for each thing left out or guessed."""

    markdown: str = field(repr=False)
    notes: tuple[str, ...] = ()


@frozen
class Document:
    """A parsed page."""

    root: Any
    body: Any
    title: str
    absolute: Callable[[str], str | None]
    flattened: bool = False
    may_hide: bool = True


def parse(text: str, url: str) -> Document | None:
    """The page; None if there is no element in it."""
    from norma.adapters.web_fetch.deep import flat, plain_paragraphs

    text = readable(text)
    root, whole = _tree(text)
    flattened = not whole
    for flatten in (flat, plain_paragraphs):
        if whole:
            break
        root, whole = _tree(flatten(text))
    if root is None:
        return None
    body = root.find("body")
    base = next((one.get("href") for one in root.iter("base") if one.get("href")), None)
    links = link_maker(url, base)
    may_hide = "hidden" in text or "none" in text
    return Document(root, root if body is None else body, _title(root), links, flattened, may_hide)


def _tree(text: str) -> tuple[Any, bool]:
    """The elements of *text*, None if there are none, and whether all of it was read."""
    from lxml import etree

    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8", remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        return None, False
    # libxml2 ends at a depth of 2,048 and says so here alone.
    return root, not any("depth" in error.message for error in parser.error_log)


def read(document: Document, stop: Callable[[], None]) -> Reading:
    """The Markdown of *document*. *stop* is asked now and then and may raise."""
    notes = ["the page is nested very deeply; its structure was simplified"] if document.flattened else []
    hidden = _hidden(document.body) if document.may_hide else frozenset()
    tables = _outer_tables(document.body)
    weights = _Weights(document.body, hidden)
    chosen = weights.main()

    def written(root: Any, skip: frozenset[str], out: frozenset[Any]) -> str:
        return Walk(document.absolute, skip, out, stop, tables).markdown(root)

    text = written(chosen, DROPPED | (AROUND if chosen is document.body else INSIDE), hidden)
    if chosen is not document.body:
        if weights.around(chosen):
            left = weights.around(chosen)
            notes.append(f"only the page's main part is shown; {left} characters around it are not")
        if _too_little(text, weights.whole):
            text = written(document.body, DROPPED | AROUND, hidden)
            notes[-1:] = ["the page's main part held too little; its whole body is shown"]
    if _too_little(text, weights.whole + weights.hidden) or not text:
        wider = written(document.body, DROPPED, frozenset())
        if len(wider) > len(text):
            text = wider
            notes = ["little text was in the open; hidden parts and navigation are shown, too"]
    return _finished(document, text, notes, chosen)


def _too_little(text: str, whole: int) -> bool:
    return len(text) < _LEAST_SHARE * whole


def _finished(document: Document, text: str, notes: list[str], chosen: Any) -> Reading:
    parts = [text]
    if len(text) < _SHORT and _scripted(document.root):
        spoken = [_words(one) for one in document.root.iter("noscript")]
        parts += [plain(one) for one in spoken if one and one not in text]
        notes.append("a script builds this page, and scripts are not run; there is little to read without it")
    heading = _heading(document, text, chosen)
    if heading:
        parts.insert(0, heading)
    notes += _consent(document, text)
    notes += _refresh(document)
    return Reading("\n\n".join(filter(None, parts)), tuple(notes))


def _heading(document: Document, text: str, chosen: Any) -> str:
    """A first heading, where the text has none: the page's own outside of the chosen part, or its title."""
    if text.startswith("# ") or "\n# " in text:
        return ""
    found = (_words(one) for one in document.body.iter("h1"))
    first = next(filter(None, found), "") if chosen is not document.body else ""
    words = first or document.title
    return f"# {plain(words)}" if words else ""


def _title(root: Any) -> str:
    for one in root.iter("title"):
        parent = one.getparent()
        if parent is not None and parent.tag in ("head", "html", "body"):
            return _words(one)[:1000]
    return ""


def _scripted(root: Any) -> bool:
    return next(root.iter("script"), None) is not None


def _consent(document: Document, text: str) -> list[str]:
    """A dialog that asks for consent and stands in place of the page."""
    if len(text) > _SHORT_DIALOG or not _CONSENT.search(text + document.title):
        return []
    buttons = [_words(one) for one in document.body.iter("button")]
    if not buttons and next(document.body.iter("form"), None) is None:
        return []
    named = ", ".join(one[:60] for one in buttons[:6] if one)
    pressed = f" (buttons: {named})" if named else ""
    return [f"a consent form answered in place of the page; no button was pressed{pressed}"]


def _refresh(document: Document) -> list[str]:
    notes = []
    for one in document.root.iter("meta"):
        if (one.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match(one.get("content") or "")
            target = document.absolute(found[1]) if found and not found[1].strip().isdigit() else None
            if target:
                notes.append(f"the page wants to go on to {target[:_SHOWN_TARGET]}, which was not requested")
    return notes[:1]


def _hidden(body: Any) -> frozenset[Any]:
    """Elements that a reader does not see until a script shows them."""
    # Attributes are asked for and not elements that have them: that takes a tenth of the time.
    styles = xpath(".//*/@style[contains(., 'none') or contains(., 'hidden')]")(body)
    perhaps = (*xpath(".//*/@hidden")(body), *(style for style in styles if _HIDDEN.search(style)))
    return frozenset(one.getparent() for one in perhaps)


def _outer_tables(body: Any) -> frozenset[Any]:
    outer = set()
    for table in body.iter("table"):
        around = next(table.iterancestors("table"), None)
        if around is not None:
            outer.add(around)
    return frozenset(outer)


_APART = ("nav", "footer", "aside", "script", "style", "noscript", "template", "svg")
_MOST_CANDIDATES = 100
_CANDIDATES = " | ".join(
    f"({path})[position() <= {_MOST_CANDIDATES}]{owner}"
    for path, owner in ((".//main", ""), (".//article", ""), (".//*/@role[. = 'main']", "/.."))
)
"""Few from each path, since a union compares each element of one side with each of the other."""

_WEIGHED = 3


class _Weights:
    """
    How much text the parts of a page hold, roughly: in characters, white space as one.

    *whole* counts what is in the open, outside of links and of what is around a page; *hidden* what is not.
    """

    def __init__(self, body: Any, hidden: frozenset[Any]) -> None:
        self._body = body
        self._covered = hidden
        self._apart = self._find_apart(body)
        self.hidden = sum(length_of(one) for one in hidden)
        self.whole = self._weight(body)
        candidates = xpath(_CANDIDATES)(body)[:_MOST_CANDIDATES]
        seen = [one for one in candidates if not self._is_covered(one)]
        if len(seen) > _WEIGHED:
            seen = sorted(seen, key=length_of, reverse=True)[:_WEIGHED]
        self._of = {node: self._weight(node) for node in seen}

    def main(self) -> Any:
        """The main part: an element that holds most of the text, or the body."""
        if not self._of:
            return self._body
        best = max(self._of, key=lambda node: self._of[node])
        return best if self._of[best] > _MAIN_SHARE * self.whole else self._body

    def around(self, chosen: Any) -> int:
        """How many characters are outside of *chosen*."""
        return max(0, self.whole - self._of.get(chosen, self.whole))

    def _is_covered(self, node: Any) -> bool:
        return bool(self._covered) and any(one in self._covered for one in (node, *node.iterancestors()))

    def _find_apart(self, body: Any) -> list[tuple[Any, int]]:
        """What is not weighed, outermost elements alone, and how much text each has outside of links."""
        seen: set[Any] = set()
        for one in body.iter(*_APART):
            if not any(up in seen for up in one.iterancestors()):
                seen.add(one)
        return [(one, length_of(one) - _linked(one)) for one in seen]

    def _weight(self, node: Any) -> int:
        whole = node is self._body
        less = _linked(node) + (self.hidden if whole else 0)
        less += sum(size for one, size in self._apart if whole or node in one.iterancestors(node.tag))
        return max(0, length_of(node) - less)


def _linked(node: Any) -> int:
    """How much text of *node* is in links."""
    texts = ["".join(one.itertext()) if len(one) else one.text for one in node.iter("a")]
    return len(" ".join("".join(filter(None, texts)).split()))


def _words(node: Any) -> str:
    """All text of *node*, white space as one."""
    return SPACE.sub(" ", text_of(node)).strip()
