"""What a host pays for the import alone, and for opening Norma."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from norma.app import later
from norma.domain.model.requests import ReplyRequest
from norma.ports.errors import ModelError

OURS = "from norma.app import Settings, SettingsError, open_norma"
NOT_YET = ("aiohttp", "asyncio", "dependency_injector", "lxml", "prompt_toolkit", "rich", "sqlite3")

MEASURE = """
import sys
{statement}
memory = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(memory, *sys.modules)
"""


def cost(statement: str) -> tuple[int, set[str]]:
    """Peak memory (KiB) of a fresh interpreter that runs *statement*, and the modules it has loaded."""
    command = [sys.executable, "-c", MEASURE.format(statement=statement)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    memory, *modules = done.stdout.split()
    return int(memory), set(modules)


def test_the_import_loads_nothing_that_is_needed_later() -> None:
    _, modules = cost(OURS)
    assert modules.isdisjoint(NOT_YET)


def test_the_import_takes_far_less_memory_than_the_network_library() -> None:
    empty, ours, floor = (cost(statement)[0] for statement in ("pass", OURS, "import aiohttp, orjson"))
    assert ours - empty < 0.5 * (floor - empty)


OPENED = """
import asyncio, sys
from norma.app import Settings, open_norma

async def opened() -> None:
    model = {"wire": "openai-chat", "base_url": "http://127.0.0.1:1", "model": "m"}
    values = {"models": {"default": model}, "journal": {"path": sys.argv[1]}}
    async with open_norma(Settings.from_mapping(values), environ={}) as norma:
        await norma.session()
        print(*sys.modules)

asyncio.run(opened())
"""
NOT_FOR_A_TURN = (
    "tomllib",
    "norma.adapters.anthropic",
    "norma.adapters.embedded",
    "norma.adapters.files.reading",
    "norma.adapters.files.writing",
    "norma.adapters.grep",
    "norma.adapters.mcp",
    "norma.adapters.openai_responses",
    "norma.adapters.pdf",
    "norma.adapters.process.starting",
    "norma.adapters.urls",
    "norma.adapters.web_fetch",
    "norma.adapters.web_search",
)


def test_an_open_norma_has_loaded_nothing_that_a_turn_can_do_without(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path / "journal.db")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    modules = set(done.stdout.split())
    assert "norma.adapters.openai_chat.model" in modules
    assert modules.isdisjoint(NOT_FOR_A_TURN)


def test_every_later_name_is_the_real_thing() -> None:
    tree = ast.parse(Path(later.__file__).read_text())
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    homes = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    called = {
        tuple(argument.value for argument in node.value.args if isinstance(argument, ast.Constant))
        for node in typed.orelse
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    }
    assert called
    for home, name in called:
        assert homes[str(name)] == home


async def test_an_embedded_model_that_was_never_wanted_is_not_made_to_be_closed() -> None:
    made: list[str] = []

    def make() -> Any:
        made.append("model")

    model = later.LaterEmbedded(make)
    await model.aclose()
    with pytest.raises(ModelError):
        model.reply(ReplyRequest(()))
    assert made == []
