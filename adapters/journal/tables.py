"""
The tables of a journal: its statements, each method one transaction.

Everything here blocks. One thread at a time may use an object, and it may be any thread.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from attrs import astuple

from norma.adapters.journal.database import Durability, open_database, wait_for_locks
from norma.adapters.journal.faults import conflict, exists_already, journal_failed, unknown_session
from norma.adapters.journal.listing import listed, listed_whole
from norma.adapters.journal.sqlite_errors import from_sqlite
from norma.adapters.journal.stored import Unstorable, read_entry
from norma.domain.model.facts import Fact
from norma.ports.errors import JournalFailed
from norma.ports.journal import FORMAT, JournalRecord, SessionInfo

_INSERT_ENTRY = "INSERT INTO entries (session, version, format, facts) VALUES (?, ?, ?, ?)"
_INFO = "id, created, updated, workspace, turns, outcome, title"
_SAVE_SESSION = f"INSERT OR REPLACE INTO sessions (version, last_entry, {_INFO}) VALUES (?,?,?,?,?,?,?,?,?)"

_Row: TypeAlias = tuple[int, int, str]
"""Version, format, facts."""


class Tables:
    """An open journal file. Failures are JournalFailed, `Locked` if another process was in the way."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self.usable = True
        """False when a failed transaction could not be undone here; closing the connection undid it."""

    @classmethod
    def open(cls, path: str, durability: Durability, deadline: float) -> "Tables":
        """The journal at *path*; see `open_database`."""
        return cls(path, open_database(path, durability, deadline))

    @contextmanager
    def waiting(self, deadline: float) -> Iterator[None]:
        """In the block, wait for locks of other processes until *deadline* (of `time.monotonic`)."""
        wait_for_locks(self._connection, deadline)
        try:
            yield
        finally:
            if self.usable:
                wait_for_locks(self._connection, 0.0)

    def append(self, session: str, expected: int, facts: Sequence[Fact], text: str, now: str) -> int:
        """Add the entry *text*, the stored form of *facts*, and return the new version."""
        with self._writing("append to it"):
            version, info = self._session(session)
            if version != expected:
                raise conflict(session, expected, version)
            added = self._connection.execute(_INSERT_ENTRY, (session, expected + 1, FORMAT, text))
            self._save(expected + 1, added.lastrowid, listed(info, session, facts, now))
        return expected + 1

    def read(self, session: str) -> JournalRecord:
        """All of *session*."""
        with self._reading("read it"):
            version, _ = self._session(session)
            rows = self._rows(session, version)
        return JournalRecord(version, self._entries(session, version, rows))

    def sessions(self, workspace: str | None) -> tuple[SessionInfo, ...]:
        """The list, the session last written to first."""
        with self._reading("list its sessions"):
            rows = self._connection.execute(
                f"SELECT {_INFO} FROM sessions WHERE :of IS NULL OR workspace = :of ORDER BY last_entry DESC",
                {"of": workspace},
            ).fetchall()
        return tuple(SessionInfo(*row) for row in rows)

    def fork(self, session: str, at: int, new: str, now: str) -> None:
        """Make *new* of the first *at* entries of *session*."""
        with self._writing("fork a session in it"):
            version, _ = self._session(session)
            if version < at:
                raise unknown_session(session, at, version)
            if self._session(new)[0]:
                raise exists_already(new)
            rows = self._rows(session, at)
            info = listed_whole(new, self._entries(session, at, rows), now)
            last = None
            for number, form, text in rows:
                last = self._connection.execute(_INSERT_ENTRY, (new, number, form, text)).lastrowid
            self._save(at, last, info)

    def checkpoint(self) -> None:
        """Move what was committed from the log into the file, as far as readers allow; blocks nobody."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            raise from_sqlite(self._path, "move its log into the file", error) from error

    def close(self) -> None:
        """Give the file back; the last process to do so leaves no log behind."""
        try:
            self._connection.close()
        except sqlite3.Error as error:
            raise from_sqlite(self._path, "close it", error) from error

    def _session(self, session: str) -> tuple[int, SessionInfo | None]:
        row = self._connection.execute(
            f"SELECT version, {_INFO} FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        return (0, None) if row is None else (row[0], SessionInfo(*row[1:]))

    def _save(self, version: int, last_entry: int | None, info: SessionInfo) -> None:
        self._connection.execute(_SAVE_SESSION, (version, last_entry, *astuple(info)))

    def _rows(self, session: str, upto: int) -> list[_Row]:
        return self._connection.execute(
            "SELECT version, format, facts FROM entries WHERE session = ? AND version <= ? ORDER BY version",
            (session, upto),
        ).fetchall()

    def _entries(self, session: str, version: int, rows: list[_Row]) -> tuple[tuple[Fact, ...], ...]:
        present = [row[0] for row in rows]
        if present != list(range(1, version + 1)):
            lost = min(set(range(1, version + 1)) - set(present))
            raise self._damaged(session, lost, "it is missing")
        return tuple(self._entry(session, *row) for row in rows)

    def _entry(self, session: str, version: int, form: int, text: str) -> tuple[Fact, ...]:
        if form > FORMAT:
            newer = (
                f"entry {version} was written by a newer Norma (format {form}, this one knows up to {FORMAT})"
            )
            raise journal_failed(self._path, f"read session {session}", f"{newer}; use the newer Norma")
        try:
            return read_entry(text)
        except Unstorable as error:
            raise self._damaged(session, version, str(error)) from error

    def _damaged(self, session: str, version: int, why: str) -> JournalFailed:
        whole = f"its first {version - 1} can be forked to a new session" if version > 1 else "none before it"
        return journal_failed(
            self._path, f"read session {session}", f"entry {version} is damaged: {why} ({whole})"
        )

    @contextmanager
    def _writing(self, doing: str) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error, sqlite3.Error):
                raise from_sqlite(self._path, doing, error) from error
            raise

    @contextmanager
    def _reading(self, doing: str) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error, sqlite3.Error):
                raise from_sqlite(self._path, doing, error) from error
            raise

    def _undo(self) -> None:
        if not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # What failed is already on its way to the caller. Closing the connection undoes it for certain.
            self.usable = False
            self._connection.close()
