"""Both backends keep the promises of the file-search port."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from norma.ports.contracts import file_search
from norma.ports.contracts.file_search import FILES, SearchRig
from norma.ports.contracts.pytest import contract
from norma.ports.file_search import SearchQuery
from tests.adapters.grep.rigs import backend, children, real_ripgrep, stuck, write

STUCK = """#!/bin/sh
case "$*" in
  *forever*) exec sleep 3600 ;;
esac
exec '{ripgrep}' "$@"
"""


def stuck_at_some(program: Path) -> Path:
    program.write_text(STUCK.format(ripgrep=real_ripgrep()))
    program.chmod(0o755)
    return program


@asynccontextmanager
async def ripgrep(folder: str) -> AsyncIterator[SearchRig]:
    root = write(Path(folder, "tree"), FILES)
    program = stuck_at_some(Path(folder, "rg"))
    endless = SearchQuery("forever", str(root))
    search = backend("ripgrep", program=str(program))
    yield SearchRig(
        search, str(root), endless, lambda: any("sleep" in one for one in children()), lambda: len(children())
    )
    await search.aclose()


@asynccontextmanager
async def python(folder: str) -> AsyncIterator[SearchRig]:
    root = write(Path(folder, "tree"), FILES)
    endless = stuck(Path(folder))
    yield SearchRig(backend("python"), str(root), endless, worker_runs, lambda: len(children()))


def worker_runs() -> bool:
    return any("grep.worker" in one for one in children())


test_file_search = contract(file_search.CHECKS, ripgrep, python)


def test_the_rigs_have_proc() -> None:
    assert os.path.isdir("/proc/self"), "children are counted by /proc"
