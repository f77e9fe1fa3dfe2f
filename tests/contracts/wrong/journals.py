"""Journals that break one promise each."""

import asyncio
from collections.abc import Sequence

from attrs import evolve

from norma.adapters.memory.journal import MemoryJournal
from norma.domain.model.blocks import Block, ToolCall
from norma.domain.model.facts import CallOffered, Fact
from norma.ports.errors import JournalConflict
from norma.ports.journal import JournalRecord, SessionInfo


class LosesAnEntry(MemoryJournal):
    async def read(self, session: str) -> JournalRecord:
        record = await super().read(session)
        entries = record.entries[:-1] if record.version > 2 else record.entries
        return JournalRecord(len(entries), entries)


class IgnoresTheExpectedVersion(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        return await super().append(session, len(self.entries(session)), facts)


class AcceptsAGap(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        return await super().append(session, min(expected, len(self.entries(session))), facts)


class WritesInSpiteOfAConflict(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        try:
            return await super().append(session, expected, facts)
        except JournalConflict:
            await super().append(session, len(self.entries(session)), facts)
            raise


class AbandonsACancelledAppend(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        for _ in range(10):
            await asyncio.sleep(0)
        return await super().append(session, expected, facts)


class RoundsBigNumbers(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        return await super().append(session, expected, [_rounded(fact) for fact in facts])


class TakesAnyName(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        return await super().append(session.strip("./\0\n ") or "x", expected, facts)


class KeepsTheCallersList(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        version = await super().append(session, expected, facts)
        self._store.entries[session][-1] = facts  # type: ignore[call-overload]  # that is what is wrong with it
        return version

    async def read(self, session: str) -> JournalRecord:
        record = await super().read(session)
        return evolve(record, entries=tuple(map(tuple, record.entries)))


class ListsInOrderOfNames(MemoryJournal):
    async def sessions(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        return tuple(sorted(await super().sessions(workspace), key=lambda info: info.id))


class ListsEveryWorkspace(MemoryJournal):
    async def sessions(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        return await super().sessions()


class ForksTheWhole(MemoryJournal):
    async def fork(self, session: str, at: int, new: str) -> None:
        await super().fork(session, max(at, len(self.entries(session))), new)


class ForksOverASession(MemoryJournal):
    async def fork(self, session: str, at: int, new: str) -> None:
        self._store.entries.pop(new, None)
        await super().fork(session, at, new)


class ServesWhenClosed(MemoryJournal):
    async def aclose(self) -> None:
        """Forgotten."""


class LeaksATask(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        self.flush = asyncio.create_task(asyncio.sleep(3600))
        return await super().append(session, expected, facts)


class FailsUnseen(MemoryJournal):
    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)
        return await super().append(session, expected, facts)


def _rounded(fact: Fact) -> Fact:
    if not isinstance(fact, CallOffered):
        return fact
    blocks: list[Block] = []
    for block in fact.blocks:
        if isinstance(block, ToolCall):
            rounded = {key: float(item) if key == "big" else item for key, item in block.arguments.items()}
            blocks.append(evolve(block, arguments={**rounded, "big": rounded.get("big", 0.0) * (1 + 1e-9)}))
        else:
            blocks.append(block)
    return evolve(fact, blocks=tuple(blocks))


WRONG = (
    (LosesAnEntry, "what_was_appended_is_read"),
    (IgnoresTheExpectedVersion, "s1_wrong_version_is_a_conflict"),
    (AcceptsAGap, "s1_wrong_version_is_a_conflict"),
    (WritesInSpiteOfAConflict, "s1_wrong_version_is_a_conflict"),
    (AbandonsACancelledAppend, "s1_an_append_is_not_abandoned"),
    (RoundsBigNumbers, "what_was_appended_is_read"),
    (TakesAnyName, "s3_session_names"),
    (KeepsTheCallersList, "an_entry_is_the_journals_own"),
    (ListsInOrderOfNames, "list_of_sessions"),
    (ListsEveryWorkspace, "list_of_sessions"),
    (ForksTheWhole, "fork"),
    (ForksOverASession, "fork"),
    (ServesWhenClosed, "closed"),
    (LeaksATask, "many_at_once"),
    (FailsUnseen, "many_at_once"),
)
