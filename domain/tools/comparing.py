"""
What two lists of lines have in common, found in bounded time.

    what is equal at both ends → lines that are in both just once, in order → the short stretches between

The second step is the "patience" of diffs: such lines tell where a text goes on, however much lies between.
difflib compares the rest; it takes time by the square, so there is a limit to what it gets.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from norma.domain.model.values import frozen

MOST_COMPARED = 200 * 200
"""Pairs of lines. A stretch that would take more is shown as replaced as a whole."""
_TO_BEGIN = 10
"""What it takes to begin with a stretch, in lines."""


@frozen
class Run:
    """*size* lines that are equal: from line *old* on of one list, from line *new* on of the other."""

    old: int
    new: int
    size: int


def equal_runs(before: Sequence[str], after: Sequence[str]) -> list[Run]:
    """What stays, in order; no run begins where the one before it ends. All else is a change."""
    merged: list[Run] = []
    for run in _runs(before, after):
        last = merged[-1] if merged else Run(0, 0, 0)
        if merged and (last.old + last.size, last.new + last.size) == (run.old, run.new):
            merged[-1] = Run(last.old, last.new, last.size + run.size)
        elif run.size:
            merged.append(run)
    return merged


def _runs(before: Sequence[str], after: Sequence[str]) -> Iterator[Run]:
    head, tail = _ends(before, after)
    yield Run(0, 0, head)
    old_end, new_end = len(before) - tail, len(after) - tail
    old, new, left = head, head, MOST_COMPARED
    for old_place, new_place in [*_landmarks(before, after, head, tail), (old_end, new_end)]:
        stretch, other = before[old:old_place], after[new:new_place]
        for run in _between(stretch, other, left):
            yield Run(old + run.old, new + run.new, run.size)
        left -= (len(stretch) + _TO_BEGIN) * (len(other) + _TO_BEGIN)
        if old_place < old_end:
            yield Run(old_place, new_place, 1)
        old, new = old_place + 1, new_place + 1
    yield Run(old_end, new_end, tail)


def _ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines are equal in front, and how many of the rest behind."""
    head = _common(before, after)
    return head, _common(before[head:][::-1], after[head:][::-1])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are equal in front; whole stretches are held against each other, by halves."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _landmarks(before: Sequence[str], after: Sequence[str], head: int, tail: int) -> list[tuple[int, int]]:
    """Places of lines that are in both just once, as many as are in the same order in both."""
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) <= MOST_COMPARED:
        return []  # difflib sees it all
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: head + number for number, line in enumerate(new) if line in once}
    pairs = [(head + number, places[line]) for number, line in enumerate(old) if line in once]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of *pairs* whose second numbers rise, too."""
    ends: list[int] = []  # the least second number with which a choice of each length can end
    chosen: list[int] = []  # which pair that is
    before: list[int] = []  # which pair stands before each
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(chosen[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        chosen[length : length + 1] = [number]
    found = []
    at = chosen[-1] if chosen else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _between(old: Sequence[str], new: Sequence[str], left: int) -> Iterator[Run]:
    """What is equal in two stretches, with room to compare *left* pairs of lines."""
    if not old or not new:
        return
    head, tail = _ends(old, new)
    yield Run(0, 0, head)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if 1 < len(old) * len(new) <= left:  # one line and one line differ, or they were at the ends
        from difflib import SequenceMatcher

        for match in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            yield Run(head + match.a, head + match.b, match.size)
    yield Run(head + len(old), head + len(new), tail)
