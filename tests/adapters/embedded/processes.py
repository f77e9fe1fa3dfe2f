"""Watch processes that are not ours to wait for, and play the native package where a test needs it so."""

import os
import select
from pathlib import Path

import pytest

PACKAGE = """
class _Bag:
    def __getattr__(self, name):
        value = _Bag()
        object.__setattr__(self, name, value)
        return value

CommonParams = _Bag

class Server:
    def __init__(self, params):
{body}
"""
"""The names that the child uses of the native package."""

HOLDING_THE_LOCK = """
        import ctypes, sys
        print("loading", file=sys.stderr, flush=True)
        ctypes.PyDLL(None).pause()  # a native call that keeps the interpreter's lock
"""
CRASHING = """
        import os, signal, sys
        print("tensor on fire", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
"""


def native_package(folder: Path, body: str | None) -> dict[str, str]:
    """Variables under which a child finds a package of this name in *folder*; None: it can't be imported."""
    text = "raise ImportError('no such package here')" if body is None else PACKAGE.format(body=body)
    folder.mkdir(exist_ok=True)
    (folder / "xllamacpp.py").write_text(text)
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


class Watched:
    """A process, whoever's child it is. Closed when the test is over."""

    def __init__(self, pid: int) -> None:
        self._handle = os.pidfd_open(pid)

    def gone(self, within_s: float = 20.0) -> bool:
        """Whether it ends within that time; returns as soon as it does."""
        return bool(select.select([self._handle], [], [], within_s)[0])

    def close(self) -> None:
        os.close(self._handle)


def children() -> list[int]:
    """The processes that this one has and has not waited for."""
    rows = (path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    return [int(word) for row in rows for word in row.split()]


def fail_if_left(before: list[int]) -> None:
    """Fail if there are children now that were not there *before*."""
    left = set(children()) - set(before)
    if left:
        pytest.fail(f"left behind: {sorted(left)}")
