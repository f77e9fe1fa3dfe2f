"""The SQLite journal under real processes: killed, racing, without room, without rights."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import Text
from norma.domain.model.facts import Steered
from norma.ports.journal import JournalRecord

WRITER = Path(__file__).with_name("writer.py")


@contextmanager
def writer(verb: str, path: Path, first: str, second: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, str(WRITER), verb, str(path), first, second]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        with process:
            yield process
    finally:
        process.kill()


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


async def read(path: Path, session: str) -> JournalRecord:
    journal = SqliteJournal(str(path), clock=ManualClock())
    try:
        return await journal.read(session)
    finally:
        await journal.aclose()


@pytest.mark.parametrize("durability", ["process", "power"])
@pytest.mark.parametrize("lines", [1, 2, 9, 120])
async def test_S1_kill_9_loses_nothing_that_append_returned_for(
    tmp_path: Path, lines: int, durability: str
) -> None:
    path = tmp_path / "journal.db"
    with writer("for_ever", path, "s", durability) as process:
        for _ in range(lines):
            line(process)
        process.send_signal(signal.SIGKILL)
        assert process.stdout is not None
        said = [int(row) for row in process.stdout.read().split()]
    last = said[-1] if said else lines
    record = await read(path, "s")
    assert record.version in (last, last + 1)
    for number, entry in enumerate(record.entries):
        assert entry == (Steered((Text(f"{number}:" + "x" * (number * 37 % 9000)),)),)


async def test_S1_of_two_processes_one_wins_and_the_other_gets_a_conflict(tmp_path: Path) -> None:
    path, rounds = tmp_path / "journal.db", 25
    with writer("race", path, str(rounds), "a") as one, writer("race", path, str(rounds), "b") as other:
        for number in range(rounds):
            assert (line(one), line(other)) == ("ready", "ready")
            go(one)
            go(other)
            results = {"a": line(one), "b": line(other)}
            assert sorted(results.values()) == ["conflict", "won"]
            (winner,) = (name for name, result in results.items() if result == "won")
            assert (await read(path, f"s{number}")).entries == ((Steered((Text(winner),)),),)


async def test_S1_two_processes_may_share_a_session_and_lose_nothing(tmp_path: Path) -> None:
    path, each = tmp_path / "journal.db", 150
    with writer("share", path, str(each), "a") as one, writer("share", path, str(each), "b") as other:
        assert [process.wait(30) for process in (one, other)] == [0, 0]
    record = await read(path, "shared")
    written = [fact.blocks[0].text for (fact,) in record.entries]  # type: ignore[union-attr]  # each is a text
    for name in ("a", "b"):
        assert [text for text in written if text.startswith(name)] == [f"{name}:{at}" for at in range(each)]
    assert record.version == 2 * each


@pytest.mark.parametrize("size", ["2000", "400000"])
async def test_S2_a_full_disk_fails_the_append_and_nothing_else(tmp_path: Path, size: str) -> None:
    """The second size is written in the thread. Once there is room again the same journal goes on."""
    path = tmp_path / "journal.db"
    with writer("fill", path, "1500000", size) as process:
        version, kind, message = line(process).split(maxsplit=2)
        assert kind == "journal"
        assert str(path) in message
        assert "full" in message
        after = line(process).split()
        assert process.wait(30) == 0
    assert after == [str(int(version) + 1)] * 2
    record = await read(path, "s")
    assert record.version == int(version) + 1
    assert record.entries[-1] == (Steered((Text("after"),)),)


async def test_S2_a_read_only_journal_says_so(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = SqliteJournal(str(path), clock=ManualClock())
    await journal.append("s", 0, [Steered((Text("x"),))])
    await journal.aclose()
    with open_to_all(tmp_path, path), writer("read_only", path, "s", "-") as process:
        appended, readable = line(process), line(process)
    assert appended.startswith("failed")
    assert "read-only" in appended or "can't be opened" in appended
    assert readable.startswith(("fine", "failed"))
    assert (await read(path, "s")).version == 1


@contextmanager
def open_to_all(folder: Path, path: Path) -> Iterator[None]:
    """Let another user read *path*, and nobody but root write it: each folder above can be entered."""
    above = [one for one in folder.parents if one.is_relative_to("/tmp") and one != Path("/tmp")]
    modes = {one: one.stat().st_mode for one in (folder, *above)}
    for one in modes:
        os.chmod(one, 0o555)
    os.chmod(path, 0o444)
    try:
        yield
    finally:
        for one, mode in modes.items():
            os.chmod(one, mode)
