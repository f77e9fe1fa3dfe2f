"""
A process that writes to a journal, for tests: `python writer.py VERB PATH …`.

It says on stdout what it has done, a line each, as soon as it is done.
"""

import asyncio
import importlib
import os
import resource
import signal
import sys

from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Fact, Steered
from norma.ports.errors import JournalConflict, JournalFailed


def said(text: str) -> list[Fact]:
    return [Steered((Text(text),))]


async def for_ever(journal: SqliteJournal, session: str, durability: str) -> None:
    """Append until killed; say each version that append has returned."""
    version = 0
    while True:
        version = await journal.append(session, version, said(f"{version}:" + "x" * (version * 37 % 9000)))
        print(version, flush=True)


async def race(journal: SqliteJournal, rounds: str, name: str) -> None:
    """In each round, all writers append to a new session after the same version, at a word from outside."""
    for number in range(int(rounds)):
        await journal.read("warm")
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            await journal.append(f"s{number}", 0, said(name))
            print("won", flush=True)
        except JournalConflict:
            print("conflict", flush=True)


async def share(journal: SqliteJournal, entries: str, name: str) -> None:
    """Append that many entries to a session that others write to as well, reading again after a conflict."""
    done = 0
    version = (await journal.read("shared")).version
    while done < int(entries):
        try:
            version = await journal.append("shared", version, said(f"{name}:{done}"))
            done += 1
        except JournalConflict:
            version = (await journal.read("shared")).version


async def fill(journal: SqliteJournal, limit: str, size: str) -> None:
    """Append until no file may grow past *limit* bytes, then raise the limit and go on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    version = await journal.append("s", 0, said("first"))
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), old[1]))
    failures: list[JournalFailed] = []
    while len(failures) < 3:
        try:
            version = await journal.append("s", version, said("x" * int(size)))
        except JournalFailed as error:
            failures.append(error)
    print(version, failures[0].failure.kind, failures[0], flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, old)
    version = await journal.append("s", version, said("after"))
    print(version, (await journal.read("s")).version, flush=True)


async def read_only(journal: SqliteJournal, session: str, _: str) -> None:
    """Append, and then read, as a user who may not write."""
    importlib.import_module("norma.adapters.journal.tables")  # the interpreter may be closed to others
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    calls = (lambda: journal.append(session, 1, said("x")), lambda: journal.read(session))
    for call in calls:
        try:
            print("fine", await call(), flush=True)
        except JournalFailed as error:
            print("failed", error, flush=True)


VERBS = {verb.__name__: verb for verb in (for_ever, race, share, fill, read_only)}


async def main(verb: str, path: str, first: str, second: str) -> None:
    journal = SqliteJournal(path, clock=ManualClock(), durability="power" if second == "power" else "process")
    await VERBS[verb](journal, first, second)
    await journal.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
