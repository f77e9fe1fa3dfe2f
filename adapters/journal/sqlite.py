"""
The SQLite journal: the embedded default.

Above: the engine, which waits for each append before it acts. Below: one file that several
processes may share, in WAL mode. An append of the usual size is carried out on the loop's
thread, without any wait (some 50 µs, where a thread hop costs several times that). Whatever may
wait goes to the journal's one thread, in order: opening, reading, an append while another process
writes, one that has to reach the disk, and moving the log into the file.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal, TypeVar

from norma.adapters.journal.faults import journal_failed
from norma.adapters.journal.names import checked_session
from norma.adapters.journal.stored import Unstorable, write_entry
from norma.domain.model.facts import Fact
from norma.ports.clock import Clock
from norma.ports.errors import JournalFailed
from norma.ports.journal import Journal, JournalRecord, SessionInfo

if TYPE_CHECKING:
    from norma.adapters.journal.tables import Tables

T = TypeVar("T")

BOUND_S = 10.0
"""How long any call waits for other processes, in seconds; part of the port's promise."""

LARGE_ENTRY = 256 * 1024
"""Characters from which an entry is written in the thread."""

CHECKPOINT_AFTER = 4 * 1024 * 1024
"""Bytes that the log may grow, about, before it is moved into the file."""

_PAGES = 3 * 4096  # what an append writes to the log besides its text, about

_log = logging.getLogger("norma.journal")


class SqliteJournal(Journal):
    """
    Sessions in the SQLite file at *path*, made at the first use (file 0600, new folders 0700).

    With *durability* "process" what was appended survives the death of the process; a power cut
    may cost the last entries, never the history before them. With "power" each append is on the
    disk when it returns. One object belongs to one event loop, and its owner calls `aclose`.

    A cancelled call ends first: if it raises CancelledError, it has done its work; had it failed,
    it raises that failure instead.
    """

    def __init__(
        self, path: str, *, clock: Clock, durability: Literal["process", "power"] = "process"
    ) -> None:
        self._path = path
        self._clock = clock
        self._durability: Literal["process", "power"] = durability
        self._tables: Tables | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._queued = 0  # jobs that the thread has not ended; the tables are its own while there are any
        self._started = False  # whether the log has its header; writing that waits for the disk
        self._grown = 0
        self._closed = False

    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        """See `Journal.append`."""
        self._check(session)
        if expected < 0 or not facts:
            raise ValueError("an entry has one fact or more, and the expected version is 0 or more")
        text, now = self._text(session, facts), self._clock.now()
        version = self._append_now(session, expected, facts, text, now)
        if version is None:
            version = await self._queue(lambda tables: tables.append(session, expected, facts, text, now))
            self._started = True
        self._wrote(len(text))
        return version

    async def read(self, session: str) -> JournalRecord:
        """See `Journal.read`."""
        self._check(session)
        return await self._queue(lambda tables: tables.read(session))

    async def sessions(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        """See `Journal.sessions`."""
        self._check()
        return await self._queue(lambda tables: tables.sessions(workspace))

    async def fork(self, session: str, at: int, new: str) -> None:
        """See `Journal.fork`."""
        self._check(session, new)
        if at < 1:
            raise ValueError("a fork has one entry or more")
        now = self._clock.now()
        await self._queue(lambda tables: tables.fork(session, at, new, now))

    async def aclose(self) -> None:
        """See `Journal.aclose`. What was begun is awaited, and the thread is gone."""
        self._closed = True
        thread, self._thread = self._thread, None
        if thread is None:
            return
        try:
            await _ended(asyncio.get_running_loop().run_in_executor(thread, self._close))
        finally:
            thread.shutdown()

    def _check(self, *sessions: str) -> None:
        for session in sessions:
            checked_session(session)
        if self._closed:
            raise journal_failed(self._path, "use it", "it was closed; open a new one")

    def _text(self, session: str, facts: Sequence[Fact]) -> str:
        try:
            return write_entry(facts)
        except Unstorable as error:
            raise journal_failed(self._path, f"append to session {session}", str(error)) from error

    def _append_now(
        self, session: str, expected: int, facts: Sequence[Fact], text: str, now: str
    ) -> int | None:
        """The new version; None if the append would have to wait for the disk or for somebody."""
        if self._tables is None or self._queued or not self._started:
            return None
        if self._durability == "power" or len(text) > LARGE_ENTRY:
            return None
        from norma.adapters.journal.sqlite_errors import Locked

        tables = self._tables
        try:
            return tables.append(session, expected, facts, text, now)
        except Locked:
            return None
        finally:
            self._keep(tables)

    def _wrote(self, size: int) -> None:
        self._grown += size + _PAGES
        if self._grown >= CHECKPOINT_AFTER and not self._closed:
            self._grown, self._started = 0, False
            self._submit(lambda tables: tables.checkpoint()).add_done_callback(_report)

    async def _queue(self, job: Callable[["Tables"], T]) -> T:
        return await _ended(self._submit(job))

    def _submit(self, job: Callable[["Tables"], T]) -> "asyncio.Future[T]":
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "norma-journal")
        deadline = time.monotonic() + BOUND_S
        self._queued += 1
        future = asyncio.get_running_loop().run_in_executor(self._thread, self._work, job, deadline)
        future.add_done_callback(self._unqueue)
        return future

    def _unqueue(self, _: object) -> None:
        self._queued -= 1

    def _work(self, job: Callable[["Tables"], T], deadline: float) -> T:
        from norma.adapters.journal.tables import Tables

        if self._tables is None:
            self._tables = Tables.open(self._path, self._durability, deadline)
        tables = self._tables
        try:
            with tables.waiting(deadline):
                return job(tables)
        finally:
            self._keep(tables)

    def _keep(self, tables: "Tables") -> None:
        if not tables.usable:
            self._tables = None  # the next call opens the file anew

    def _close(self) -> None:
        tables, self._tables = self._tables, None
        if tables is not None:
            tables.close()


async def _ended(future: "asyncio.Future[T]") -> T:
    """The result of *future*, whose work can't be taken back; a cancel waits for it and then passes."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    result = future.result()
    if cancelled is None:
        return result
    try:
        raise cancelled
    finally:
        del cancelled  # else the error, its trace and this frame keep each other alive


def _report(checkpoint: "asyncio.Future[None]") -> None:
    # Nothing is lost: the entries are safe in the log, and the next checkpoint moves them too.
    error = checkpoint.exception()
    if isinstance(error, JournalFailed):
        _log.warning("%s; tried again later", error)
    elif error is not None:
        raise error
