"""
What import-linter can't say about imports: what each part of the inner layers may use at all.

import-linter forbids the names that it is told. Here packages are the other way round (attrs and nothing
else), asyncio is tied to three modules, and what reaches the world without an import counts too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
INNER = ("domain", "ports")
FOLDERS = (*INNER, "adapters", "app")

# What reaches the world, or makes up something: a file, a socket, a process, a thread, the time, a number.
# fmt: off
WORLD = frozenset({
    "concurrent", "ctypes", "fcntl", "fileinput", "ftplib", "glob", "http", "importlib", "mmap", "os", "pty",
    "multiprocessing", "random", "runpy", "secrets", "select", "selectors", "shutil", "signal", "smtplib",
    "socket", "socketserver", "sqlite3", "ssl", "subprocess", "tempfile", "termios", "threading", "time",
    "urllib.request", "uuid", "webbrowser",
})
# fmt: on
PURE_PATHS = frozenset({"PurePath", "PurePosixPath", "PureWindowsPath"})
WORLD_CALLS = frozenset({"__import__", "breakpoint", "eval", "exec", "input", "open", "print"})
ASYNCIO_PLACES = frozenset(
    {
        # The driver's own parts wait as it does: its activities, the reading of a reply, the run of a tool.
        *(f"domain/engine/{name}.py" for name in ("driver", "activities", "permits", "reading", "running")),
        *(f"domain/engine/{name}.py" for name in ("outbox", "session")),
        "ports/contracts/pytest.py",
    }
)
PYTEST_PLACE = "ports/contracts/pytest.py"


def faults(place: str, source: str) -> list[str]:
    """Say what is wrong with the imports and calls of one module; *place* is its path from the root."""
    tree = ast.parse(source)
    wrong = [fault for name in imported(tree) if (fault := judge_import(place, name))]
    if PurePosixPath(place).parts[0] in INNER:
        wrong += [f"calls {name}" for name in called(tree) if name in WORLD_CALLS]
    return wrong


def judge_import(place: str, name: str) -> str | None:
    """Name the fault of one import, or None; *name* is dotted and includes what is taken from the module."""
    folder, top = PurePosixPath(place).parts[0], name.partition(".")[0]
    if top in FOLDERS:
        return f"imports {name} by its bare name"
    if top == "norma":
        return None
    if top == "dependency_injector" and folder != "app":
        return "imports dependency_injector outside app"
    if folder not in INNER:
        return None
    if top == "asyncio":
        return None if place in ASYNCIO_PLACES else "imports asyncio where nothing may wait on a loop"
    if top == "pathlib":
        return None if name.rpartition(".")[2] in PURE_PATHS else f"imports {name}, which is no pure path"
    if any(name == module or name.startswith(f"{module}.") for module in WORLD):
        return f"imports {name}, which reaches the world"
    if top in sys.stdlib_module_names or top == "attrs" or (top == "pytest" and place == PYTEST_PLACE):
        return None
    return f"imports {name}, a package other than attrs"


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


MODULES = sorted(path.relative_to(ROOT).as_posix() for top in FOLDERS for path in (ROOT / top).rglob("*.py"))


@pytest.mark.parametrize("place", MODULES)
def test_module_keeps_to_its_layer(place: str) -> None:
    assert faults(place, (ROOT / place).read_text(encoding="utf-8")) == []


WRONG = [
    ("domain/policy/rules.py", "import os"),
    ("domain/policy/rules.py", "import os.path as p"),
    ("domain/policy/rules.py", "from os import path"),
    ("domain/model/blocks.py", "def later():\n    import time"),
    ("domain/model/blocks.py", "from urllib.request import urlopen"),
    ("domain/model/blocks.py", "from urllib import request"),
    ("domain/model/blocks.py", "import cattrs"),
    ("domain/tools/read.py", "import aiohttp"),
    ("domain/tools/read.py", "from pathlib import Path"),
    ("domain/tools/read.py", "import pathlib"),
    ("domain/tools/read.py", "text = open('x').read()"),
    ("domain/engine/turn.py", "import asyncio"),
    ("domain/engine/turn.py", "from asyncio import TaskGroup"),
    ("domain/engine/driver.py", "import trio"),
    ("domain/engine/turn.py", "os = __import__('os')"),
    ("domain/engine/turn.py", "from importlib import import_module"),
    ("domain/engine/turn.py", "from .state import State"),
    ("ports/model.py", "import asyncio.timeouts"),
    ("ports/contracts/model.py", "import pytest"),
    ("ports/contracts/pytest.py", "import hypothesis"),
    ("adapters/http/egress.py", "from dependency_injector import providers"),
    ("adapters/http/egress.py", "from domain.model import blocks"),
    ("app/running.py", "import adapters.http"),
]
RIGHT = [
    ("domain/model/blocks.py", "from attrs import frozen"),
    ("domain/model/blocks.py", "from pathlib import PurePosixPath, PurePath"),
    ("domain/model/blocks.py", "from urllib.parse import urlsplit"),
    ("domain/engine/driver.py", "import asyncio"),
    ("ports/contracts/pytest.py", "import pytest"),
    ("adapters/process/runner.py", "import asyncio, os\nopen('x')"),
    ("app/container.py", "from dependency_injector import containers"),
]


@pytest.mark.parametrize(("place", "source"), WRONG)
def test_wrong_import_is_caught(place: str, source: str) -> None:
    assert len(faults(place, source)) == 1


@pytest.mark.parametrize(("place", "source"), RIGHT)
def test_right_import_is_let_through(place: str, source: str) -> None:
    assert faults(place, source) == []
