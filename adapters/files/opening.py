"""
Race-free opening: from `/` part by part, never through a link.

A path was resolved, then judged by the policy, then is opened here. If somebody swaps a part for a
symlink in between, the kernel refuses that part, and the error says so.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

# With O_PATH a folder that may be passed through but not listed can still be walked; where it does
# not exist (not Linux), such a folder is an error.
WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

SWAPPED = "a part of the path has become a symbolic link since it was resolved"


def split(path: str) -> tuple[str, ...]:
    """The parts of an absolute, resolved path. Raises ValueError for any other."""
    parts = tuple(part for part in path.split("/") if part)
    if not path.startswith("/") or "\0" in path or any(part in (".", "..") for part in parts):
        raise ValueError(f"not an absolute, resolved path: {path!r}")
    return parts


@contextmanager
def parent_of(path: str) -> Iterator[tuple[int, str]]:
    """The open folder that holds *path*, and the name in it. The descriptor is closed at the end."""
    parts = split(path)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    with ExitStack() as stack:
        folder = walk(parts[:-1], stack, path)
        with naming(path, parts[-1], folder):
            yield folder, parts[-1]


def walk(parts: tuple[str, ...], stack: ExitStack, path: str) -> int:
    """Open the folder at *parts* for passing through; *stack* closes it."""
    folder, depth = reach(parts, stack, path)
    if depth < len(parts):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return folder


def reach(parts: tuple[str, ...], stack: ExitStack, path: str) -> tuple[int, int]:
    """
    Open the deepest folder on the way along *parts* that is there, and say how many of them that are.

    *stack* closes it. No other stays open on the way: there may be more of them than a process may open.
    """
    folder = os.open("/", WALK)
    for depth, part in enumerate(parts):
        try:
            deeper = enter(folder, part, path)
        except FileNotFoundError:
            return keep(stack, folder), depth
        except BaseException:
            os.close(folder)
            raise
        os.close(folder)
        folder = deeper
    return keep(stack, folder), len(parts)


def enter(folder: int, part: str, path: str) -> int:
    """Open the folder *part* of the open *folder*; the caller closes it."""
    with naming(path, part, folder):
        return os.open(part, WALK, dir_fd=folder)


def for_reading(folder: int, stack: ExitStack) -> int:
    """A folder that was opened for passing through, opened again for listing and fsync."""
    return keep(stack, os.open(".", LIST, dir_fd=folder))


@contextmanager
def naming(path: str, part: str, folder: int) -> Iterator[None]:
    """Make errors of the calls inside name the whole *path*, and a swapped link as what it is."""
    try:
        yield
    except OSError as error:
        # Nothing here follows a link, so a loop is one that stood there, even if it is gone by now.
        if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(folder, part)):
            raise OSError(errno.ELOOP, SWAPPED, path) from error
        named = isinstance(error.filename, str) and error.filename.startswith("/")
        if error.errno is not None and not named:
            raise OSError(error.errno, os.strerror(error.errno), path) from error
        raise


def require_regular(status: os.stat_result, path: str) -> None:
    """Raise OSError unless *status* is that of a regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, SWAPPED, path)
    kind = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(mode), "a device")
    raise OSError(errno.EINVAL, f"it is {kind}; only regular files are opened", path)


def stamp_of(status: os.stat_result) -> str:
    """What changes whenever the file does; the time of the inode's change can't be set back by hand."""
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}-{status.st_ino:x}"


def keep(stack: ExitStack, descriptor: int) -> int:
    """Have *stack* close *descriptor*."""
    stack.callback(os.close, descriptor)
    return descriptor


def _is_link(folder: int, part: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
