"""
The guided model's answer: what was found, word for word, and what the real model is asked about it. Pure.

The worth of the answer is in the quotations. A model of 135 million parameters invents; its sentence comes
last and is marked as its own.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from norma.adapters.embedded.conversation import Done
from norma.adapters.embedded.places import Place
from norma.adapters.embedded.planner import Report
from norma.domain.model.values import frozen

ADDS = "**The embedded model adds:** "
SAYS = "**The embedded model says:** "

_MOST_LINES = 14
_LEAST_LINES = 5
_LINE_LENGTH = 160
_MATERIAL_LENGTH = 1_000
"""Characters of a quotation that the model is given: more confuses a small one."""

_COMMENT_MARKS = re.compile(r"\"{3}|'{3}|/\*+|\*+/|^\s*(?:#+|//+|\*)\s?|^\s*`{3,}\w*")

_NUMBERED = re.compile(r"\s*(\d+)\t(.*)")
_LANGUAGES = {
    "py": "python", "md": "markdown", "rs": "rust", "ts": "typescript", "js": "javascript", "sh": "sh",
    "go": "go", "toml": "toml", "yml": "yaml", "yaml": "yaml", "json": "json", "c": "c", "h": "c",
    "cpp": "cpp", "java": "java", "rb": "ruby",
}  # fmt: skip


@frozen
class Quotation:
    """Lines of one file, from *line* on."""

    path: str
    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as they stand."""
        return "\n".join(self.lines)


def quotations(report: Report) -> tuple[Quotation, ...]:
    """What to quote, the best first: files that the prompt named, then the places found."""
    named = [_beginning(done) for done in report.reads if "offset" not in done.call.arguments]
    found = [_around(place, report.reads) for place in report.places]
    return tuple(quotation for quotation in (*named, *found) if quotation.lines)


def findings(report: Report, quoted: tuple[Quotation, ...]) -> str:
    """The part of the answer that does not come from a model, in Markdown."""
    parts = [_headline(report, quoted), *map(_shown, quoted)]
    parts += [f"{done.call.name} gave no answer: {_first_line(done.text)}" for done in report.failed]
    return "\n\n".join(part for part in parts if part) + "\n"


def question(report: Report, quotation: Quotation) -> str:
    """What the real model is asked."""
    wish = "Answer in one sentence, using only the text."
    return f"{_prose(quotation)[:_MATERIAL_LENGTH]}\n\nQuestion: {report.prompt}\n{wish}"


def _prose(quotation: Quotation) -> str:
    """The lines without the marks of comments and docstrings, which a small model imitates."""
    lines = (_COMMENT_MARKS.sub("", line).strip() for line in quotation.lines)
    return "\n".join(line for line in lines if line)


def _headline(report: Report, quoted: tuple[Quotation, ...]) -> str:
    patterns = ", ".join(f"`{pattern}`" for pattern in report.searched)
    if report.total:
        places = "The best places:" if len(quoted) > 1 else "The best place:"
        found = f"{_count(report.total, 'line')} in {_count(report.files, 'file')} for {patterns}"
        return f"{'At least ' if report.cut else ''}{found}. {places}"
    if quoted:
        return ""
    if report.searched and not report.failed:
        return (
            f"Nothing was found in this workspace for {patterns}. "
            "The embedded model looks things up in files; for other questions configure a better one."
        )
    return "Nothing could be looked up."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0] or "no reason was given"


def _beginning(done: Done) -> Quotation:
    lines = _lines_of(done)
    first = [_cut(lines[number]) for number in sorted(lines)[:_MOST_LINES]]
    return Quotation(str(done.call.arguments.get("file_path", "")), min(lines, default=1), tuple(first))


def _around(place: Place, reads: tuple[Done, ...]) -> Quotation:
    """What stands at *place*: as it was read, else as the search told it."""
    for done in reads:
        if done.call.arguments.get("file_path") == place.path:
            lines = _lines_of(done)
            if place.line in lines:
                return _unit(place.path, lines, place.line)
    return Quotation(place.path, place.line, tuple(_cut(hit.text) for hit in place.hits))


def _lines_of(done: Done) -> dict[int, str]:
    matches = map(_NUMBERED.fullmatch, done.text.splitlines())
    return {int(match[1]): match[2] for match in matches if match}


def _unit(path: str, lines: Mapping[int, str], line: int) -> Quotation:
    """From *line* to the end of what it begins: the first blank line that is not too near."""
    first = line
    while first - 1 in lines and line - first < 2 and _opens(lines[first - 1]):
        first -= 1
    kept: list[str] = []
    while first + len(kept) in lines and len(kept) < _MOST_LINES:
        text = lines[first + len(kept)]
        if not text.strip() and len(kept) >= _LEAST_LINES:
            break
        kept.append(_cut(text))
    while kept and not kept[-1].strip():
        kept.pop()
    return Quotation(path, first, tuple(kept))


def _opens(text: str) -> bool:
    """Whether a line belongs to the one behind it: a decorator, a comment, the opening of a docstring."""
    return text.lstrip().startswith(("@", "#", "//", "/*", '"""', "'''"))


def _cut(text: str) -> str:
    return text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}…"


def _shown(quotation: Quotation) -> str:
    runs = re.findall(r"`{3,}", quotation.text)
    fence = "`" * max(3, *(len(run) + 1 for run in runs), 0)
    language = _LANGUAGES.get(PurePosixPath(quotation.path).suffix[1:], "")
    return f"{quotation.path}:{quotation.line}\n{fence}{language}\n{quotation.text}\n{fence}"
