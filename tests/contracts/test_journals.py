"""The journals keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.journal import MemoryJournal
from norma.ports.contracts import journal
from norma.ports.contracts.journal import JournalRig
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import journal_rig


@asynccontextmanager
async def sqlite(folder: str) -> AsyncIterator[JournalRig]:
    clock, path = ManualClock(), f"{folder}/new/journal.db"
    made = SqliteJournal(path, clock=clock)
    yield JournalRig(made, lambda: SqliteJournal(path, clock=clock))
    await made.aclose()


@asynccontextmanager
async def sqlite_power(folder: str) -> AsyncIterator[JournalRig]:
    clock, path = ManualClock(), f"{folder}/journal.db"
    made = SqliteJournal(path, clock=clock, durability="power")
    yield JournalRig(made, lambda: SqliteJournal(path, clock=clock, durability="power"))
    await made.aclose()


test_journal = contract(journal.CHECKS, journal_rig(MemoryJournal), sqlite, sqlite_power)
