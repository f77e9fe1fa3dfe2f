"""
What code really does to the world, as the interpreter's audit events tell it (rule T8).

An audit hook can't be taken away again, so one is put in place at the first use; outside of
`seen_effects` it does nothing. Events of every thread count. What the interpreter does for itself
(importing a module, its own files) is no effect.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from norma.domain.model.actions import Effects

_NETWORK = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "http.client.",
)
_PROCESSES = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
)
_WRITES = (
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
    "os.truncate", "os.utime", "os.setxattr", "os.removexattr", "os.chflags", "shutil.", "tempfile.",
)  # fmt: skip
_READS = ("os.listdir", "os.scandir", "os.walk", "os.getxattr", "os.listxattr", "glob.glob")

_WRITING_FLAGS = 0b11 | 0o100 | 0o1000 | 0o2000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND
_PROCESS_TABLE = re.compile(r"/proc(/[0-9]+/stat)?")
"""Who is alive, and of which group: it says nothing of what any process holds."""

_OWN_FILES = (".py", ".pyc", ".so", ".pth", ".egg-link")

_watchers: list["SeenEffects"] = []
_installed: list[bool] = []


class SeenEffects:
    """What was seen, by kind; each line says what happened to what."""

    def __init__(self, readers: tuple[str, ...] = ()) -> None:
        self.readers = readers
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.network: list[str] = []
        self.processes: list[str] = []

    @property
    def read_only(self) -> bool:
        """Whether nothing was changed and nobody reached."""
        return not (self.writes or self.network or self.processes)

    def beyond(self, declared: Effects) -> list[str]:
        """What *declared* does not cover."""
        kinds = ("reads", "writes", "network", "processes")
        return [line for kind in kinds if not getattr(declared, kind) for line in getattr(self, kind)]

    def report(self) -> str:
        """All but the reads, in words."""
        return ", ".join([*self.writes, *self.network, *self.processes]) or "nothing"


@contextmanager
def seen_effects(readers: tuple[str, ...] = ()) -> Iterator[SeenEffects]:
    """
    See what is done in the block, by anybody in this process.

    Starting one of the programs *readers*, given by absolute path and without a shell, counts as
    reading (rule T4).
    """
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_hook)
    seen = SeenEffects(readers)
    _watchers.append(seen)
    try:
        yield seen
    finally:
        _watchers.remove(seen)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watchers:
        return
    kind = _kind(event, arguments)
    if kind is not None and not (kind == "reads" and _importing()):
        line = f"{event} {arguments[0]!r:.100}" if arguments else event
        for watcher in _watchers:
            # Some versions tell of a spawn beneath a Popen, too.
            reads = event in {"subprocess.Popen", "os.posix_spawn"} and arguments[0] in watcher.readers
            getattr(watcher, "reads" if reads else kind).append(line)


def _importing() -> bool:
    """Whether the import system itself does this: it lists its folders anew when they have changed."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _kind(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event == "open":
        return _open_kind(*arguments)
    if event.startswith(_NETWORK):
        # A socket with a path is a local matter of the loop or of a child, and is judged as such elsewhere.
        return None if event == "socket.connect" and isinstance(arguments[1], str) else "network"
    if event.startswith(_PROCESSES):
        return "processes"
    if event.startswith(_WRITES):
        return "writes"
    return "reads" if event.startswith(_READS) and not _is_own(arguments[0] if arguments else "") else None


def _open_kind(path: Any, mode: Any, flags: int) -> str | None:
    if isinstance(path, int) or str(path) == "/dev/null":
        return None
    if flags & _WRITING_FLAGS:
        return None if "__pycache__" in str(path) else "writes"
    return None if _is_own(path) else "reads"


def _is_own(path: Any) -> bool:
    """Whether the interpreter, or whoever waits for the end of a child, reads *path* for itself."""
    text = path.decode(errors="replace") if isinstance(path, bytes) else str(path)
    if "__pycache__" in text or text.endswith(_OWN_FILES):
        return True
    if _PROCESS_TABLE.fullmatch(text):
        return True
    return text.startswith(tuple(place for place in (sys.prefix, sys.base_prefix) if place != "/"))
