"""A first look at a GGUF file, so that a wrong one is named before native code meets it."""

import os
import stat
import struct

from norma.adapters.embedded.failures import EmbeddedFailed

_HEADER = struct.Struct("<4sIQQ")  # magic, version, number of tensors, number of metadata entries
_VERSIONS = (2, 3)
_LEAST_PER_ENTRY = 12
"""No tensor and no metadata entry is described in fewer bytes."""


def check_gguf(path: str) -> None:
    """
    Raise EmbeddedFailed unless *path* is a regular file that begins as a GGUF file does.

    Reads 24 bytes. That the tensors are whole is for llama.cpp to say, when it loads them.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise EmbeddedFailed("usage", f"the model {path} is no regular file; name a GGUF file")
            head = file.read(_HEADER.size)
    except FileNotFoundError as error:
        raise EmbeddedFailed("usage", f"there is no model file {path}") from error
    except OSError as error:
        raise EmbeddedFailed("usage", f"the model file {path} can't be read: {error.strerror}") from error
    fault = _fault(head, status.st_size)
    if fault is not None:
        raise EmbeddedFailed("usage", f"the model file {path} is no usable GGUF file: {fault}")


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _fault(head: bytes, size: int) -> str | None:
    if len(head) < _HEADER.size:
        return f"it has {size} bytes, fewer than its header needs"
    magic, version, tensors, entries = _HEADER.unpack(head)
    if magic != b"GGUF":
        return f'it begins with {magic!r}, not with b"GGUF"'
    if version not in _VERSIONS:
        return f"its format is version {version}; known are 2 and 3"
    if tensors == 0 or (tensors + entries) * _LEAST_PER_ENTRY > size:
        return f"its header names {tensors} tensors and {entries} entries, which can't be in {size} bytes"
    return None
