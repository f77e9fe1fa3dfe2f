"""Runs the pure Python search in a process of its own and reads its answer."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable

from norma.adapters.grep.page import Job, Page
from norma.adapters.process.child import Child, running
from norma.adapters.process.patience import patiently
from norma.domain.model.failures import Failure
from norma.ports.errors import PortError
from norma.ports.file_search import SearchLine

START = "import sys; sys.path += sys.argv[1:]; from norma.adapters.grep.worker.__main__ import main; main()"
"""
Isolated from the environment and the current folder; the folders that this process imports from
come last.
"""

ENVIRON = {"MALLOC_MMAP_THRESHOLD_": str(1 << 26), "MALLOC_TRIM_THRESHOLD_": str(1 << 26)}
"""
All of its environment: glibc keeps the memory of one file for the next, which saves a quarter of the
time.
"""

MOST_WORKERS = 4
"""Each walks the whole tree, so more of them gain little."""


class Builtin:
    """
    The search of the worker, one for each processor that we may use: each searches its share of the files.

    *deadline_s* also bounds the processor time of each, should this process be killed.
    """

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.workers = min(MOST_WORKERS, processors())

    async def search(self, job: Job) -> tuple[Page, list[str]]:
        """
        The page that *job* asks for, and notes.

        Raises PortError if a worker breaks.
        """
        workers = self.workers_for(job.query.path)
        shares = [asyncio.create_task(self.share(job, number, workers)) for number in range(workers)]
        try:
            await asyncio.wait(shares, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for share in shares:
                share.cancel()
            await patiently(shares)
        for failed in [share for share in shares if not share.cancelled() and share.exception()]:
            failed.result()
        page = Page(job)
        notes: list[str] = []
        for share in shares:
            part, said = share.result()
            page.join(part)
            notes += said
        return page, notes

    def workers_for(self, path: str) -> int:
        return self.workers if os.path.isdir(path) else 1

    async def share(self, job: Job, number: int, workers: int) -> tuple[Page, list[str]]:
        """
        What the worker of that *number* finds, and its notes.

        The rows come in order. So the first rows of all shares, as many of each as the page could need,
        hold the first rows of the whole.
        """
        page = Page(job)
        notes: list[str] = []
        folders = [folder for folder in sys.path if os.path.isabs(folder)]
        command = (sys.executable, "-I", "-c", START, *folders)
        given = self.order(job, number, workers)
        async with running(command, environ=ENVIRON, cwd="/", given=given) as child:
            if not await self.read(child, page, notes, job.progress) and not page.full:
                raise broken(await child.ended(), child.complaint())
        return page, notes

    def order(self, job: Job, number: int, workers: int) -> bytes:
        """The query as the worker of that *number* reads it."""
        query = job.query
        return json.dumps(
            {
                "pattern": query.pattern,
                "path": query.path,
                "mode": query.mode,
                "ignore_case": query.ignore_case,
                "globs": query.globs,
                "types": job.types,
                "before": query.before,
                "after": query.after,
                "multiline": query.multiline,
                "hidden": query.hidden,
                "no_ignore": query.no_ignore,
                "share": number,
                "shares": workers,
                "processor_s": max(1, round(self.deadline_s) + 1),
            }
        ).encode()

    async def read(self, child: Child, page: Page, notes: list[str], progress: Callable[[str], None]) -> bool:
        """Put what *child* tells on *page* until that is full or all is told; whether all was told."""
        rest = b""
        whole = False

        def take(chunk: bytes) -> bool:
            nonlocal rest, whole
            *records, rest = (rest + chunk).split(b"\n")
            for record in records:
                kind, *facts = json.loads(record)
                if kind == "end":
                    whole = True
                elif kind == "progress":
                    progress(f"searched {facts[0]} files, {page.count} rows so far")
                elif kind == "trouble":
                    notes.append(f"not searched: {facts[0]}")
                else:
                    page.add(facts[0], rows_of(kind, *facts))
            return whole or page.full

        await child.read(take)
        return whole


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rows_of(kind: str, path: str, value: object = None) -> list[SearchLine]:
    """The rows in a record of the worker."""
    if kind == "file":
        return [SearchLine(path)]
    if kind == "count" and isinstance(value, int):
        return [SearchLine(path, count=value)]
    if kind == "rows" and isinstance(value, list):
        return [SearchLine(path, line, text, context=context) for line, text, context in value]
    raise ValueError(f"the search process told {kind!r}, which means nothing")


def broken(status: int, complaint: str) -> Exception:
    """The error for a worker that ended with *status* before its answer did."""
    if status == -signal.SIGXCPU:
        return TimeoutError("the search used up its processor time")
    last = complaint.splitlines()[-1] if complaint else "without a word"
    return PortError(Failure("internal", f"the built-in search broke (status {status}): {last}"))
