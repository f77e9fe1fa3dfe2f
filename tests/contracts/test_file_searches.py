"""The file searches keep the promises of their port."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from norma.adapters.grep.search import GrepSearch
from norma.adapters.memory.search import ScriptedSearch
from norma.ports.contracts import file_search
from norma.ports.contracts.file_search import FILES, SearchRig
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import search_rig


def _tree(folder: str) -> str:
    for name, data in FILES.items():
        (Path(folder) / name).parent.mkdir(exist_ok=True)
        (Path(folder) / name).write_bytes(data)
    return str(Path(folder).resolve())


@asynccontextmanager
async def ripgrep(folder: str) -> AsyncIterator[SearchRig]:
    yield SearchRig(GrepSearch(environ=os.environ), _tree(folder))


@asynccontextmanager
async def python(folder: str) -> AsyncIterator[SearchRig]:
    yield SearchRig(GrepSearch(environ={**os.environ, "NORMA_DISABLE_RIPGREP": "1"}), _tree(folder))


test_scripted_search = contract(file_search.CHECKS, search_rig(ScriptedSearch))
test_grep_search = contract(file_search.CHECKS, ripgrep, python)
