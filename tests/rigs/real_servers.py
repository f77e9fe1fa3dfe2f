"""Tool servers that others wrote, installed once into a cache of this repository."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "mcp-servers"
INSTALL_S = 240

NPM_VERSION = "2026.8.31"
NPM = "@modelcontextprotocol/server-"
PYTHON = (
    "mcp-server-fetch==2026.10.24",
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
    "mcp==2.3.0",
    "fastmcp==4.2.3",
)


def npm_server(name: str) -> str:
    """The program of one npm server, installed if it was not yet; without npm the test is skipped, loudly."""
    folder = CACHE / f"npm-{name}-{NPM_VERSION}"
    if not folder.exists():
        if shutil.which("npm") is None or shutil.which("node") is None:
            pytest.skip(f"npm or node is missing, so {NPM}{name} was NOT tried; install Node 20 to run this")
        _npm_install(f"{NPM}{name}@{NPM_VERSION}", folder)
    return str(folder / "node_modules" / ".bin" / f"mcp-server-{name}")


def python_servers() -> str:
    """The interpreter of an environment that has the Python servers, `mcp` and `fastmcp`."""
    folder = CACHE / f"python-{sys.version_info.major}.{sys.version_info.minor}"
    python, whole = folder / "bin" / "python", folder / "whole"
    if not whole.exists():
        # An environment can't be moved, so this one is made in place, and marked when it is whole.
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", *PYTHON])
        whole.touch()
    return str(python)


def _npm_install(package: str, folder: Path) -> None:
    """Install beside *folder* and move it there, so that a cut install is never taken for a whole one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    at = tempfile.mkdtemp(dir=folder.parent)
    try:
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", at, package])
        os.replace(at, folder)
    except BaseException:
        shutil.rmtree(at, ignore_errors=True)
        raise


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).splitlines()[-5:])
        pytest.skip(f"{' '.join(command[:3])} failed, so real servers were NOT tried:\n{said}")
