"""What the SQLite journal does beside the promises of its port."""

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.journal import sqlite
from norma.adapters.journal.database import open_database
from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.memory.clock import ManualClock
from norma.domain.model import to_json
from norma.domain.model.blocks import Text, ToolCall
from norma.domain.model.facts import (
    CallOffered,
    Fact,
    Interrupted,
    ReplyCut,
    SessionOpened,
    Steered,
    TurnEnded,
)
from norma.domain.model.failures import Failure
from norma.ports.errors import JournalConflict, JournalFailed

MISSING = object()
OPENED = SessionOpened("2026-01-01T00:00:00.000Z", "/project")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "journal"


def said(text: str) -> list[Fact]:
    return [Steered((Text(text),))]


@pytest.fixture
async def path(tmp_path: Path) -> str:
    return str(tmp_path / "journal.db")


@pytest.fixture
async def journal(path: str) -> AsyncIterator[SqliteJournal]:
    made = SqliteJournal(path, clock=ManualClock())
    yield made
    await made.aclose()


def exists(path: str) -> bool:
    return os.path.exists(path)


def size(path: str) -> int:
    return os.path.getsize(path)


def data_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def overwrite(path: str, at: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


@contextmanager
def behind(path: str) -> Iterator[sqlite3.Connection]:
    """The file as somebody else sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


async def test_nothing_is_made_before_it_is_used(journal: SqliteJournal, path: str) -> None:
    assert not exists(path)
    await journal.read("s")
    assert exists(path)


def test_sqlite_is_imported_when_it_is_used() -> None:
    probe = "import sys, norma.adapters.journal.sqlite; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


async def test_S3_files_and_folders_are_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "journal.db"
    old = os.umask(0)
    try:
        journal = SqliteJournal(str(path), clock=ManualClock())
        await journal.append("s", 0, [OPENED])
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "new").rglob("*")}
        assert modes.pop("deeper") == 0o700
        assert set(modes) == {"journal.db", "journal.db-wal", "journal.db-shm"}
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
        await journal.aclose()
    finally:
        os.umask(old)


async def test_S1_an_append_waits_for_nobody_on_the_loops_thread(journal: SqliteJournal, path: str) -> None:
    """While another process writes, the loop goes on; when it has written, so does the append."""
    await journal.append("s", 0, [OPENED])
    await journal.append("s", 1, said("begun"))
    with behind(path) as other:
        other.execute("BEGIN IMMEDIATE")
        append = asyncio.create_task(journal.append("s", 2, said("late")))
        later = asyncio.create_task(journal.append("t", 0, [OPENED]))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not append.done()
        other.execute("COMMIT")
    assert await asyncio.wait_for(append, 10) == 3
    assert await asyncio.wait_for(later, 10) == 1


async def test_S1_the_wait_for_others_is_bounded(
    journal: SqliteJournal, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.append("s", 0, [OPENED])
    monkeypatch.setattr(sqlite, "BOUND_S", 0.1)
    with behind(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalFailed, match=r"journal\.db: can't append to it: another process"):
            await asyncio.wait_for(journal.append("s", 1, said("x")), 10)
    assert await journal.append("s", 1, said("x")) == 2


async def test_S1_a_cancelled_append_that_waits_is_written_before_the_cancel_passes(
    journal: SqliteJournal, path: str
) -> None:
    await journal.append("s", 0, [OPENED])
    with behind(path) as other:
        other.execute("BEGIN IMMEDIATE")
        append = asyncio.create_task(journal.append("s", 1, said("x")))
        for _ in range(3):
            await asyncio.sleep(0)
            append.cancel()
        await asyncio.sleep(0)
        assert not append.done()
        other.execute("COMMIT")
    await asyncio.wait([append], timeout=10)
    assert append.cancelled()
    assert (await journal.read("s")).version == 2


async def test_S1_a_cancelled_append_that_fails_says_so(journal: SqliteJournal, path: str) -> None:
    await journal.append("s", 0, [OPENED])
    with behind(path) as other:
        other.execute("BEGIN IMMEDIATE")
        append = asyncio.create_task(journal.append("s", 7, said("x")))
        await asyncio.sleep(0)
        append.cancel()
        await asyncio.sleep(0)
        other.execute("COMMIT")
    with pytest.raises(JournalConflict, match="version 7 expected, found 1"):
        await asyncio.wait_for(append, 10)


async def test_S1_the_log_is_moved_into_the_file_now_and_then(
    journal: SqliteJournal, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "CHECKPOINT_AFTER", 200_000)
    for version in range(300):
        await journal.append("s", version, said("x" * 1000))
    assert size(path + "-wal") < 2_000_000
    assert (await journal.read("s")).version == 300
    await journal.aclose()
    assert not exists(path + "-wal")


async def test_closing_waits_for_what_was_begun(journal: SqliteJournal, path: str) -> None:
    append = asyncio.create_task(journal.append("s", 0, [OPENED]))
    await asyncio.sleep(0)
    await journal.aclose()
    assert await append == 1


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_S1_power_means_that_each_commit_reaches_the_disk(path: str, durability: str, level: int) -> None:
    with closing(open_database(path, durability, 0.0)) as connection:  # type: ignore[arg-type]
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)


async def test_S1_large_entries_are_whole(journal: SqliteJournal) -> None:
    await journal.append("s", 0, [OPENED])
    await journal.append("s", 1, said("x" * 3_000_000))
    assert (await journal.read("s")).entries[1] == tuple(said("x" * 3_000_000))


async def test_S3_the_error_of_a_port_stays_in_its_process(journal: SqliteJournal, path: str) -> None:
    """Its words may hold what nobody has looked at; the failure, which has been, is what is stored."""
    error = RuntimeError("401 for key sk-secret")
    ended = TurnEnded(
        "model_failed", "s", error=Failure("authentication", "the key is wrong"), exception=error
    )
    cut = ReplyCut((), Failure("authentication", "the key is wrong"), exception=error)
    await journal.append("s", 0, [OPENED, cut, ended])
    await journal.aclose()
    assert b"sk-secret" not in data_of(path)
    assert b"the key is wrong" in data_of(path)


async def test_a_path_is_a_file_whatever_it_looks_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory"):
        for version in range(2):
            journal = SqliteJournal(name, clock=ManualClock())
            assert await journal.append("s", version, [OPENED]) == version + 1
            await journal.aclose()
        assert size(name) > 0


async def test_S2_facts_that_cant_be_stored_are_refused_whole(journal: SqliteJournal) -> None:
    bad = CallOffered((ToolCall("c", "T", {"x": object()}),))
    with pytest.raises(JournalFailed, match="can't append to session s: TypeError: object has no JSON form"):
        await journal.append("s", 0, [OPENED, bad])
    assert (await journal.read("s")).version == 0


async def test_S2_a_torn_entry_is_named_and_the_ones_before_it_can_be_saved(
    journal: SqliteJournal, path: str
) -> None:
    for version in range(3):
        await journal.append("s", version, said(str(version)))
    with behind(path) as other:
        other.execute("UPDATE entries SET facts = substr(facts, 1, 20) WHERE version = 3")
    with pytest.raises(JournalFailed, match=r"session s: entry 3 is damaged: .*first 2 can be forked"):
        await journal.read("s")
    await journal.fork("s", 2, "saved")
    assert (await journal.read("saved")).version == 2


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_S2_a_missing_entry_is_named(journal: SqliteJournal, path: str, lost: int) -> None:
    for version in range(3):
        await journal.append("s", version, said(str(version)))
    with behind(path) as other:
        other.execute("DELETE FROM entries WHERE version = ?", (lost,))
    with pytest.raises(JournalFailed, match=f"entry {lost} is damaged: it is missing"):
        await journal.read("s")


async def test_S2_an_entry_of_a_newer_format_is_named(journal: SqliteJournal, path: str) -> None:
    await journal.append("s", 0, [OPENED])
    with behind(path) as other:
        other.execute("UPDATE entries SET format = 2")
    with pytest.raises(JournalFailed, match=r"entry 1 .*\(format 2, this one knows up to 1\); use the newer"):
        await journal.read("s")


async def test_S2_a_newer_layout_is_refused_and_left_alone(journal: SqliteJournal, path: str) -> None:
    await journal.append("s", 0, [OPENED])
    await journal.aclose()
    with behind(path) as other:
        other.execute("PRAGMA user_version = 2")
    for call in ("read", "append"):
        newer = SqliteJournal(path, clock=ManualClock())
        with pytest.raises(JournalFailed, match="a newer Norma wrote it"):
            await (newer.read("s") if call == "read" else newer.append("s", 1, [Interrupted()]))
        await newer.aclose()
    with behind(path) as other:
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def _other_program(path: Path) -> None:
    with behind(str(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda path: path.write_text("just a text, long enough to be no header" * 20),
            "it is no SQLite database",
        ),
        (lambda path: path.mkdir(), "Is a directory"),
        (_other_program, "it is a SQLite database of another program"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
    ],
)
async def test_S2_what_is_no_journal_is_refused_and_left_alone(tmp_path: Path, make, why: str) -> None:
    path = tmp_path / "journal.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    journal = SqliteJournal(str(path), clock=ManualClock())
    for _ in range(2):
        with pytest.raises(JournalFailed, match=why) as caught:
            await journal.append("s", 0, [OPENED])
        assert str(path) in str(caught.value)
        assert caught.value.failure.kind == "journal"
    await journal.aclose()
    assert (path.read_bytes() if path.is_file() else None) == before


async def test_S2_a_file_as_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    journal = SqliteJournal(str(tmp_path / "file" / "journal.db"), clock=ManualClock())
    with pytest.raises(JournalFailed, match="Not a directory"):
        await journal.read("s")
    await journal.aclose()


async def test_S2_a_damaged_file_is_no_history(journal: SqliteJournal, path: str) -> None:
    for version in range(40):
        await journal.append("s", version, said("x" * 4000))
    await journal.aclose()
    overwrite(path, 4096, b"\xff" * 4096 * 3)
    damaged = SqliteJournal(path, clock=ManualClock())
    with pytest.raises(JournalFailed, match="the file is damaged"):
        await damaged.read("s")
    await damaged.aclose()


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.sql")), ids=lambda path: path.stem)
async def test_S2_old_journals_load_for_ever(fixture: Path, path: str) -> None:
    with behind(path) as other:
        other.executescript(text_of(fixture))
        stored = [json.loads(row[0]) for row in other.execute("SELECT facts FROM entries ORDER BY version")]
    journal = SqliteJournal(path, clock=ManualClock())
    record = await journal.read("old")
    assert record.version == len(stored) > 10
    for entry, old in zip(record.entries, stored, strict=True):
        lost = [(fact, data) for fact, data in zip(entry, old, strict=True) if not keeps(to_json(fact), data)]
        assert lost == []
    (info,) = await journal.sessions()
    assert (info.id, info.workspace, info.outcome) == ("old", "/project", "waiting")
    assert await journal.append("old", record.version, [Interrupted()]) == record.version + 1
    await journal.aclose()


def text_of(fixture: Path) -> str:
    return fixture.read_text(encoding="utf-8")


def keeps(new: Any, old: Any) -> bool:
    """Whether *new* says all that *old* said; it may say more, since fields are added with time."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and keeps(new[key], item) for key, item in old.items()
        )
    if isinstance(old, list):
        return isinstance(new, list) and len(new) == len(old) and all(map(keeps, new, old))
    return bool(new == old) and type(new) is type(old)
