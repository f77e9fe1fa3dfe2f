"""Unified diffs: for an event with the numbers of lines, for a question without them."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from norma.domain.tools.comparing import equal_runs
from norma.domain.tools.places import encodable

CONTEXT = 3
MOST_CHARACTERS = 20_000

Step: TypeAlias = tuple[bool, int, int, int, int]
"""Whether lines stay; first and last of the old lines, and of the new."""


def unified_diff(old: str, new: str, path: str) -> str:
    """What turns *old* into *new*; empty if they are equal. A very long one is cut at a line's end."""
    lines = [*_diff(old, new, path, numbered=True)]
    room = MOST_CHARACTERS
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines[:number], f"[the diff has {len(lines) - number} more lines]"])
    return "\n".join(lines)


def placeless_diff(old: str, new: str, path: str) -> str:
    """
    As `unified_diff`, but whole, and without the numbers of lines.

    It stays the same when something else changes far away in the file.
    """
    return "\n".join(_diff(old, new, path, numbered=False))


def _diff(old: str, new: str, path: str, *, numbered: bool) -> Iterator[str]:
    if old == new:
        return
    before, after = _lines(old), _lines(new)
    yield from (f"--- {path}", f"+++ {path}")
    for steps in _hunks(_steps(before, after)):
        places = f"-{_range(steps[0][1], steps[-1][2])} +{_range(steps[0][3], steps[-1][4])} "
        yield f"@@ {places if numbered else ''}@@"
        for stays, old_start, old_stop, new_start, new_stop in steps:
            yield from _marked(" " if stays else "-", before[old_start:old_stop])
            if not stays:
                yield from _marked("+", after[new_start:new_stop])


def _lines(text: str) -> list[str]:
    """Only LF ends a line here, as in git; str.splitlines knows eight more characters."""
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])


def _steps(before: Sequence[str], after: Sequence[str]) -> Iterator[Step]:
    old = new = 0
    for run in equal_runs(before, after):
        if old < run.old or new < run.new:
            yield False, old, run.old, new, run.new
        old, new = run.old + run.size, run.new + run.size
        yield True, run.old, old, run.new, new
    if old < len(before) or new < len(after):
        yield False, old, len(before), new, len(after)


def _hunks(steps: Iterator[Step]) -> Iterator[list[Step]]:
    """Changes with the lines around them; those whose context would touch are one."""
    hunk: list[Step] = []
    for step in steps:
        stays, old, old_stop, _, new_stop = step
        if stays and (not hunk or old_stop - old > 2 * CONTEXT):
            if hunk:
                yield [*hunk, _first(step)]
            kept = min(CONTEXT, old_stop - old)
            hunk = [(True, old_stop - kept, old_stop, new_stop - kept, new_stop)]
        else:
            hunk.append(step)
    if any(not step[0] for step in hunk):
        yield [*hunk[:-1], _first(hunk[-1]) if hunk[-1][0] else hunk[-1]]


def _first(step: Step) -> Step:
    """The lines of *step* that are context for what is in front of them."""
    _, old, old_stop, new, new_stop = step
    return True, old, min(old_stop, old + CONTEXT), new, min(new_stop, new + CONTEXT)


def _range(start: int, stop: int) -> str:
    """As in POSIX diff: a range of no lines is named by the line before it."""
    length = stop - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + encodable(line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
