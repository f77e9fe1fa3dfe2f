"""Unified diffs that stay cheap: what is equal at both ends is never compared line by line."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

from norma.domain.tools.places import encodable

CONTEXT = 3
MOST_COMPARED = 400
"""Lines. difflib takes time by the square; a larger change is shown as one block."""
MOST_CHARACTERS = 20_000

Step: TypeAlias = tuple[str, int, int, int, int]
"""difflib's opcode: kind, then first and last of the old lines and of the new."""


def unified_diff(old: str, new: str, path: str) -> str:
    """What turns *old* into *new*; empty if they are equal. A very long one is cut at a line's end."""
    before, after = _lines(old), _lines(new)
    lines = [f"--- {path}", f"+++ {path}"]
    for steps in _hunks(before, after):
        lines += _hunk(steps, before, after)
    if len(lines) == 2:
        return ""
    room = MOST_CHARACTERS
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines[:number], f"[the diff has {len(lines) - number} more lines]"])
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Only LF ends a line here, as in git; str.splitlines knows eight more characters."""
    return [line for line in re.split(r"(?<=\n)", encodable(text)) if line]


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[list[Step]]:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    if head == old_end and head == new_end:
        return
    start = max(0, head - CONTEXT)
    old_stop, new_stop = min(len(before), old_end + CONTEXT), min(len(after), new_end + CONTEXT)
    if max(old_end, new_end) - head <= MOST_COMPARED:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, before[start:old_stop], after[start:new_stop], autojunk=False)
        for group in matcher.get_grouped_opcodes(CONTEXT):
            yield [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in group]
        return
    yield [
        ("equal", start, head, start, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, old_stop, new_end, new_stop),
    ]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _hunk(steps: Sequence[Step], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    old, new = _range(steps[0][1], steps[-1][2]), _range(steps[0][3], steps[-1][4])
    yield f"@@ -{old} +{new} @@"
    for kind, old_start, old_stop, new_start, new_stop in steps:
        if kind == "equal":
            yield from _marked(" ", before[old_start:old_stop])
        else:
            yield from _marked("-", before[old_start:old_stop])
            yield from _marked("+", after[new_start:new_stop])


def _range(start: int, stop: int) -> str:
    """As in POSIX diff: a range of no lines is named by the line before it."""
    length = stop - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
