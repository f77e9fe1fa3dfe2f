"""
The journal port: where sessions live.

A session is its facts, in order, grouped by the step that made them. Above: the engine, which
appends before it acts. Below: SQLite, memory, later more.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from norma.domain.model.facts import Fact
from norma.domain.model.values import frozen

FORMAT = 1
"""The version of the stored form. An older one loads for ever; a newer one is refused by name."""


@frozen
class JournalRecord:
    """All of a session. *version* is the number of entries; each entry holds the facts of one step."""

    version: int
    entries: tuple[tuple[Fact, ...], ...]


@frozen
class SessionInfo:
    """
    A session in a list.

    *created* and *updated* are ISO 8601 in UTC. *turns* counts its prompts. *outcome* is the last
    turn's, None while one is open. *title* is the beginning of its first prompt.
    """

    id: str
    created: str
    updated: str
    workspace: str | None
    turns: int
    outcome: str | None
    title: str


class Journal(Protocol):
    """
    Append-only storage of sessions; one object serves all sessions of a process.

    Session ids match `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`; anything else is a ValueError (rule S3).
    """

    @abstractmethod
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        """
        Add *facts* (one or more) as one entry and return the new version.

        Atomic: all or nothing, also when the process dies. With *expected* 0 the session is
        created. Bounded: it returns or fails within 10 s. Not cancellable: a cancelled caller
        still waits for its end. `CancelledError` is then raised only if the entry was written; if
        it could not be, the error below wins.

        Raises:
            JournalConflict: *expected* is not the session's version; nothing was written.
            JournalFailed: it could not be written; nothing was written.
        """

    @abstractmethod
    async def read(self, session: str) -> JournalRecord:
        """
        All of *session*. One that does not exist has version 0 and no entries.

        Raises:
            JournalFailed: an entry can't be read (which one, and why), or it is of a newer format.
        """

    @abstractmethod
    async def sessions(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        """
        The sessions of *workspace* (None: of all), the one last written to first.

        Raises JournalFailed.
        """

    @abstractmethod
    async def fork(self, session: str, at: int, new: str) -> None:
        """
        Make session *new* of the first *at* entries of *session*.

        Raises:
            UnknownSession: there is no such session, or it has fewer than *at* entries.
            JournalConflict: *new* exists.
            JournalFailed: it could not be written; nothing was written.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """Give the storage back. Later calls raise JournalFailed."""
