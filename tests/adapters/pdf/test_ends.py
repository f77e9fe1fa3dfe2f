"""How readings end: by cancel, by deadline, at enough pages; nothing of them is left."""

import asyncio
import os
import signal
import sys

import pytest

from norma.adapters.pdf.documents import AT_ONCE, PdfDocuments
from norma.ports.documents import NotInstalled, Unreadable
from tests.adapters.grep.rigs import cancel_at_random, children, until
from tests.adapters.pdf.making import document
from tests.adapters.pdf.rigs import read, slow, worker, worker_runs


async def test_after_many_cancels_at_random_moments_nothing_is_left() -> None:
    documents = PdfDocuments()
    data = document(*[f"page {number}" for number in range(30)]) + bytes(2 << 20)
    await cancel_at_random(lambda: read(documents, data), 60, (0, 0, 0.001, 0.01))


async def test_a_reading_that_is_stuck_ends_at_its_deadline_while_the_loop_goes_on() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    beside = asyncio.create_task(others())
    with pytest.raises(TimeoutError, match=r"longer than 1 s"):
        await read(PdfDocuments(deadline_s=1), slow(1))
    beside.cancel()
    assert turns > 10
    assert children() == []


async def test_the_worker_ends_itself_when_its_processor_time_is_used_up() -> None:
    """Should this process be killed, a stuck worker is not there for ever."""
    documents = PdfDocuments(page_s=30)
    documents.processor_s = 1
    with pytest.raises(TimeoutError, match="processor time"):
        await read(documents, slow(1))


async def test_enough_pages_end_the_reading() -> None:
    data = document(*["words"] * 300)
    pages = await read(PdfDocuments(), data, most=2)
    assert [page.number for page in pages] == [1, 2]
    assert children() == []


async def test_a_worker_that_is_killed_is_told_of() -> None:
    task = asyncio.create_task(read(PdfDocuments(), slow(1)))
    await until(worker_runs)
    os.kill(worker(), signal.SIGKILL)
    with pytest.raises(Unreadable, match="SIGKILL"):
        await task


async def test_more_readings_than_may_run_wait_for_each_other() -> None:
    documents = PdfDocuments(deadline_s=600, page_s=600)
    tasks = [asyncio.create_task(read(documents, slow(1))) for _ in range(AT_ONCE + 2)]
    await until(lambda: len(children()) == AT_ONCE)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(children()) == AT_ONCE
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    assert children() == []


async def test_without_pypdf_the_extra_is_named_and_nothing_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if "site-packages" not in folder])
    monkeypatch.delitem(sys.modules, "pypdf", raising=False)
    with pytest.raises(NotInstalled, match=r"norma-agent\[pdf\]"):
        await read(PdfDocuments(), document("one"))
    assert children() == []
