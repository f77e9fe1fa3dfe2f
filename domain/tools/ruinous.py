"""
Commands that ruin the machine and that nobody means.

A net for accidents, read from the text in one pass. It is no boundary (`$rm`, a script or another program
gets through), which is why the policy and not this list decides what may run.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import dropwhile

_REMOVES = "remove everything from the root of the file system on"
_FORKS = "start processes without end (a fork bomb)"
_FORMATS = "make a new file system on a device"
_OVERWRITES = "write over a disk"

_FORK_BOMB = r"(?<!\w)(:|\w{1,40})\s*\(\s*\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*[;\n]\s*\1"
_ROOT = r"/+(?:\.{1,2}/+)*(?:\*|\.{1,2})?"
_FORCED = r"-\w*[rRf]\w*|--recursive|--force"
_DISK = r"of=[\"']?/dev/(?:[shv]d|xvd|nvme|mmcblk|disk).*"

_BEFORE = frozenset(
    {"sudo", "doas", "env", "command", "exec", "nohup", "time", "nice", "then", "do", "else", "!"}
)
"""Words that may stand in front of the name of a program."""


def ruin(command: str) -> str | None:
    """What *command* would ruin, in words that follow "would"; None if nothing was recognised."""
    if _compiled(_FORK_BOMB).search(command):
        return _FORKS
    parts = re.split(r"[;&|\n(){}`]", command.replace("\\\n", " "))
    return next((words for part in parts if (words := _ruin_of_one(part))), None)


def _ruin_of_one(part: str) -> str | None:
    """The same of a part without operators."""
    words = [word.strip("\"'") for word in part.split()]
    words = list(dropwhile(_comes_before, words))
    name = words[0].lstrip("\\").rpartition("/")[2] if words else ""
    if name == "rm" and _one_is(_FORCED, words) and _one_is(_ROOT, words):
        return _REMOVES
    if name.partition(".")[0] in ("mkfs", "mke2fs") and any("/dev/" in word for word in words):
        return _FORMATS
    if name == "dd" and _one_is(_DISK, words):
        return _OVERWRITES
    return None


def _comes_before(word: str) -> bool:
    is_assignment = "=" in word and word.partition("=")[0].isidentifier()
    return word in _BEFORE or word.startswith("-") or is_assignment


def _one_is(pattern: str, words: Sequence[str]) -> bool:
    return any(map(_compiled(pattern).fullmatch, words))


@cache
def _compiled(pattern: str) -> "re.Pattern[str]":
    """Compiled for the first command that needs it, not for a start that may see none."""
    return re.compile(pattern)
