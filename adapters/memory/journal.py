"""A journal in memory, which can be told to fail, and to stop as a killed process does."""

from collections import deque
from collections.abc import Sequence

from norma.adapters.journal.faults import conflict, exists_already, journal_failed, unknown_session
from norma.adapters.journal.listing import listed, listed_whole
from norma.adapters.journal.names import checked_session
from norma.adapters.memory.clock import ManualClock
from norma.domain.model.facts import Fact
from norma.ports.clock import Clock
from norma.ports.errors import JournalConflict, JournalFailed
from norma.ports.journal import Journal, JournalRecord, SessionInfo

_WHERE = "in memory"


class _Store:
    """What a disk would hold. The session last written to stands last in *lines*."""

    def __init__(self) -> None:
        self.entries: dict[str, list[tuple[Fact, ...]]] = {}
        self.lines: dict[str, SessionInfo] = {}

    def save(self, session: str, entries: list[tuple[Fact, ...]], line: SessionInfo) -> None:
        self.entries[session] = entries
        self.lines.pop(session, None)
        self.lines[session] = line


class MemoryJournal(Journal):
    """
    Keeps the fact objects themselves. Without *clock*, it is always the same moment.

    `appends` counts the entries that were added through this object.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock: Clock = ManualClock() if clock is None else clock
        self._store = _Store()
        self._failures: deque[JournalFailed | JournalConflict] = deque()
        self._frozen = False
        self._closed = False
        self.appends = 0

    def entries(self, session: str) -> tuple[tuple[Fact, ...], ...]:
        """What is stored of *session*, also when the journal is closed or frozen."""
        return tuple(self._store.entries.get(session, ()))

    def fail_next(self, error: JournalFailed | JournalConflict, times: int = 1) -> None:
        """Let the next append (the next *times* ones) raise *error* and write nothing."""
        self._failures.extend([error] * times)

    def freeze(self) -> None:
        """From now on every call fails and writes nothing, as if the process had been killed."""
        self._frozen = True

    def copy(self) -> "MemoryJournal":
        """A journal with what is stored now, as a new process would find it; the two share nothing."""
        twin = self.another()
        twin._store = _Store()
        twin._store.entries = {session: list(entries) for session, entries in self._store.entries.items()}
        twin._store.lines = dict(self._store.lines)
        return twin

    def another(self) -> "MemoryJournal":
        """A second journal over the same storage, as another process would open it."""
        twin = MemoryJournal(self._clock)
        twin._store = self._store
        return twin

    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        """See `Journal.append`; never waits."""
        self._check(session)
        if expected < 0 or not facts:
            raise ValueError("an entry has one fact or more, and the expected version is 0 or more")
        if self._failures:
            raise self._failures.popleft()
        entries = self._store.entries.get(session, [])
        if len(entries) != expected:
            raise conflict(session, expected, len(entries))
        line = listed(self._store.lines.get(session), session, facts, self._clock.now())
        entries.append(tuple(facts))
        self._store.save(session, entries, line)
        self.appends += 1
        return expected + 1

    async def read(self, session: str) -> JournalRecord:
        """See `Journal.read`."""
        self._check(session)
        entries = self.entries(session)
        return JournalRecord(len(entries), entries)

    async def sessions(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        """See `Journal.sessions`."""
        self._check()
        lines = reversed(self._store.lines.values())
        return tuple(line for line in lines if workspace is None or line.workspace == workspace)

    async def fork(self, session: str, at: int, new: str) -> None:
        """See `Journal.fork`."""
        self._check(session, new)
        if at < 1:
            raise ValueError("a fork has one entry or more")
        entries = self.entries(session)
        if len(entries) < at:
            raise unknown_session(session, at, len(entries))
        if new in self._store.entries:
            raise exists_already(new)
        self._store.save(new, list(entries[:at]), listed_whole(new, entries[:at], self._clock.now()))

    async def aclose(self) -> None:
        """See `Journal.aclose`."""
        self._closed = True

    def _check(self, *sessions: str) -> None:
        for session in sessions:
            checked_session(session)
        if self._closed:
            raise journal_failed(_WHERE, "use it", "it was closed; open a new one")
        if self._frozen:
            raise journal_failed(_WHERE, "use it", "it was frozen")
