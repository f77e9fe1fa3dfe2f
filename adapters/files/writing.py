"""
Replacing a file, whole or not at all. Blocking: run in a thread.

The bytes go to a temporary file in the same folder, to the disk, and then take the file's name.
Until then every failure and every cancel leaves the old file as it was; after that the write is
done and only its durability is waited for.
"""

import errno
import os
import secrets
import stat
from contextlib import ExitStack, suppress

from norma.adapters.files.opening import (
    enter,
    for_reading,
    keep,
    naming,
    reach,
    require_regular,
    split,
    stamp_of,
)
from norma.adapters.files.threads import Stop

PIECE = 1 << 20
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write(path: str, data: bytes, stamp: str | None, stop: Stop) -> str:
    """Put *data* at *path*; see `norma.ports.files.Workspace.write`."""
    parts = split(path)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    with ExitStack() as descriptors, ExitStack() as undo:
        folder, changed = _folder(parts[:-1], path, descriptors, undo)
        with naming(path, parts[-1], folder):
            temporary, written = _prepare(folder, parts[-1], path, data, stamp, stop, descriptors, undo)
            synced = [for_reading(each, descriptors) for each in changed]
            _refuse_change(_status(folder, parts[-1]), path, stamp)
            stop.check()
            os.replace(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        undo.pop_all()
        for each in synced:
            os.fsync(each)
        # Of the file that was written, whoever has taken its name since; the renaming is in it.
        return stamp_of(os.fstat(written))


def _folder(
    parts: tuple[str, ...], path: str, descriptors: ExitStack, undo: ExitStack
) -> tuple[int, list[int]]:
    """
    The folder to write into, made where it is missing, and all folders whose entries change.

    What was made is taken away again by *undo*, unless somebody else uses it by then.
    """
    folder, depth = reach(parts, descriptors, path)
    changed = [folder]
    for part in parts[depth:]:
        with naming(path, part, folder), suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
            undo.callback(_remove_folder, part, folder)
        folder = keep(descriptors, enter(folder, part, path))
        changed.append(folder)
    return folder, changed


def _prepare(
    folder: int,
    name: str,
    path: str,
    data: bytes,
    stamp: str | None,
    stop: Stop,
    descriptors: ExitStack,
    undo: ExitStack,
) -> tuple[str, int]:
    """Write *data* to a temporary file beside the old one, with its mode; its name, and the file itself."""
    old = _status(folder, name)
    if old is not None:
        require_regular(old, path)
        # A rename asks only the folder's permission; a file that may not be written must stay.
        if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=True):
            raise PermissionError(errno.EACCES, "the file is read-only", path)
    _refuse_change(old, path, stamp)
    stop.check()
    temporary = f".norma-{secrets.token_hex(8)}.tmp"
    # Who may not read the old file must not read the new one either, while it has no mode yet.
    descriptor = os.open(temporary, CREATE, 0o666 if old is None else 0o600, dir_fd=folder)
    descriptors.callback(os.close, descriptor)
    undo.callback(os.unlink, temporary, dir_fd=folder)
    _fill(descriptor, data, stop)
    if old is not None:
        _copy_mode(old, descriptor)
    os.fsync(descriptor)
    return temporary, descriptor


def _fill(descriptor: int, data: bytes, stop: Stop) -> None:
    view = memoryview(data)
    while view:
        stop.check()
        view = view[os.write(descriptor, view[:PIECE]) :]


def _copy_mode(old: os.stat_result, descriptor: int) -> None:
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            # Only root gives files away. What ran with the rights of the old owner must not run with ours.
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    os.fchmod(descriptor, mode)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _refuse_change(status: os.stat_result | None, path: str, stamp: str | None) -> None:
    if stamp is None or stamp == ("" if status is None else stamp_of(status)):
        return
    if stamp == "":
        words = "the file exists already"
    elif status is None:
        words = "the file was removed after it was read"
    else:
        words = "the file was changed after it was read"
    raise FileExistsError(errno.EEXIST, words, path)


def _remove_folder(name: str, folder: int) -> None:
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        # Somebody else has put something there meanwhile, or has removed it: it is no longer ours.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise
