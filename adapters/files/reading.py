"""Reading a regular file, and listing a folder. Blocking: all but `peek` is run in a thread."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal

from norma.adapters.files.opening import (
    for_reading,
    naming,
    parent_of,
    require_regular,
    split,
    stamp_of,
    walk,
)
from norma.adapters.files.threads import Stop
from norma.ports.files import Entry, FileContent

PIECE = 1 << 20
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""O_NONBLOCK: if a FIFO took the file's place a moment ago, opening it does not wait for a writer."""


def read(path: str, limit: int | None, stop: Stop) -> FileContent:
    """The first *limit* bytes (None: all) of the regular file at *path*."""
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, it is {limit}")
    with _opened(path) as (descriptor, status):
        data = _bytes_of(descriptor, limit, stop)
    # The stamp was taken before the bytes: a change while they were read makes it stale.
    # Files of /proc have a size of 0 and yet bytes.
    return FileContent(data, max(status.st_size, len(data)), stamp_of(status))


def peek(path: str, most: int) -> bytes | None:
    """The bytes of the regular file at *path*; None if they are more than *most* or can't be read."""
    try:
        with _opened(path) as (descriptor, status):
            if status.st_size > most:
                return None
            # One more than may be: files of /proc have a size of 0, and a file may grow meanwhile.
            data = _bytes_of(descriptor, most + 1, Stop())
    except OSError:
        return None
    return data if len(data) <= most else None


def entries(path: str, stop: Stop) -> tuple[Entry, ...]:
    """The entries of the folder at *path*, sorted by name."""
    parts = split(path)
    found = []
    with ExitStack() as stack:
        folder = walk(parts, stack, path)
        with naming(path, ".", folder):
            listed = for_reading(folder, stack)
        for entry in stack.enter_context(os.scandir(listed)):
            stop.check()
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            found.append(Entry(entry.name, _kind(status.st_mode), status.st_size))
    return tuple(sorted(found, key=lambda entry: entry.name))


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, os.stat_result]]:
    """The regular file at *path*, open for reading, and its status from before it is read."""
    with parent_of(path) as (folder, name):
        require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
        descriptor = os.open(name, READ, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            require_regular(status, path)
            yield descriptor, status
        finally:
            os.close(descriptor)


def _bytes_of(descriptor: int, limit: int | None, stop: Stop) -> bytes:
    pieces = []
    left = limit
    while left is None or left > 0:
        stop.check()
        piece = os.read(descriptor, PIECE if left is None else min(PIECE, left))
        if not piece:
            break
        pieces.append(piece)
        if left is not None:
            left -= len(piece)
    return b"".join(pieces)


def _kind(mode: int) -> Literal["file", "folder", "link", "other"]:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"
