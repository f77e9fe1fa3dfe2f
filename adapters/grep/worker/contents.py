"""
A file's bytes as they are searched: in UTF-8, without a byte order mark, and without what follows a
NUL.
"""

import os
import stat

LARGEST = 1 << 30
"""Bytes; a larger file is not searched, and that is said."""
BLOCK = 1 << 16
"""
A file with a NUL in its first block is binary. The block of a later NUL, and all behind it, is left
out.
"""
SMALL = 1 << 18
"""Bytes that are read at once."""
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class TooLarge(OSError):
    """The file is larger than `LARGEST`."""


def read(path: bytes, most: int | None = None) -> bytes:
    """
    The bytes of the regular file at *path* (the first *most* of them), in UTF-8 where a mark says UTF-16.

    Raises OSError, also if the path has become a link or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        if most is None and status.st_size > LARGEST:
            raise TooLarge(f"larger than {LARGEST >> 20} MiB, not searched")
        data = os.read(handle, status.st_size + 1 if most is None else most)
        if most is None and len(data) != status.st_size:
            data = whole(handle, data)
    finally:
        os.close(handle)
    if (mark := data[:2]) in UTF16:
        return data[2:].decode(UTF16[mark], "replace").encode("utf-8", "surrogatepass")
    return data.removeprefix(b"\xef\xbb\xbf")


class Reader:
    """
    Reads files that may match; most don't, so their bytes go into one buffer and no further.

    *texts*: a file that holds none of them is of no interest; None: every file is.
    """

    def __init__(self, texts: tuple[bytes, ...] | None) -> None:
        self.texts = texts
        self.buffer = bytearray(SMALL)
        self.view = memoryview(self.buffer)

    def read(self, path: bytes) -> bytes | None:
        """
        What `read` gives for *path*, or None if it is of no interest. Raises what that raises.

        The walk has just seen that *path* is a regular file; what is small and has become something else
        is read without waiting, what is large is looked at again.
        """
        buffer = self.buffer
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            size = 0
            while size < SMALL and (count := os.readv(handle, (self.view[size:],))):
                size += count
        finally:
            os.close(handle)
        if size == SMALL or bytes(buffer[:2]) in UTF16:
            return read(path)
        if self.texts is not None and all(buffer.find(text, 0, size) < 0 for text in self.texts):
            return None
        return bytes(self.view[:size]).removeprefix(b"\xef\xbb\xbf")


def whole(handle: int, start: bytes) -> bytes:
    """*start* and what follows it; a file's size is only a guess for some file systems, and it may grow."""
    parts = [start]
    while len(parts[-1]) and sum(map(len, parts)) <= LARGEST:
        parts.append(os.read(handle, 1 << 20))
    return b"".join(parts)


def is_binary(data: bytes) -> bool:
    return data.find(b"\0", 0, BLOCK) >= 0


def before_nul(data: bytes) -> tuple[bytes, bool]:
    """The whole lines of *data* before the block that holds a NUL, and whether there was one."""
    at = data.find(b"\0")
    if at < 0:
        return data, False
    end = data.rfind(b"\n", 0, at // BLOCK * BLOCK) + 1
    return data[:end], True
