"""How searches end: by cancel, by deadline, at a full page; nothing of them is left (contract G7)."""

import asyncio
import os
from pathlib import Path

import pytest

from norma.adapters.grep.search import GrepSearch
from norma.ports.file_search import SearchQuery
from tests.adapters.grep.rigs import BACKENDS, ask, backend, cancel_at_random, children, stuck, until, write


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_after_two_hundred_cancels_at_random_moments_nothing_is_left(
    name: str, tmp_path: Path
) -> None:
    files = {f"{number % 7}/{number}.txt": b"needle\n" * 50 + b"hay\n" * 500 for number in range(60)}
    query = SearchQuery("needle", str(write(tmp_path / "tree", files)), "content", limit=0)
    search = backend(name)
    await cancel_at_random(lambda: ask(search, query), 200, (0, 0, 0, 0.001))


async def test_G7_a_search_that_is_stuck_is_ended_by_cancel(tmp_path: Path) -> None:
    task = asyncio.create_task(ask(backend("python"), stuck(tmp_path)))
    await until(lambda: any("grep.worker" in one for one in children()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() == []


async def test_G7_a_search_that_is_stuck_ends_at_its_deadline_while_the_loop_goes_on(tmp_path: Path) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    beside = asyncio.create_task(others())
    with pytest.raises(TimeoutError, match=r"stopped after 1\.5 s"):
        await ask(backend("python", deadline_s=1.5), stuck(tmp_path))
    beside.cancel()
    assert turns > 10
    assert children() == []


async def test_G7_a_ripgrep_that_hangs_ends_at_the_deadline(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text(
        '#!/bin/sh\n[ "$1" = "--version" ] && { echo "ripgrep 15.0.0"; exit 0; }\nsleep 3600\n'
    )
    program.chmod(0o755)
    search = GrepSearch(environ={"PATH": os.environ["PATH"]}, ripgrep=str(program), deadline_s=0.5)
    with pytest.raises(TimeoutError, match="stopped after"):
        await ask(search, SearchQuery("needle", str(tmp_path)))
    assert children() == []


async def test_G7_the_worker_ends_itself_when_its_processor_time_is_used_up(tmp_path: Path) -> None:
    """Should this process be killed, a stuck worker is not there for ever."""
    search = backend("python", deadline_s=30)
    search.builtin.deadline_s = 0
    with pytest.raises(TimeoutError, match="processor time"):
        await ask(search, stuck(tmp_path))


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_a_full_page_ends_the_search(name: str, tmp_path: Path) -> None:
    files = {"a.txt": b"needle\n" * 3000, "b.txt": b"needle\n" * 3000}
    query = SearchQuery("needle", str(write(tmp_path, files)), "content", limit=10)
    result = await ask(backend(name), query)
    assert (len(result.lines), result.more) == (10, -1)
    assert {line.path for line in result.lines} == {str(tmp_path / "a.txt")}
    assert children() == []


async def test_the_python_backend_reports_progress(tmp_path: Path) -> None:
    files = {f"{number // 100}/{number}.txt": b"needle\n" for number in range(2500)}
    seen: list[str] = []
    query = SearchQuery("needle", str(write(tmp_path, files)), limit=0)
    result = await ask(backend("python"), query, progress=seen.append)
    assert len(result.lines) == 2500
    assert [line.split(",")[0] for line in seen] == ["searched 1000 files", "searched 2000 files"]
    assert children() == []
