"""What SQLite and the operating system say, as errors of the journal port."""

import sqlite3

from norma.adapters.journal.faults import journal_failed
from norma.ports.errors import JournalFailed

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk, or the quota of this user, is full; make room and go on",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; make both writable, or set journal.path",
    sqlite3.SQLITE_CANTOPEN: "the file can't be opened; make sure that its folder exists and is writable",
    sqlite3.SQLITE_PERM: "access is denied; see who owns the file and its folder",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; move it away, or set journal.path to another file",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; keep a copy of it, restore it, or set journal.path",
    sqlite3.SQLITE_IOERR: "the disk refuses to read or write (full, over a size limit, or failing)",
    sqlite3.SQLITE_TOOBIG: "one entry is larger than the database can hold",
}


class Locked(JournalFailed):
    """Another process is writing, and the wait for it is over. Nothing was written."""


def from_sqlite(path: str, doing: str, error: sqlite3.Error) -> JournalFailed:
    """The error for *error*, which SQLite raised while *doing*; the caller raises it from *error*."""
    if is_busy(error):
        remedy = "another process has kept it locked for too long; see who holds it open"
        return Locked(journal_failed(path, doing, f"{remedy} (SQLite: {error})").failure)
    remedy = _REMEDIES.get(_code(error), "SQLite refuses it")
    return journal_failed(path, doing, f"{remedy} (SQLite: {error})")


def from_os(path: str, doing: str, error: OSError) -> JournalFailed:
    """The error for *error*, which the operating system raised; the caller raises it from *error*."""
    place = f" ({error.filename})" if error.filename not in (None, path) else ""
    return journal_failed(path, doing, f"{error.strerror or error}{place}; mend it, or set journal.path")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock that was needed."""
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    # The extended code says more than a remedy needs. Errors of the Python module itself have none.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
