"""The errors of every journal, in words for whoever has to mend it."""

from norma.domain.model.failures import Failure
from norma.ports.errors import JournalConflict, JournalFailed, UnknownSession


def journal_failed(path: str, doing: str, remedy: str) -> JournalFailed:
    """An error that names the file, what was tried, and what would help."""
    return JournalFailed(Failure("journal", f"journal {path}: can't {doing}: {remedy}"))


def conflict(session: str, expected: int, version: int) -> JournalConflict:
    """Another writer was first."""
    return JournalConflict(
        Failure(
            "conflict",
            f"session {session}: another writer was first (version {expected} expected, found {version}); "
            "read the session again and go on from there",
        )
    )


def exists_already(session: str) -> JournalConflict:
    """The name of a fork is taken."""
    return JournalConflict(Failure("conflict", f"session {session} exists already; fork to another id"))


def unknown_session(session: str, at: int, version: int) -> UnknownSession:
    """Nothing to fork from."""
    what = f"has only {version} entries, not {at}" if version else "does not exist"
    return UnknownSession(Failure("not_found", f"session {session} {what}"))
