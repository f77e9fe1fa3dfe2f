"""Runs the pure Python search in a process of its own and reads its answer."""

import json
import os
import signal
import sys
from collections.abc import Callable

from norma.adapters.grep.child import Child, running
from norma.adapters.grep.page import Job, Page
from norma.domain.model.failures import Failure
from norma.ports.errors import PortError
from norma.ports.file_search import SearchLine, SearchQuery

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


class Builtin:
    """
    The search of the worker. *deadline_s* also bounds its processor time, should this process be
    killed.
    """

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s

    async def search(self, job: Job) -> tuple[Page, list[str]]:
        """
        The page that *job* asks for, and notes.

        Raises PortError if the worker breaks.
        """
        page = Page(job)
        notes: list[str] = []
        folders = [folder for folder in sys.path if os.path.isabs(folder)]
        command = (sys.executable, "-I", "-c", START, *folders)
        given = self.order(job.query, job.types)
        async with running(command, environ=ENVIRON, cwd="/", given=given) as child:
            if not await self.read(child, page, notes, job.progress) and not page.full:
                raise broken(await child.ended(), child.complaint())
        return page, notes

    def order(self, query: SearchQuery, types: tuple[str, ...]) -> bytes:
        """The query as the worker reads it."""
        return json.dumps(
            {
                "pattern": query.pattern,
                "path": query.path,
                "mode": query.mode,
                "ignore_case": query.ignore_case,
                "globs": query.globs,
                "types": types,
                "before": query.before,
                "after": query.after,
                "multiline": query.multiline,
                "hidden": query.hidden,
                "no_ignore": query.no_ignore,
                "processor_s": max(1, round(self.deadline_s) + 1),
            }
        ).encode()

    async def read(self, child: Child, page: Page, notes: list[str], progress: Callable[[str], None]) -> bool:
        """Put what *child* tells on *page* until that is full or all is told; whether all was told."""
        rest = b""
        async for chunk in child.output():
            *records, rest = (rest + chunk).split(b"\n")
            for record in records:
                kind, *facts = json.loads(record)
                if kind == "end":
                    return True
                if kind == "progress":
                    progress(f"searched {facts[0]} files, {page.count} rows so far")
                elif kind == "trouble":
                    notes.append(f"not searched: {facts[0]}")
                else:
                    page.add(facts[0], rows_of(kind, *facts))
                if page.full:
                    return False
        return False


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
