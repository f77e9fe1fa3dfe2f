"""The helpers of the kits see what they are there to see."""

import asyncio
import codecs
import importlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from norma.domain.model.actions import Effects
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.effects import seen_effects
from norma.ports.contracts.pytest import broken_promise
from norma.ports.contracts.splits import same_for_every_split, splits


def test_splits_are_whole_and_come_at_every_byte() -> None:
    data = b"abcd"
    cuts = list(splits(data))
    assert all(b"".join(pieces) == data for pieces in cuts)
    assert {len(pieces[0]) for pieces in cuts} == {1, 2, 3, 4}
    assert (b"a", b"b", b"c", b"d") in cuts


def test_a_decoder_that_minds_the_cut_is_caught() -> None:
    def careless(pieces: Sequence[bytes]) -> str:
        return "".join(piece.decode(errors="replace") for piece in pieces)

    def careful(pieces: Sequence[bytes]) -> str:
        decoder = codecs.getincrementaldecoder("utf-8")()
        return "".join(map(decoder.decode, pieces))

    assert same_for_every_split(careful, "grüß 😀".encode()) == "grüß 😀"
    with pytest.raises(AssertionError, match="cut into pieces of"):
        same_for_every_split(careless, "grüß".encode())


def sweep(work: Callable[[list[str]], Awaitable[None]], counts: list[int]) -> str | None:
    """Cancel *work*, which notes what it opens and closes, everywhere; what the sweep says."""

    async def check(rig: None) -> None:
        @asynccontextmanager
        async def make() -> AsyncIterator[Scenario]:
            notes: list[str] = []

            async def after() -> None:
                assert notes.count("opened") == notes.count("closed"), f"left open: {notes}"

            async def run() -> None:
                await work(notes)

            yield Scenario(run(), lambda: "there" in notes, after)

        counts.append(await cancel_everywhere(make, "it is cancelled cleanly"))

    @asynccontextmanager
    async def nothing(folder: str) -> AsyncIterator[None]:
        yield None

    return broken_promise(check, nothing, "")


async def stay(notes: list[str]) -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    notes.append("there")
    await asyncio.Event().wait()


def test_cancels_come_before_the_first_step_at_each_pass_and_where_it_stays() -> None:
    seen: list[int] = []

    async def work(notes: list[str]) -> None:
        notes.append("opened")
        try:
            await stay(notes)
        finally:
            notes.append("closed")

    assert sweep(work, seen) is None
    assert seen == [5]  # before its first step, at three passes on the way, and where it stays


def test_what_is_left_open_at_one_await_only_is_caught() -> None:
    async def work(notes: list[str]) -> None:
        notes.append("opened")
        await asyncio.sleep(0)
        try:
            await stay(notes)
        finally:
            notes.append("closed")

    assert "left open: ['opened']" in str(sweep(work, []))


def test_a_scenario_that_ends_by_itself_is_refused() -> None:
    async def work(notes: list[str]) -> None:
        await asyncio.sleep(0)

    assert "ended by itself" in str(sweep(work, []))


def test_a_swallowed_cancel_is_caught() -> None:
    async def work(notes: list[str]) -> None:
        try:
            await stay(notes)
        except asyncio.CancelledError:
            return

    assert "ended in another way" in str(sweep(work, []))


def test_T8_every_kind_of_effect_is_seen(tmp_path: Path) -> None:
    with seen_effects() as seen:
        (tmp_path / "a.txt").write_text("x")
        (tmp_path / "a.txt").read_text()
        os.listdir(tmp_path)
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert seen.writes
    assert len(seen.reads) >= 2
    assert seen.processes
    assert not seen.network
    assert not seen.read_only
    assert seen.beyond(Effects(reads=True, writes=True)) == seen.processes


def test_T4_a_program_that_reads_counts_as_reading_without_a_shell_alone() -> None:
    with seen_effects((sys.executable,)) as seen:
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert seen.read_only
    assert seen.reads
    with seen_effects((sys.executable,)) as seen:
        subprocess.run(f"{sys.executable} -c ''", shell=True, check=True)
    assert seen.processes


def test_T8_importing_is_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError):
        importlib.import_module("nowhere_to_be_found")
    (tmp_path / "fresh.py").touch()  # the import system lists a folder that has changed anew
    os.utime(tmp_path, (1, 1))
    with seen_effects() as seen:
        importlib.import_module("fresh")
    assert seen.read_only
    assert not seen.reads
