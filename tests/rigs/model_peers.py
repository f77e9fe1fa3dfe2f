"""Programs of others that speak the model wires, installed once into a cache of this repository."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "model-peers"
INSTALL_S = 240

SDKS = ("anthropic==2.15.0", "openai==3.57.0")
PROXY = ("proxy.py==2.4.10",)
AIMOCK = "@copilotkit/aimock@1.43.0"


def python_with(name: str, packages: tuple[str, ...]) -> str:
    """An interpreter that has *packages*, installed if they were not yet."""
    folder = CACHE / f"{name}-{sys.version_info.major}.{sys.version_info.minor}"
    python, whole = folder / "bin" / "python", folder / "whole"
    if not whole.exists() or whole.read_text() != "\n".join(packages):
        # An environment can't be moved, so this one is made in place, and marked when it is whole.
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", *packages])
        whole.write_text("\n".join(packages))
    return str(python)


def aimock() -> str:
    """The program of aimock; without npm the test is skipped, loudly."""
    folder = CACHE / AIMOCK.replace("/", "-").replace("@", "")
    if not folder.exists():
        if shutil.which("npm") is None or shutil.which("node") is None:
            pytest.skip(f"npm or node is missing, so {AIMOCK} was NOT tried; install Node 20 to run this")
        folder.parent.mkdir(parents=True, exist_ok=True)
        at = tempfile.mkdtemp(dir=folder.parent)
        try:
            _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", at, AIMOCK])
            os.replace(at, folder)
        except BaseException:
            shutil.rmtree(at, ignore_errors=True)
            raise
    return str(folder / "node_modules" / ".bin" / "llmock")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).splitlines()[-5:])
        pytest.skip(f"{' '.join(command[:4])} failed, so this peer was NOT tried:\n{said}")
