"""The shell runner over real processes."""

import asyncio
import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from norma.adapters.process.runner import KEPT_CHARACTERS, ShellRunner
from norma.ports.commands import Command, CommandEnd


def ignore(text: str) -> None:
    """Take no notice."""


async def run(
    text: str, cwd: object, *, timeout_s: float | None = 30, output=ignore, **environment: str
) -> CommandEnd:
    return await asyncio.wait_for(
        ShellRunner(environment).run(Command(text, str(cwd), timeout_s), output), 50
    )


def processes(mark: str, where: Path) -> list[str]:
    """Those alive with *mark* in their command line, at work in *where* or below; another run has others."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            is_here = Path(os.readlink(folder / "cwd")).is_relative_to(where)
        except OSError:
            continue
        if is_here and mark.encode() in words:
            found.append(f"{folder.name} {words!r}")
    return found


def exists(process: str) -> bool:
    """Whether it is alive or not yet reaped."""
    return Path("/proc", process).exists()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


class Seen:
    """Collects output and lets a test wait for words in it."""

    def __init__(self) -> None:
        self.text = ""
        self._changed = asyncio.Event()

    def __call__(self, text: str) -> None:
        self.text += text
        self._changed.set()

    async def until(self, condition: Callable[[str], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition(self.text):
                self._changed.clear()
                await self._changed.wait()


async def test_output_and_errors_come_merged_with_the_status(tmp_path):
    end = await run("echo one; echo two >&2; echo three; exit 3", tmp_path)
    assert (end.output, end.status, end.omitted, end.timed_out) == ("one\ntwo\nthree\n", 3, 0, False)


async def test_the_command_runs_in_its_folder(tmp_path):
    assert (await run("pwd", tmp_path)).output == f"{tmp_path}\n"


async def test_a_signal_is_a_negative_status(tmp_path):
    assert (await run("kill -KILL $$", tmp_path)).status == -signal.SIGKILL


async def test_output_is_told_while_the_command_runs(tmp_path):
    os.mkfifo(tmp_path / "go")
    seen = Seen()
    task = asyncio.create_task(run("echo first; read line < go; echo $line", tmp_path, output=seen))
    await seen.until(lambda text: "first" in text)
    assert not task.done()
    (tmp_path / "go").write_text("second\n")
    assert (await task).output == seen.text == "first\nsecond\n"


async def test_a_letter_cut_by_a_read_is_whole_and_bad_bytes_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "go")
    seen = Seen()
    script = r"printf 'a\303'; read line < go; printf '\251 \377 \303'"
    task = asyncio.create_task(run(script, tmp_path, output=seen))
    await seen.until(lambda text: "a" in text)
    (tmp_path / "go").write_text("\n")
    assert (await task).output == seen.text == "aé \ufffd \ufffd"


async def test_there_is_no_input(tmp_path):
    assert (await run("cat; echo end", tmp_path)).output == "end\n"


async def test_a_command_that_begins_with_a_dash_is_no_option(tmp_path):
    end = await run("-x; echo 'ran on'", tmp_path)
    assert "ran on\n" in end.output
    assert "+ echo" not in end.output


async def test_TC_13_the_environment_is_minimal(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "canary")
    end = await run("env", tmp_path, ADDED="1", LANG="C")
    names = {line.split("=")[0] for line in end.output.splitlines()}
    of_the_shell = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names - of_the_shell <= {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "ADDED"}
    assert {"TERM=dumb", "ADDED=1", "LANG=C"} <= set(end.output.splitlines())
    assert "canary" not in end.output


async def test_long_output_keeps_head_and_tail_and_counts_the_rest(tmp_path):
    end = await run("seq 1000000", tmp_path)
    whole = "".join(f"{number}\n" for number in range(1, 1_000_001))
    half = KEPT_CHARACTERS // 2
    assert end.output.startswith(whole[:half])
    assert end.output.endswith(whole[-half:])
    assert end.omitted == len(whole) - KEPT_CHARACTERS
    assert f"{end.omitted} characters left out" in end.output


async def test_output_is_cut_at_characters_not_bytes(tmp_path):
    end = await run("for i in $(seq 40000); do printf é; done", tmp_path)
    assert end.omitted == 40_000 - KEPT_CHARACTERS
    assert "\ufffd" not in end.output


async def test_the_deadline_ends_the_whole_group(tmp_path):
    end = await run("sleep 1111.1 & sleep 1111.1; true", tmp_path, timeout_s=0.3)
    assert end.timed_out
    assert end.status == -signal.SIGTERM
    assert processes("1111.1", tmp_path) == []


async def test_who_ignores_the_polite_signal_is_killed(tmp_path):
    script = "trap '' TERM; echo ready; while true; do sleep 1112.1; done"
    end = await run(script, tmp_path, timeout_s=0.5)
    assert end.timed_out
    # On a very slow machine the deadline may come before the trap.
    assert end.status == (-signal.SIGKILL if "ready" in end.output else -signal.SIGTERM)
    assert processes("1112.1", tmp_path) == []


async def test_no_deadline_at_all(tmp_path):
    assert (await run("echo done", tmp_path, timeout_s=None)).output == "done\n"


async def test_what_the_shell_left_in_its_group_is_ended(tmp_path):
    end = await run("sleep 1113.1 & (trap '' TERM; sleep 1113.1) & echo begun", tmp_path)
    assert (end.status, end.output, end.timed_out) == (0, "begun\n", False)
    assert processes("1113.1", tmp_path) == []


@pytest.mark.parametrize(
    "script",
    [
        "set -m; sleep 1115.1 & echo begun",
        "set -m; (trap '' TERM; sleep 1115.1; sleep 1115.1) & echo begun",
        "bash -c 'set -m; (sleep 1115.1 &) & timeout 1115.1 sleep 1115.1 &' & wait; echo begun",
    ],
)
async def test_P7_what_made_a_group_of_its_own_is_ended_too(tmp_path, script):
    end = await run(script, tmp_path)
    assert (end.status, end.output, end.timed_out) == (0, "begun\n", False)
    assert processes("1115.1", tmp_path) == []


async def test_the_deadline_ends_what_timeout_runs_in_a_group_of_its_own(tmp_path):
    end = await run("timeout 1116.1 sleep 1116.1; true", tmp_path, timeout_s=0.3)
    assert end.timed_out
    assert processes("1116.1", tmp_path) == []


async def test_what_writes_on_for_a_moment_behind_the_shell_is_heard(tmp_path):
    end = await run("(while kill -0 $$ 2>/dev/null; do :; done; echo late) & true", tmp_path)
    assert end.output == "late\n"


async def test_a_process_that_left_the_group_holds_up_nothing(tmp_path):
    script = "setsid sh -c 'echo $$; exec sleep 1114.1' & read line < go"
    os.mkfifo(tmp_path / "go")
    seen = Seen()
    task = asyncio.create_task(run(script, tmp_path, output=seen))
    await seen.until(lambda text: "\n" in text)
    try:
        (tmp_path / "go").write_text("\n")
        end = await task
        assert end.status == 0
    finally:
        os.kill(int(seen.text), signal.SIGKILL)


async def test_a_flood_does_not_hold_up_the_deadline(tmp_path):
    end = await run("yes", tmp_path, timeout_s=0.3)
    assert end.timed_out
    assert len(end.output) < KEPT_CHARACTERS + 100


@pytest.mark.parametrize(
    ("text", "cwd", "words"),
    [
        ("true", "/no/such/folder", "/no/such/folder"),
        ("a\0b", "/", "null"),
        ("x" * 3_000_000, "/", "too long: the command has 3000000 bytes; write it to a file"),
    ],
)
async def test_what_cannot_start_is_an_oserror_and_leaves_nothing_open(text, cwd, words):
    before = open_files()
    with pytest.raises(OSError, match=words):
        await run(text, cwd)
    assert open_files() == before


async def test_without_bash_and_sh_the_error_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="neither bash nor sh"):
        await run("true", tmp_path, PATH=str(tmp_path))


async def test_sh_stands_in_for_a_missing_bash(tmp_path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    assert (await run("echo $0", tmp_path, PATH=str(tmp_path))).output == f"{tmp_path}/sh\n"


async def test_an_error_of_the_listener_is_raised_after_the_command_has_ended(tmp_path):
    def broken(text: str) -> None:
        raise KeyError("listener")

    with pytest.raises(KeyError, match="listener"):
        await run("seq 100000; touch done", tmp_path, output=broken)
    assert (tmp_path / "done").exists()


async def test_TC_107_two_hundred_random_cancels_leave_no_child(tmp_path):
    chance = random.Random(107)
    runner = ShellRunner()
    await run("true", tmp_path)
    files, threads = open_files(), threading.active_count()
    for number in range(200):
        text = ("sleep 1115.1", "sleep 1115.1 & sleep 1115.1; true", "true")[number % 3]
        task = asyncio.create_task(runner.run(Command(text, str(tmp_path)), ignore))
        moments = chance.choice((0, 1, 2, 5, 50, 500))
        for _ in range(chance.randrange(moments + 1)):
            await asyncio.sleep(0)
        task.cancel()
        if number % 2:
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait({task}, timeout=20)
        assert task.done()
    assert processes("1115.1", tmp_path) == []
    assert (open_files(), threading.active_count()) == (files, threads)


async def test_a_cancel_passes_only_when_the_group_is_gone(tmp_path):
    seen = Seen()
    script = "trap '' TERM; echo ready; sleep 1116.1 & while true; do sleep 1116.1; done"
    task = asyncio.create_task(ShellRunner().run(Command(script, str(tmp_path)), seen))
    await seen.until(lambda text: "ready" in text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes("1116.1", tmp_path) == []


async def test_a_cancel_while_the_rest_of_the_group_is_ended_is_not_lost(tmp_path):
    seen = Seen()
    command = Command("trap '' TERM; sleep 1119.1 & echo $$", str(tmp_path))
    task = asyncio.create_task(ShellRunner().run(command, seen))
    await seen.until(lambda text: "\n" in text)
    async with asyncio.timeout(20):
        while exists(seen.text.strip()):  # noqa: ASYNC110 - the end of a shell has no event
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes("1119.1", tmp_path) == []


async def test_a_loop_that_shuts_down_takes_the_command_with_it(tmp_path):
    def host() -> None:
        async def main() -> None:
            seen = Seen()
            task = asyncio.create_task(
                ShellRunner().run(Command("echo ready; sleep 1117.1; true", str(tmp_path)), seen)
            )
            await seen.until(lambda text: "ready" in text)
            assert not task.done()

        asyncio.run(main())

    await asyncio.to_thread(host)
    assert processes("1117.1", tmp_path) == []


async def test_commands_run_side_by_side(tmp_path):
    os.mkfifo(tmp_path / "meet")
    ends = await asyncio.gather(run("echo hello > meet", tmp_path), run("cat meet", tmp_path))
    assert [end.output for end in ends] == ["", "hello\n"]
