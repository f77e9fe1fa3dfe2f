"""Where a path leads: every symlink followed by hand, a missing tail kept."""

import errno
import os
import stat

MOST_LINKS = 40
"""As many as Linux follows before it calls a path a loop."""
MOST_BYTES = 4095
"""Of a path, as Linux has it. Behind a longer one no other program could find a file again."""


def follow(path: str, start: str) -> tuple[str, bool]:
    """
    The absolute path that *path* leads to from the folder *start*, and whether something is there.

    Done here rather than by `os.path.realpath`, which tells a loop from a missing file only on some
    versions of Python. `..` after a missing part takes that part away.

    Raises:
        ValueError: it is empty, has a NUL inside, or can't be encoded as a file name.
        OSError: a loop of links, a name that is too long, or a folder that may not be looked into.
    """
    _check_spelling(path)
    _check_length(path)
    pending = _parts(path)
    done: list[str] = [] if path.startswith("/") else list(reversed(_parts(start)))
    missing_from: int | None = None
    links = 0
    while pending:
        part = pending.pop()
        if part == "..":
            del done[-1:]
            if missing_from is not None and len(done) <= missing_from:
                missing_from = None
            continue
        target = None if missing_from is not None else _link_target("/" + "/".join([*done, part]))
        if target is None:
            done.append(part)
            continue
        if target == "":
            missing_from = len(done)
            done.append(part)
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, "its symbolic links lead in a circle", path)
        if target.startswith("/"):
            done.clear()
        pending.extend(_parts(target))
    found = "/" + "/".join(done)
    _check_length(found)
    return found, missing_from is None


def holds(folder: str, path: str) -> bool:
    """Whether *folder* is *path* or above it, compared by parts: /project2 does not lie in /project."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _check_spelling(path: str) -> None:
    if not path:
        raise ValueError("the path is empty")
    if "\0" in path:
        raise ValueError(f"a path can't have a NUL character inside: {path!r}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ValueError(f"the path can't be encoded as a file name: {path!r}") from error


def _check_length(path: str) -> None:
    if len(os.fsencode(path)) > MOST_BYTES:
        raise OSError(errno.ENAMETOOLONG, f"a path can have {MOST_BYTES} bytes at most", path)


def _parts(path: str) -> list[str]:
    """The parts of *path*, last one first."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _link_target(path: str) -> str | None:
    """What the link *path* says; None if it is no link, the empty string if nothing is there."""
    try:
        if not stat.S_ISLNK(os.lstat(path).st_mode):
            return None
        return os.readlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return ""
