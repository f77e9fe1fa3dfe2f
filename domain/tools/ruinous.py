"""
Commands that ruin the machine and that nobody means.

A net for accidents, read from the text. It is no boundary (`r\\m`, a script or another program gets
through), which is why the policy and not this list decides what may run.
"""

import re
from functools import cache

_START = r"(?:^|[;&|\n(`{])\s*(?:sudo\s+)?(?:\S*/)?"
_WORDS = r"[^;&|\n]*"

_RUINOUS = (
    (
        rf"{_START}rm\s(?={_WORDS}(?:-\w*[rRf]|--recursive|--force)){_WORDS}(?<=\s)/+(?:\*|\.)?(?=\s|$|[;&|)])",
        "remove everything from the root of the file system on",
    ),
    (r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:", "start processes without end (a fork bomb)"),
    (rf"{_START}mkfs(?:\.\w+)?\s{_WORDS}/dev/", "make a new file system on a device"),
    (rf"{_START}dd\s{_WORDS}\bof=/dev/(?:[shv]d|xvd|nvme|mmcblk|disk)", "write over a disk"),
)


def ruin(command: str) -> str | None:
    """What *command* would ruin, in words that follow "would"; None if nothing was recognised."""
    return next((words for pattern, words in _patterns() if pattern.search(command)), None)


@cache
def _patterns() -> "tuple[tuple[re.Pattern[str], str], ...]":
    """Compiled for the first command, not for a start that may see none."""
    return tuple((re.compile(pattern), words) for pattern, words in _RUINOUS)
