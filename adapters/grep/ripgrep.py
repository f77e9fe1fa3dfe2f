"""Runs ripgrep and reads its answer."""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Iterator

from norma.adapters.grep.events import FileEvents, FolderEvents, absolute, folder_of
from norma.adapters.grep.page import Job, Page
from norma.adapters.grep.records import Counts, Records, RipgrepFailed
from norma.adapters.grep.spelling import for_ripgrep
from norma.adapters.grep.worker import contents
from norma.adapters.process.child import Child, running
from norma.ports.file_search import SearchLine, SearchQuery

ENVIRON = {"LC_ALL": "C"}
"""All of ripgrep's environment: the user's settings for it (RIPGREP_CONFIG_PATH) don't count."""
TICK_S = 1.0
BAD_RULE = re.compile(r": line \d+: error parsing glob ")
"""A complaint about a line of an ignore file in a folder above, which is left out like any such line."""
PARTIAL = 2
"""The exit status for "there was an error", whether or not there are matches too."""


class Ripgrep:
    """The ripgrep at *program*."""

    def __init__(self, program: str) -> None:
        self.program = program

    async def search(self, job: Job) -> tuple[Page, list[str]]:
        """
        The page that *job* asks for, and notes.

        ripgrep is fastest in no order. If there turn out to be more rows than are counted, it is
        stopped and asked again, in order, up to the end of the page.

        Raises RipgrepFailed.
        """
        page = Page(job)
        if begins_binary(job.query.path):
            return page, []
        command = self.command(job)
        notes = await self.fill(page, command, job.progress)
        if page.full:
            page = Page(job, beyond=0)
            notes = await self.fill(page, (command[0], "--sort=path", *command[1:]), job.progress)
        return page, notes

    def command(self, job: Job) -> tuple[str, ...]:
        """The whole command line. The pattern and the path can't be taken for options."""
        query, types = job.query, job.types
        words = [self.program, "--no-config", "--color=never", "--case-sensitive", "--no-mmap"]
        words += ["--no-ignore-messages", "--no-ignore-global", "--no-ignore-exclude"]
        words += (
            ["--hidden"] * query.hidden
            + ["--no-ignore"] * query.no_ignore
            + ["--multiline"] * query.multiline
        )
        words += [f"--glob={glob}" for glob in query.globs] + ["--glob=!.git"]
        words += [f"--type-add=norma:{glob}" for glob in types] + ["--type=norma"] * bool(types)
        if reads_events(query):
            words += ["--json"]
            if query.mode == "content":
                words += [f"--before-context={query.before}", f"--after-context={query.after}"]
        else:
            words += [
                "--null",
                "--with-filename",
                "--files-with-matches" if query.mode == "files" else "--count",
            ]
        return (*words, f"--regexp={for_ripgrep(job.tree)}", "--", query.path)

    async def fill(self, page: Page, command: tuple[str, ...], progress: Callable[[str], None]) -> list[str]:
        """Run *command* until it ends or *page* is full; the notes."""
        folder = folder_of(page.query)
        try:
            async with running(command, environ=ENVIRON, cwd=folder) as child:
                with ticking(lambda: progress(f"searching: {page.count} rows so far")):
                    found = await self.read(page, child)
                    if page.full:
                        return []
                    status = await child.ended()
        except OSError as error:
            raise RipgrepFailed(f"it can't be started: {error.strerror or error}") from error
        return judged(status, found, child.complaint())

    async def read(self, page: Page, child: Child) -> int:
        """Put what *child* prints on *page*, until that is full; the number of records."""
        if reads_events(page.query):
            return await read_events(page, child)
        return await (read_counts if page.query.mode == "count" else read_names)(page, child)


async def read_events(page: Page, child: Child) -> int:
    records = Records(b"\n")
    events = (FolderEvents if one_row_an_event(page.query) else FileEvents)(page)
    found = 0

    def take(chunk: bytes) -> bool:
        nonlocal found
        found += events.take(records.feed(chunk))
        return page.full

    if await child.read(take, pauses=True):
        records.finish()
        events.finish()
    return found


async def read_names(page: Page, child: Child) -> int:
    records = Records(b"\0")
    folder = page.query.path
    found = 0

    def take(chunk: bytes) -> bool:
        nonlocal found
        for name in records.feed(chunk):
            found += 1
            path = absolute(folder, name)
            page.add(path, (SearchLine(path),))
        return page.full

    if await child.read(take, pauses=True):
        records.finish()
    return found


async def read_counts(page: Page, child: Child) -> int:
    counts = Counts()
    folder = page.query.path
    found = 0

    def take(chunk: bytes) -> bool:
        nonlocal found
        for name, count in counts.feed(chunk):
            found += 1
            path = absolute(folder, name)
            page.add(path, (SearchLine(path, count=count),))
        return page.full

    if await child.read(take, pauses=True):
        counts.finish()
    return found


def begins_binary(path: str) -> bool:
    """Whether *path* is a file that both backends skip as binary; ripgrep would not, since it was named."""
    if os.path.isdir(path):
        return False
    try:
        return contents.is_binary(contents.read(os.fsencode(path), contents.BLOCK))
    except OSError as error:
        raise RipgrepFailed(f"{path} can't be read: {error.strerror or error}") from error


def reads_events(query: SearchQuery) -> bool:
    """
    Whether ripgrep's JSON is needed.

    For a file that was named, since ripgrep searches it even if it is binary and only its JSON says
    so; and to count lines that belong to one match.
    """
    return (
        query.mode == "content"
        or (query.mode == "count" and query.multiline)
        or not os.path.isdir(query.path)
    )


def one_row_an_event(query: SearchQuery) -> bool:
    """Whether each match and each line of context is an event, and neither of them is taken back."""
    return query.mode == "content" and not query.multiline and os.path.isdir(query.path)


def judged(status: int, found: int, complaint: str) -> list[str]:
    """
    The notes of a run that ended with *status*, with *found* records; raises RipgrepFailed if it
    was no answer.
    """
    if status < 0:
        raise RipgrepFailed(f"it was ended by signal {-status}")
    lines = [line.removeprefix("rg: ") for line in complaint.splitlines()]
    serious = [line for line in lines if not BAD_RULE.search(line)]
    nothing = status == PARTIAL and not found and (serious or not lines)
    if status > PARTIAL or nothing or (status == 1 and found):
        raise RipgrepFailed(f"it ended with status {status}: {complaint or 'without a word'}")
    return [f"not searched: {line}" for line in serious] if status == PARTIAL else []


@contextlib.contextmanager
def ticking(tell: Callable[[], None]) -> Iterator[None]:
    """Call *tell* once a second while the block lasts."""
    loop = asyncio.get_running_loop()
    handles: list[asyncio.TimerHandle] = []

    def tick() -> None:
        handles[:] = [loop.call_later(TICK_S, tick)]
        tell()

    handles.append(loop.call_later(TICK_S, tick))
    try:
        yield
    finally:
        handles[0].cancel()
