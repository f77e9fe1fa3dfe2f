"""What of a page a reader came for, and how much of it a text has kept."""

import re
from collections import Counter
from pathlib import Path

from attrs import frozen

_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^)]*\)")
_TABLE_RULE = re.compile(r"^\|?(?:\s*:?-{2,}:?\s*\|)+", re.MULTILINE)


def words(text: str) -> "Counter[str]":
    """The words of Markdown, without where its links go."""
    return Counter(_WORD.findall(_TARGET.sub(" ", text).lower()))


@frozen
class Kept:
    """How much was kept. *recall* and *precision* are of words; the others are (kept, all)."""

    recall: float
    precision: float
    headings: tuple[int, int]
    links: tuple[int, int]
    tables: tuple[int, int]


@frozen
class Wanted:
    """What a page's expected.html holds."""

    words: "Counter[str]"
    headings: tuple[str, ...]
    links: tuple[str, ...]
    tables: int

    def kept_in(self, text: str) -> Kept:
        """What the Markdown *text* has kept of it."""
        got = words(text)
        both = sum((got & self.words).values())
        headed = {_letters(line) for line in text.splitlines() if line.startswith("#")}
        return Kept(
            both / max(1, sum(self.words.values())),
            both / max(1, sum(got.values())),
            (sum(_letters(one) in headed for one in self.headings), len(self.headings)),
            (sum(_path(one) in text for one in self.links), len(self.links)),
            (min(len(_TABLE_RULE.findall(text)), self.tables), self.tables),
        )


def wanted(folder: Path) -> Wanted:
    """What a reader came for to the page in *folder*."""
    from lxml import html

    root = html.document_fromstring((folder / "expected.html").read_text("utf-8"))
    targets = (one.get("href") or "" for one in root.iter("a"))
    return Wanted(
        words(" ".join(map(str, root.itertext()))),
        tuple("".join(map(str, one.itertext())) for one in root.iter("h1", "h2", "h3", "h4", "h5", "h6")),
        tuple(one for one in targets if one.startswith("http") and _path(one)),
        sum(1 for _ in root.iter("table")),
    )


def _path(link: str) -> str:
    """A link without its host: expected pages have it absolute, a text may not."""
    return link.split("://", 1)[-1].partition("/")[2].rstrip("/")


def _letters(heading: str) -> str:
    """A heading's letters and digits, without link targets and marks."""
    return re.sub(r"\W", "", _TARGET.sub("]", heading)).lower()
