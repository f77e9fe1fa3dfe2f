"""Whether a file system ignores the case of names, found out by looking only."""

import os
import sys
from itertools import islice

MOST_LOOKED_AT = 200
IGNORING = ("darwin", "win32", "cygwin")
"""Where file systems ignore case as they come."""


def ignores_case(folder: str) -> bool:
    """
    Whether an entry of *folder* (else *folder* itself) is also found with the case of its letters swapped.

    Two names of one file, `a` and `A`, look the same; the answer is then a cautious yes. Where
    nothing has a letter in its name, or may not be looked at, the platform's habit counts.
    """
    for path in _candidates(folder):
        name = os.path.basename(path)
        swapped = os.path.join(os.path.dirname(path), name.swapcase())
        if swapped == path:
            continue
        try:
            seen = os.lstat(path)
        except OSError:  # gone since it was listed
            continue
        try:
            return os.path.samestat(seen, os.lstat(swapped))
        except FileNotFoundError:
            return False
        except OSError:
            continue
    return sys.platform in IGNORING


def _candidates(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            inside = [entry.path for entry in islice(entries, MOST_LOOKED_AT)]
    except OSError:
        inside = []
    return [*inside, folder]
