"""
Where the terms were found, and which places are worth reading. Pure.

A place is good when many different terms stand close together, when it defines or heads something, when
its path has the terms too, and when it is source or prose rather than a fixture or a lock file.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from norma.adapters.embedded.terms import Term
from norma.domain.model.values import frozen

_ROW = re.compile(r"(?P<path>[^\n:][^\n]*?):(?P<line>\d+):(?P<text>.*)")
_MORE = re.compile(r"\[.*\bmore\b.*\]$")
_WINDOW = 8
"""Lines that belong together."""

_DEFINES = re.compile(
    r"\s*(?:(?:export|pub(?:\([^)]*\))?|async|public|private|static|abstract|final|default|sealed)\s+)*"
    r"(?:class|def|fn|func|function|struct|enum|trait|interface|type|module|protocol|impl|macro)\s+\w"
)
_HEADS = re.compile(r"\s*(?:#{1,4}\s|=+\s|\"{3}|'{3}|/\*\*|//!|\.\. )")
_NEAR_TOP = 4

_SOURCE = re.compile(
    r"\.(?:py|rs|go|ts|tsx|js|jsx|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|sql|ex|hs|lua|zig)$"
)
_PROSE = re.compile(r"\.(?:md|rst|txt|adoc)$|(?:^|/)readme[^/]*$", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:^|/)(?:fixtures?|snapshots?|testdata|cassettes|node_modules|vendor|third_party|dist|build|generated)/"
    r"|\.min\.|\.lock$|(?:^|[-/.])lock\.\w+$|\.(?:jsonl?|csv|svg|map|log)$|(?:^|/)(?:licen[cs]e|changelog)[^/]*$",
    re.IGNORECASE,
)
_TESTS = re.compile(r"(?:^|/)(?:tests?|spec|benchmarks?|examples?)/|(?:^|/)test_|_test\.\w+$", re.IGNORECASE)


@frozen
class Hit:
    """A line that was found: *path* as the search tells it, *line* from 1."""

    path: str
    line: int
    text: str


@frozen
class Place:
    """Hits that stand together in one file, the first of them at *line*, and what they are worth."""

    hits: tuple[Hit, ...]
    score: float

    @property
    def path(self) -> str:
        """The file."""
        return self.hits[0].path

    @property
    def line(self) -> int:
        """Where it begins, from 1."""
        return self.hits[0].line


def hits_in(text: str) -> tuple[Hit, ...]:
    """The rows `path:line:text` in a content search's output; notes and context are passed over."""
    matches = map(_ROW.fullmatch, text.splitlines())
    return tuple(Hit(row["path"], int(row["line"]), row["text"]) for row in matches if row)


def has_more(text: str) -> bool:
    """Whether a search's output says that it was cut short."""
    return any(_MORE.match(line) for line in text.splitlines())


def best_places(hits: Iterable[Hit], terms: Sequence[Term], count: int) -> tuple[Place, ...]:
    """The *count* best places, one a file, the best first; equals in the order of their paths."""
    ordered = sorted(set(hits), key=lambda hit: (hit.path, hit.line))
    files = [tuple(group) for _, group in groupby(ordered, key=lambda hit: hit.path)]
    places = [_best_in_file(file, terms) for file in files]
    return tuple(sorted(places, key=lambda place: (-place.score, place.path))[:count])


def _best_in_file(hits: tuple[Hit, ...], terms: Sequence[Term]) -> Place:
    patterns = [re.compile(term.pattern, re.IGNORECASE) for term in terms]
    about_path = _worth_of_path(hits[0].path, terms)
    best: Place | None = None
    end = 0
    for start, first in enumerate(hits):
        while end < len(hits) and hits[end].line < first.line + _WINDOW:
            end += 1
        near = hits[start:end]
        score = about_path + _worth_of_lines(near, terms, patterns)
        if best is None or score > best.score:
            best = Place(near, score)
    assert best is not None  # a file is here because it has a hit
    return best


def _worth_of_lines(
    hits: tuple[Hit, ...], terms: Sequence[Term], patterns: Sequence[re.Pattern[str]]
) -> float:
    text = "\n".join(hit.text for hit in hits)
    score = sum(term.weight for term, pattern in zip(terms, patterns, strict=True) if pattern.search(text))
    first = hits[0]
    if _DEFINES.match(first.text):
        score += 3.0
    elif _HEADS.match(first.text):
        score += 2.0
    elif first.line <= _NEAR_TOP:
        score += 1.5
    return score + min(len(hits), 4) * 0.2


def _worth_of_path(path: str, terms: Sequence[Term]) -> float:
    words = set(re.findall(r"[^\W_]+", path.lower()))
    parts = {part for term in terms for part in term.parts}
    score = min(1.0 * len(words & parts), 2.0)
    if _ASIDE.search(path):
        score -= 4.0
    elif _SOURCE.search(path):
        score += 1.5
    elif _PROSE.search(path):
        score += 1.0
    return score - (3.0 if _TESTS.search(path) else 0.0)
