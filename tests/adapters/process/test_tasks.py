"""Commands in the background, over real processes."""

import asyncio
import os
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from norma.adapters.process.lines import MOST_BUNDLES, MOST_LINES, Lines
from norma.adapters.process.runner import ShellRunner
from norma.adapters.process.spill import Spill
from norma.adapters.process.tasks import KEPT_ENDED, MOST_NOTICES, ShellTasks
from norma.ports.commands import Command, UnknownTask
from tests.adapters.process.test_runner import Seen, ignore, open_files, processes


@pytest.fixture
async def tasks(tmp_path: Path) -> AsyncIterator[ShellTasks]:
    made = ShellTasks(folder=str(tmp_path))
    yield made
    await made.aclose()
    assert left(tmp_path) == []


def left(folder: Path) -> list[str]:
    """What tasks have on the disk."""
    return [name for name in os.listdir(folder) if name.startswith("norma-")]


def command(text: str, cwd: Path, timeout_s: float | None = None, *, leaves: bool = False) -> Command:
    return Command(text, str(cwd), timeout_s, owner="me", leaves=leaves)


async def ended(tasks: ShellTasks, task: str):
    async with asyncio.timeout(30):
        return await tasks.wait(task, "me", 30)


def whole(tasks: ShellTasks, task: str) -> str:
    return tasks.read(task, "me", offset=0, limit=10_000_000).text


async def test_a_command_is_left_running_at_its_deadline_and_loses_nothing(tmp_path, tasks):
    os.mkfifo(tmp_path / "go")
    runner = ShellRunner(tasks=tasks)
    seen = Seen()
    text = "echo first; read line < go; echo $line; exit 4"
    end = await runner.run(command(text, tmp_path, 0.5, leaves=True), seen)
    assert (end.status, end.timed_out, end.output) == (None, True, "first\n")
    assert end.task is not None
    (running,) = tasks.tasks("me")
    assert (running.id, running.state, running.command) == (end.task, "running", text)
    assert running.seconds >= 0.5
    (tmp_path / "go").write_text("second\n")
    done = await ended(tasks, end.task)
    assert (done.state, done.status) == ("failed", 4)
    assert whole(tasks, end.task) == "first\nsecond\n"
    assert seen.text == "first\n"  # the call is over, and nobody is told any more


async def test_without_tasks_or_the_wish_nothing_is_left(tmp_path, tasks):
    for runner, wish in ((ShellRunner(), True), (ShellRunner(tasks=tasks), False)):
        end = await runner.run(command("echo a; sleep 1119.5", tmp_path, 0.3, leaves=wish), ignore)
        assert (end.timed_out, end.task, end.output) == (True, None, "a\n")
        assert end.status is not None
        assert not processes("1119.5", tmp_path)


async def test_a_cancel_before_the_deadline_ends_the_command(tmp_path, tasks):
    seen = Seen()
    runner = ShellRunner(tasks=tasks)
    task = asyncio.create_task(runner.run(command("echo a; sleep 1119.75", tmp_path, 60, leaves=True), seen))
    await seen.until(lambda text: "a" in text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not processes("1119.75", tmp_path)
    assert tasks.tasks("me") == ()


async def test_the_whole_of_a_cut_output_can_be_read(tmp_path, tasks):
    end = await ShellRunner(tasks=tasks).run(command("seq 1 20000", tmp_path, 30), ignore)
    assert end.omitted > 0
    assert end.task is not None
    assert end.status == 0
    assert whole(tasks, end.task) == "".join(f"{n}\n" for n in range(1, 20001))
    (kept,) = tasks.tasks("me")
    assert (kept.state, kept.status) == ("completed", 0)


async def test_short_output_leaves_no_file_and_no_task(tmp_path, tasks):
    files = open_files()
    end = await ShellRunner(tasks=tasks).run(command("echo short", tmp_path, 30), ignore)
    assert end.task is None
    assert tasks.tasks("me") == ()
    assert list(tmp_path.iterdir()) == []
    assert open_files() == files


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("limit", [4, 5, 6, 7])
def test_a_piece_holds_whole_characters_and_at_least_one_wherever_it_begins(tmp_path, room, limit):
    spill = Spill(lambda: str(tmp_path / "output"), room)
    text = "é😀x😀é"
    data = text.encode()
    spill.add(text)
    for offset in (*range(len(data) - 1), None):
        piece, start = spill.read(offset, limit)
        assert text.endswith(data[start:].decode())
        assert data[start:].startswith(piece)
        assert 0 < len(piece.decode().encode()) <= limit
    spill.discard()


async def test_the_output_is_this_users_alone(tmp_path, tasks):
    task = await tasks.start(command("echo secret", tmp_path))
    await ended(tasks, task.id)
    (folder,) = tmp_path.glob("norma-*")
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_task_that_prints_too_much_is_ended(tmp_path):
    tasks = ShellTasks(folder=str(tmp_path), most_bytes=5000)
    task = await tasks.start(command("yes 1119.25", tmp_path))
    end = await ended(tasks, task.id)
    assert (end.state, end.size) == ("failed", 5000)
    assert "printed too much" in end.why
    assert not processes("yes\x001119.25", tmp_path)
    await tasks.aclose()


async def test_a_foreground_command_that_prints_too_much_runs_on_and_says_what_was_kept(tmp_path):
    tasks = ShellTasks(folder=str(tmp_path), most_bytes=40_000)
    end = await ShellRunner(tasks=tasks).run(command("seq 1 20000", tmp_path, 30), ignore)
    assert (end.status, end.task) == (0, "task_1")
    (kept,) = tasks.tasks("me")
    assert kept.why == "only the first 40000 bytes of its output were kept"
    await tasks.aclose()


async def test_a_disk_that_takes_nothing_is_told_and_harms_no_command(tmp_path):
    tasks = ShellTasks(folder=str(tmp_path / "missing"))
    end = await ShellRunner(tasks=tasks).run(command("seq 1 20000; exit 5", tmp_path, 30), ignore)
    assert end.status == 5
    task = await tasks.start(command("echo lost", tmp_path))
    done = await ended(tasks, task.id)
    assert done.state == "completed"
    assert "could be kept (No such file or directory)" in done.why
    await tasks.aclose()


async def test_what_a_task_leaves_running_is_ended_with_it(tmp_path, tasks):
    task = await tasks.start(command("sleep 1119.125 & echo gone", tmp_path))
    assert (await ended(tasks, task.id)).state == "completed"
    assert not processes("1119.125", tmp_path)


async def test_an_observer_that_fails_at_the_deadline_leaves_nothing(tmp_path, tasks):
    def fail(text: str) -> None:
        raise RuntimeError("the observer failed")

    with pytest.raises(RuntimeError, match="the observer failed"):
        await ShellRunner(tasks=tasks).run(
            command("echo a; sleep 1119.0625", tmp_path, 0.3, leaves=True), fail
        )
    assert not processes("1119.0625", tmp_path)
    assert tasks.tasks("me") == ()


@pytest.mark.parametrize("passes", [0, 1, 3])
def test_a_loop_that_shuts_down_takes_its_tasks_along(tmp_path, passes):
    async def host() -> None:
        tasks = ShellTasks(folder=str(tmp_path))
        await tasks.start(command("sleep 1119.03125; true", tmp_path))
        for _ in range(passes):
            await asyncio.sleep(0)

    asyncio.run(host())
    # What was only killed, with nobody left to wait for it, is gone a moment later.
    deadline = time.monotonic() + 20
    while processes("1119.03125", tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("passes", range(6))
async def test_a_close_that_is_cancelled_has_ended_everything(tmp_path, passes):
    tasks = ShellTasks(folder=str(tmp_path))
    for _ in range(2):
        await tasks.start(command("trap '' TERM; sleep 1119.9 & sleep 1119.9; wait", tmp_path))
    closing = asyncio.create_task(tasks.aclose())
    await asyncio.sleep(0)
    for _ in range(passes):
        await asyncio.sleep(0)
    closing.cancel()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not processes("1119.9", tmp_path)
    assert left(tmp_path) == []


async def test_of_those_that_ended_the_oldest_are_forgotten(tmp_path, tasks):
    files = open_files()
    last = ""
    for number in range(KEPT_ENDED + 3):
        last = (await tasks.start(command(f"echo {number}", tmp_path))).id
        await ended(tasks, last)
    await asyncio.sleep(0)
    kept = tasks.tasks("me")
    assert len(kept) == KEPT_ENDED
    assert kept[-1].id == last
    with pytest.raises(UnknownTask, match=f"{kept[0].id}, "):
        tasks.read("task_1", "me", offset=0, limit=10)
    assert open_files() == files + KEPT_ENDED


async def test_notices_wait_for_their_owner_and_have_a_bound(tmp_path, tasks):
    def broken(owner: str) -> None:
        raise RuntimeError("nobody is there")

    tasks.listen(broken)
    last = ""
    for number in range(MOST_NOTICES + 2):
        last = (await tasks.start(command("exit 1", tmp_path), description=f"run {number}")).id
        await ended(tasks, last)
    await asyncio.sleep(0)
    told = tasks.notices("me")
    assert len(told) == MOST_NOTICES
    assert told[-1].startswith(f"{last} (run {MOST_NOTICES + 1}) has ended: failed, exit code 1.")
    assert tasks.notices("me") == ()


async def test_lines_are_told_in_bundles_and_cut():
    told: list[str] = []
    later = asyncio.Event()

    def tell(bundle: str) -> None:
        told.append(bundle)
        later.set()

    lines = Lines(tell)
    lines.add("a\nb")
    lines.add("c\n" + "x" * 1000 + "\n" + "y" * 1000)
    lines.add("\n" + "".join(f"{n}\n" for n in range(99)))
    assert told == []
    lines.finish()
    (bundle,) = told
    first = bundle.split("\n")
    assert first[:2] == ["a", "bc"]
    assert first[2] == "x" * 300 + "…"
    assert first[3] == "y" * 300 + "…"
    assert first[-1] == f"[and {100 + 3 - MOST_LINES} more lines]"
    later.clear()
    lines.add("later\n")
    await asyncio.wait_for(later.wait(), 10)
    assert told[1] == "later"


async def test_what_prints_without_end_is_not_told_without_end():
    told: list[str] = []
    lines = Lines(told.append)
    for number in range(MOST_BUNDLES + 10):
        lines.add(f"{number}\n")
        lines.finish()
    assert len(told) == MOST_BUNDLES + 1
    assert told[-1] == f"{MOST_BUNDLES}\n[it prints too much; no more of it is told, TaskOutput shows it]"


async def test_what_is_left_when_too_much_was_told_is_not_told_at_the_end():
    told: list[str] = []
    lines = Lines(told.append)
    for number in range(MOST_BUNDLES):
        lines.add(f"{number}\n")
        lines.finish()
    lines.add("last\npart")
    lines._flush()  # as its timer does
    lines.finish()
    assert len(told) == MOST_BUNDLES + 1


async def test_the_last_lines_of_a_watched_task_are_told_before_its_end(tmp_path, tasks):
    await tasks.start(
        command("echo one; echo two; echo -n three", tmp_path), watched=True, description="a\nb"
    )
    await ended(tasks, "task_1")
    assert tasks.notices("me") == (
        "task_1 (a b) prints:\none\ntwo\nthree",
        "task_1 (a b) has ended: completed, exit code 0. TaskOutput shows what it printed.",
    )
