"""
The database file: making it, opening it, and refusing one that is not ours.

Everything here blocks and runs in the journal's thread.
"""

import contextlib
import os
import sqlite3
import time
from typing import Literal, TypeAlias

from norma.adapters.journal.faults import journal_failed
from norma.adapters.journal.sqlite_errors import from_os, from_sqlite, is_busy

Durability: TypeAlias = Literal["process", "power"]

APPLICATION = 0x4E6F726D
"""What marks a SQLite file as a journal of ours ("Norm")."""

LAYOUT = 1
"""The layout of the tables. An older one is opened for ever; a newer one is refused."""

_TABLES = (
    """
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        version INTEGER NOT NULL,
        format INTEGER NOT NULL,
        facts TEXT NOT NULL,
        UNIQUE (session, version)
    )
    """,
    # last_entry is the id of the session's newest entry: an order in time that no clock can disturb.
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        last_entry INTEGER NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        workspace TEXT,
        turns INTEGER NOT NULL,
        outcome TEXT,
        title TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)


def open_database(path: str, durability: Durability, deadline: float) -> sqlite3.Connection:
    """
    A connection to the journal at *path*, made if it does not exist (file 0600, new folders 0700).

    It may be used from any thread, by one at a time. It is in autocommit mode and never waits for a
    lock by itself. *deadline* (of `time.monotonic`) bounds the wait for other processes.

    Raises JournalFailed: not a file, no database, another program's, a newer layout, no access.
    """
    try:
        _make_file(path)
    except OSError as error:
        raise from_os(path, "open it", error) from error
    try:
        connection = sqlite3.connect(os.path.abspath(path), isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise from_sqlite(path, "open it", error) from error
    try:
        _prepare(connection, path, durability, deadline)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise from_sqlite(path, "open it", error) from error
        raise
    return connection


def wait_for_locks(connection: sqlite3.Connection, deadline: float) -> None:
    """Let the next statements wait for other writers until *deadline*; if that is past, not at all."""
    wait_ms = max(0, int((deadline - time.monotonic()) * 1000))
    connection.execute(f"PRAGMA busy_timeout={wait_ms}")


def _make_file(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    missing = []
    while not os.path.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for name in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process made it meanwhile
            os.mkdir(name, 0o700)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except PermissionError:
        # A journal that may only be read is still read; an append to it says so itself.
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))


def _prepare(connection: sqlite3.Connection, path: str, durability: Durability, deadline: float) -> None:
    wait_for_locks(connection, deadline)
    if _is_fresh(connection, path):
        _use_wal(connection, deadline)
        _make_tables(connection)
    connection.execute(f"PRAGMA synchronous={'FULL' if durability == 'power' else 'NORMAL'}")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("PRAGMA busy_timeout=0")


def _is_fresh(connection: sqlite3.Connection, path: str) -> bool:
    # One read transaction, so that a process that makes the tables meanwhile is seen wholly or not at all.
    connection.execute("BEGIN")
    application, layout = _number(connection, "application_id"), _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if application == 0 and layout == 0 and not tables:
        return True
    if application != APPLICATION:
        other = "it is a SQLite database of another program; set journal.path to another file"
        raise journal_failed(path, "use it", other)
    if layout > LAYOUT:
        newer = f"a newer Norma wrote it (layout {layout}, this one knows up to {LAYOUT})"
        raise journal_failed(path, "use it", f"{newer}; use the newer Norma, or set journal.path")
    return False


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    application = _number(connection, "application_id")
    if application == 0:  # else another process was first, and everything is made
        for table in _TABLES:
            connection.execute(table)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={LAYOUT}")
    connection.execute("COMMIT")


def _use_wal(connection: sqlite3.Connection, deadline: float) -> None:
    # SQLite does not wait by itself when two processes switch the same new file at once.
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.005)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
