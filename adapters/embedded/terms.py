"""
What a prompt asks about: the terms worth looking for. Pure, and the same for the same prompt.

Strong terms name one thing: what stands in quotes, file names, identifiers, and neighbouring words such as
"turn machine", which are looked for as turn_machine, TurnMachine and "turn machine" alike. Plain words are
what is left when the words of asking are gone.
"""

import re
from itertools import pairwise

from norma.adapters.embedded.asking import ASKING
from norma.domain.model.values import frozen

_MOST_STRONG = 3
_MOST_PLAIN = 4
_LONGEST = 80

_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_URL = re.compile(r"\w+://\S+")
_CONTRACTION = re.compile(r"\w+n[\u2019']t\b|(?<=\w)[\u2019'](?:s|re|ve|ll|d|m)\b")
_TOKEN = re.compile(r"[^\W_](?:[\w./:\\-]*\w)?(?:\(\))?|_\w+|\.\w[\w./-]*")
_SUFFIXES = (
    "c|cc|cfg|cpp|cs|css|go|h|hpp|html|ini|java|js|json|jsx|kt|lock|lua|md|php|py|pyi|rb|rs|rst|scala|sh|sql|"
    "swift|toml|ts|tsx|txt|xml|yaml|yml|zig"
)
_FILE = re.compile(rf"(?:[\w.-]+/)*[\w.-]*\w\.(?:{_SUFFIXES})", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"\w*[a-z0-9][A-Z]\w*|\w*_\w+|[A-Z]{2,}[A-Z0-9]*|[A-Za-z]+\d+|\w\w+(?:(?:\.|::)\w\w+)+"
)


@frozen
class Term:
    """
    One thing to look for.

    *shown* is how the prompt has it, *pattern* an expression for the search (case is ignored). *parts* are
    its words in lower case. A *strong* term names one thing by itself. *file* is set where it names a file.
    """

    shown: str
    pattern: str
    parts: tuple[str, ...]
    strong: bool = False
    file: str | None = None

    @property
    def weight(self) -> float:
        """How much a place gains by it."""
        return 3.0 if self.strong else 1.0


def terms_of(prompt: str) -> tuple[Term, ...]:
    """The terms of *prompt*, strong ones first, each in the order of the prompt; none for a greeting."""
    text = _CONTRACTION.sub(" ", _URL.sub(" ", prompt))
    strong = [_quoted(words) for words in _quotations(text)]
    rest = _QUOTED.sub(" . ", text)
    plain: list[list[str]] = [[]]  # runs of neighbouring plain words
    end = 0
    for match in _TOKEN.finditer(rest):
        token, apart = match[0], rest[end : match.start()].strip(" \t\n")
        end = match.end()
        if named := _named(token):
            strong.append(named)
            plain.append([])
        elif _is_asking(token):
            plain.append([])
        else:
            if apart:
                plain.append([])
            plain[-1] += re.split(r"[-/]", token)
    strong += [_phrase(pair) for run in plain for pair in pairwise(run)]
    return _without_doubles(strong)[:_MOST_STRONG] + _plain_terms(plain)


def plain_terms(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The single words in *terms*, for a wider search: of phrases their words, and the plain ones."""
    words = [part for term in terms for part in term.parts if len(part) > 2]
    return _without_doubles([_word(word) for word in words])[: _MOST_PLAIN + 1]


def _quotations(text: str) -> list[str]:
    found = ("".join(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return [words for words in found if 1 < len(words) <= _LONGEST]


def _quoted(words: str) -> Term:
    named = _named(words)
    pattern = r"\s+".join(map(re.escape, words.split()))
    return named or Term(words, pattern, _parts(words), strong=True)


def _named(token: str) -> Term | None:
    """A term for a token that is a name by its look."""
    bare = token.removesuffix("()")
    if _FILE.fullmatch(bare) or (bare.count("/") > 1 and "//" not in bare):
        name = bare.rpartition("/")[2]
        return Term(bare, re.escape(name), _parts(name.partition(".")[0]), strong=True, file=bare)
    if bare != token or _IDENTIFIER.fullmatch(bare):
        return Term(token, rf"\b{re.escape(bare)}\b", _parts(bare), strong=True)
    return None


def _phrase(pair: tuple[str, str]) -> Term:
    (first, one), (second, other) = (_either_number(word) for word in pair)
    return Term(" ".join(pair), f"{first}.?{second}", (one, other), strong=True)


def _word(word: str) -> Term:
    pattern, stem = _either_number(word)
    return Term(word, pattern, (stem,))


def _plain_terms(runs: list[list[str]]) -> tuple[Term, ...]:
    """Words that stand alone; those of a phrase are looked for as the phrase."""
    return _without_doubles([_word(run[0]) for run in runs if len(run) == 1])[:_MOST_PLAIN]


def _is_asking(token: str) -> bool:
    word = token.lower()
    return word in ASKING or len(word) < 3 or not any(letter.isalpha() for letter in word)


def _either_number(word: str) -> tuple[str, str]:
    """A pattern that finds *word* as singular and as plural, and the word itself, in lower case."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return f"{re.escape(word[:-3])}(?:y|ies)", f"{word[:-3]}y"
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return re.escape(word), word


def _parts(name: str) -> tuple[str, ...]:
    """The words in an identifier or a quotation, in lower case."""
    pieces = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|[^\W\dA-Za-z_]+", name)
    return tuple(piece.lower() for piece in pieces)


def _without_doubles(terms: list[Term]) -> tuple[Term, ...]:
    return tuple({term.pattern.lower(): term for term in reversed(terms)}.values())[::-1]
