"""
A tree of HTML elements to Markdown, in one walk without recursion.

Chosen over markdownify for what a model reads: it is about ten times as quick, keeps code byte for byte,
does not depend on depth, and loses nothing that is not named in `DROPPED` and `AROUND`. Text goes into
buffers; a block that needs a prefix on each line (an item, a quotation, a cell) has one of its own, at most
`DEEPEST` inside each other, so that the work stays in proportion to the page.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import define, field

from norma.adapters.web_fetch.marks import (
    HARD_SPACE,
    SPACE,
    code,
    emphasised,
    fenced,
    line_safe,
    linked,
    plain,
    tidy,
)
from norma.adapters.web_fetch.paths import text_of
from norma.adapters.web_fetch.tables import Table

# fmt: off
DROPPED = frozenset({
    "script", "style", "noscript", "svg", "template", "head", "iframe", "object", "embed", "canvas", "audio",
    "video", "select", "option", "datalist", "textarea", "input", "meta", "link", "title", "base",
})
# fmt: on
"""Never text for a reader."""

INSIDE = frozenset({"nav", "button", "menu"})
"""Left out of the main part, too, unless that leaves nothing."""

AROUND = INSIDE | {"footer", "aside"}
"""Left out of a page that has no main part."""

# fmt: off
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "dl", "dt", "dd", "figure",
    "figcaption", "address", "details", "summary", "fieldset", "legend", "form", "center", "hgroup", "search",
    "dialog", "body", "html", "menu", "ul", "ol", "table", "caption",
})
# fmt: on
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODE = frozenset({"code", "tt", "samp"})
_INLINE_MARK = {"**": 1, "*": 2, "~~": 4}
DEEPEST = 12
_STOP_EVERY = 2000
_PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517"})
"""What a heading has beside it to link to itself."""

_LEAD = 80
"""How far into a text its first letter is looked for."""

_STARTERS = frozenset("#-+>0123456789")

Absolute: TypeAlias = Callable[[str], str | None]
Leave: TypeAlias = Callable[[], None]


@define
class Walk:
    """
    One walk. *absolute* makes links, *skip* are tags and *hidden* elements to leave out. *stop* is asked now
    and then, and may raise. *outer_tables* hold other tables, so they only arrange.
    """

    absolute: Absolute
    skip: frozenset[str]
    hidden: frozenset[Any]
    stop: Callable[[], None]
    outer_tables: frozenset[Any] = frozenset()
    _out: list[str] = field(factory=list)
    _buffers: list[list[str]] = field(factory=list)
    _tables: list[Table] = field(factory=list)
    _lists: list[int | None] = field(factory=list)
    _codes: list[str] = field(factory=list)
    _marks: int = 0
    _links: int = 0

    def markdown(self, root: Any) -> str:
        """*root* and all beneath it."""
        stack: list[Any] = [root]  # elements to enter; None is above what leaves one, that above the element
        pop, push = stack.pop, stack.append
        skip, hidden, enters = self.skip, self.hidden, _ENTERS
        count = 0
        while stack:
            node = pop()
            count += 1
            if count % _STOP_EVERY == 0:
                self.stop()
            if node is None:
                pop()()
                node = pop()
            elif (
                isinstance(tag := node.tag, str)
                and (tag not in skip or (tag == "button" and _names_a_part(node)))
                and not (hidden and node in hidden)
            ):
                enter = enters.get(tag)
                leave = _nothing if enter is None else enter(self, node)
                if leave is not None:
                    text = node.text
                    if text:
                        self._out.append(plain(text) if leave is _nothing else _opening(text))
                    if len(node):
                        push(node)
                        push(leave)
                        push(None)
                        stack.extend(reversed(node))
                        continue
                    leave()
            tail = node.tail
            if tail and node is not root:
                self._out.append(plain(tail))
        return self._with_codes(tidy("".join(self._out)))

    def _block(self, node: Any) -> Leave:
        self._out.append("\n\n")
        return self._end_block

    def _end_block(self) -> None:
        self._out.append("\n\n")

    def _heading(self, node: Any) -> Leave:
        marks = "#" * int(node.tag[1]) + " "
        if len(self._buffers) >= DEEPEST:
            self._out.append(f"\n\n{marks}")
            return self._end_block
        outer = self._begin()

        def leave() -> None:
            text = SPACE.sub(" ", self._end(outer)).strip()
            if text:
                self._out.append(f"\n\n{marks}{text}\n\n")

        return leave

    def _link(self, node: Any) -> Leave | None:
        href = node.get("href")
        target = self.absolute(href) if href else None
        if target is None or self._links:
            return _nothing
        if not len(node):
            self._end_link(node, target, _opening(node.text or ""))
            return None
        self._links += 1
        outer = self._begin()

        def leave() -> None:
            self._links -= 1
            self._end_link(node, target, self._end(outer))

        return leave

    def _end_link(self, node: Any, target: str, text: str) -> None:
        words = text.strip()
        if words in _PERMALINKS and node.get("href").startswith("#"):
            return
        if words:
            self._out.append(linked(text, target))
        elif len(node) or node.get("title") or node.get("aria-label"):
            name = node.get("aria-label") or node.get("title") or target.rstrip("/").rpartition("/")[2]
            self._out.append(f"[{plain(name or target).strip()}]({target})")

    def _emphasis(self, node: Any) -> Leave:
        mark = _EMPHASIS[node.tag]
        bit = _INLINE_MARK[mark]
        if self._marks & bit:
            return _nothing
        self._marks |= bit
        outer = self._begin()

        def leave() -> None:
            self._marks &= ~bit
            text = self._end(outer)
            self._out.append(emphasised(text, mark))

        return leave

    def _code(self, node: Any) -> Leave | None:
        if not len(node):
            self._out.append(code(node.text or ""))
            return None
        if next(node.iter("a", "img"), None) is not None:
            return _nothing
        self._out.append(code("".join(node.itertext())))
        return None

    def _pre(self, node: Any) -> Leave | None:
        for line_break in node.iter("br"):
            line_break.text = "\n"
        text = text_of(node)
        if not text.strip():
            return None
        self._codes.append(fenced(text.removeprefix("\n"), _language(node)))
        self._out.append(f"\n\n\0{len(self._codes) - 1}\0\n\n")
        return None

    def _list(self, node: Any) -> Leave:
        start: int | None = None
        if node.tag == "ol":
            first = (node.get("start") or "1").strip()
            start = int(first) if first.isascii() and first.isdigit() and len(first) < 10 else 1
        nested = bool(self._lists)
        self._lists.append(start)
        self._out.append("" if nested else "\n\n")

        def leave() -> None:
            self._lists.pop()
            self._out.append("\n" if nested else "\n\n")

        return leave

    def _item(self, node: Any) -> Leave:
        marker = "- "
        if self._lists and self._lists[-1] is not None:
            number = self._lists[-1]
            marker = f"{number}. "
            self._lists[-1] = number + 1
        return self._prefixed(marker, HARD_SPACE * len(marker), tight=True)

    def _quote(self, node: Any) -> Leave:
        return self._prefixed("> ", "> ", tight=False)

    def _prefixed(self, first: str, others: str, *, tight: bool) -> Leave:
        """A block whose lines get a prefix; too deep inside others only an item's first one does."""
        around = "\n" if tight else "\n\n"
        after = "" if tight else "\n\n"
        if len(self._buffers) >= DEEPEST:
            self._out.append(around + first if tight else around)
            return lambda: self._out.append(after)
        outer = self._begin()

        def leave() -> None:
            text = tidy(self._end(outer))
            if text:
                first_line, *lines = text.split("\n")
                body = [others + line if line else others.rstrip(f" {HARD_SPACE}") for line in lines]
                self._out.append(around + "\n".join([first + first_line, *body]) + after)

        return leave

    def _table(self, node: Any) -> Leave:
        if len(self._buffers) >= DEEPEST:
            return self._block(node)
        role = node.get("role")
        table = Table(role in ("presentation", "none") or node in self.outer_tables)
        self._tables.append(table)
        outer = self._begin()

        def leave() -> None:
            loose = tidy(self._end(outer))
            self._tables.pop()
            if loose:
                self._out.append(f"\n\n{loose}\n\n")
            self._out.append(table.markdown())

        return leave

    def _row(self, node: Any) -> Leave:
        if self._tables:
            self._tables[-1].begin_row()
        return _nothing

    def _caption(self, node: Any) -> Leave:
        outer = self._begin()

        def leave() -> None:
            text = tidy(self._end(outer))
            if self._tables:
                self._tables[-1].caption = text
            else:
                self._out.append(f"\n\n{text}\n\n")

        return leave

    def _cell(self, node: Any) -> Leave | None:
        if not self._tables or len(self._buffers) >= DEEPEST:
            return self._block(node)
        table = self._tables[-1]
        if not len(node):
            text = node.text
            table.add_words(plain(text) if text else "", node)
            return None
        outer = self._begin()

        def leave() -> None:
            table.add_blocks(tidy(self._end(outer)), node)

        return leave

    def _image(self, node: Any) -> Leave | None:
        alt = SPACE.sub(" ", node.get("alt") or "").strip()
        if alt:
            target = self.absolute(node.get("src") or node.get("data-src") or "")
            # Data stands in the page itself: there is nothing to follow.
            self._out.append(f"![{plain(alt)}]({target})" if target else plain(alt))
        return None

    def _break(self, node: Any) -> Leave | None:
        self._out.append("\n")
        return None

    def _rule(self, node: Any) -> Leave | None:
        self._out.append("\n\n---\n\n")
        return None

    def _begin(self) -> list[str]:
        """A new buffer; the one that it interrupts."""
        outer = self._out
        self._buffers.append(outer)
        self._out = []
        return outer

    def _end(self, outer: list[str]) -> str:
        text = "".join(self._out)
        self._buffers.pop()
        self._out = outer
        return text

    def _with_codes(self, text: str) -> str:
        """Code where its place was kept, each line behind the prefix of that place."""
        text = text.replace(HARD_SPACE, " ")
        if not self._codes:
            return text
        lines: list[str] = []
        for line in text.split("\n"):
            before, mark, rest = line.partition("\0")
            if not mark:
                lines.append(line)
                continue
            number, _, after = rest.partition("\0")
            prefix = "".join(letter if letter == ">" else " " for letter in before)
            first, *others = self._codes[int(number)].split("\n")
            lines.append(before + first)
            lines += [prefix + other for other in others]
            if after.strip():
                lines.append(prefix + after)
        return "\n".join(lines)


_ENTERS: dict[str, Callable[[Walk, Any], Leave | None]] = {
    **dict.fromkeys(_BLOCKS, Walk._block),
    **dict.fromkeys(_HEADINGS, Walk._heading),
    **dict.fromkeys(_EMPHASIS, Walk._emphasis),
    **dict.fromkeys(_CODE, Walk._code),
    **dict.fromkeys(("pre", "listing", "xmp"), Walk._pre),
    **dict.fromkeys(("ul", "ol"), Walk._list),
    **dict.fromkeys(("td", "th"), Walk._cell),
    "a": Walk._link,
    "li": Walk._item,
    "blockquote": Walk._quote,
    "table": Walk._table,
    "tr": Walk._row,
    "caption": Walk._caption,
    "img": Walk._image,
    "br": Walk._break,
    "hr": Walk._rule,
}


def _opening(text: str) -> str:
    """The text that an element begins with; it must not make a heading, a list or a quotation."""
    if text[:_LEAD].lstrip()[:1] in _STARTERS:
        text = line_safe(text.lstrip())
    return plain(text)


def _nothing() -> None:
    """An element that leaves no mark of its own."""


def _names_a_part(button: Any) -> bool:
    """Whether the button that opens a part of the page is that part's heading."""
    around = button.getparent()
    return around is not None and (around.tag in _HEADINGS or around.tag in ("summary", "dt"))


def _language(node: Any) -> str:
    for one in (node, *node.iterchildren("code"), node.getparent()):
        names = (one.get("class") or "").split() if one is not None else ()
        for name in names:
            for start in ("language-", "lang-", "highlight-source-", "highlight-"):
                if name.startswith(start) and name[len(start) :].replace("+", "").replace("-", "").isalnum():
                    return str(name[len(start) :])
        said = one.get("data-lang") or one.get("data-language") if one is not None else None
        if said and said.isalnum():
            return str(said)
    return ""
