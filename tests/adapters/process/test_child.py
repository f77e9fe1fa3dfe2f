"""The child of a search: how it starts, how it is read, and that nothing of it is left (contract G7)."""

import asyncio
import math
import os
import signal
import time
from pathlib import Path

import pytest

from norma.adapters.process import child_pipes
from norma.adapters.process.child import answer, running
from norma.adapters.process.child_pipes import LONGEST_PAUSE_S, SHORTEST_PAUSE_S
from tests.adapters.grep.rigs import BACKENDS, BOUND_S, backend, children, nothing, stuck, until

ENVIRON = {"PATH": os.environ["PATH"]}
HANGS = """#!/bin/sh
[ "$1" = "--version" ] && { echo "ripgrep 15.0.0"; exit 0; }
exec sleep 3600
"""


def sh(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.fixture(params=["told", "looking"])
def ends(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system tells us of a child's end, or has no way to."""
    if request.param == "looking":
        monkeypatch.delattr(os, "pidfd_open")


async def output_of(script: str, *, given: bytes = b"", pauses: bool = False) -> tuple[list[bytes], int]:
    """The pieces in which its output came, and its exit status."""
    pieces: list[bytes] = []

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        return False

    async with asyncio.timeout(BOUND_S), running(sh(script), environ=ENVIRON, given=given) as child:
        assert await child.read(take, pauses=pauses)
        return pieces, await child.ended()


async def endless(seen: list[bytes]) -> None:
    """A child that never ends, used as the backends do it."""

    def take(piece: bytes) -> bool:
        seen.append(piece)
        return False

    script = sh("cat > /dev/null & echo begun; exec sleep 3600")
    async with running(script, environ=ENVIRON, given=b"x" * (1 << 18)) as child:
        await child.read(take, pauses=True)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.usefixtures("ends")
async def test_G7_cancelled_at_every_pass_and_once_more_a_child_leaves_nothing() -> None:
    await output_of("true")
    before = open_files()
    for first in range(8):
        for second in range(-1, 5):
            task = asyncio.create_task(endless([]))
            await turns(first)
            task.cancel()
            if second >= 0:
                await turns(second)
                task.cancel()
            done, _ = await asyncio.wait((task,), timeout=BOUND_S)
            assert done
            assert task.cancelled()
            assert children() == [], f"cancelled at pass {first} and {second} later"
            assert open_files() == before, f"cancelled at pass {first} and {second} later"


@pytest.mark.usefixtures("ends")
async def test_G7_cancelled_where_it_waits_a_child_leaves_nothing() -> None:
    await output_of("true")
    before = open_files()
    for second in range(-1, 12):
        seen: list[bytes] = []
        task = asyncio.create_task(endless(seen))
        await until(lambda: len(seen) > 0)  # noqa: B023 - awaited at once
        task.cancel()
        if second >= 0:
            await turns(second)
            task.cancel()
        await asyncio.wait((task,), timeout=BOUND_S)
        assert task.cancelled()
        assert children() == []
        assert open_files() == before


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_cancelled_at_every_pass_and_once_more_a_search_leaves_nothing(
    name: str, tmp_path: Path
) -> None:
    program = tmp_path / "rg"
    program.write_text(HANGS)
    program.chmod(0o755)
    search = backend(name, program=str(program))
    query = stuck(tmp_path)
    await search.ripgrep()
    before = open_files()
    for first in range(14):
        for second in (-1, 0, 1, 3):
            task = asyncio.create_task(search.search(query, progress=lambda line: None, excluded=nothing))
            await turns(first)
            task.cancel()
            if second >= 0:
                await turns(second)
                task.cancel()
            await asyncio.wait((task,), timeout=BOUND_S)
            assert task.cancelled()
            assert children() == [], f"cancelled at pass {first} and {second} later"
            assert open_files() == before, f"cancelled at pass {first} and {second} later"


@pytest.mark.parametrize(("command", "cwd"), [(("/no/such/program",), "/"), (sh("true"), "/no/such/folder")])
async def test_what_cannot_start_is_an_oserror_and_leaves_nothing_open(
    command: tuple[str, ...], cwd: str
) -> None:
    before = open_files()
    with pytest.raises(OSError, match="/no/such"):
        async with running(command, environ=ENVIRON, cwd=cwd):
            pass
    assert open_files() == before


@pytest.mark.usefixtures("ends")
async def test_all_output_and_the_exit_status_are_told() -> None:
    for script, status in (("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM)):
        pieces, ended = await output_of(f"seq 100000; {script}")
        assert b"".join(pieces) == b"".join(b"%d\n" % number for number in range(1, 100_001))
        assert ended == status


async def test_input_that_no_pipe_holds_arrives_whole() -> None:
    given = os.urandom(1 << 20)
    pieces, status = await output_of("cat", given=given)
    assert (b"".join(pieces), status) == (given, 0)


async def test_a_child_need_not_read_its_input() -> None:
    assert await output_of("exec < /dev/null; echo done; exit 4", given=b"x" * (1 << 20)) == ([b"done\n"], 4)


@pytest.mark.usefixtures("ends")
async def test_G7_what_an_ended_child_left_in_its_group_is_ended() -> None:
    _, said, _ = await answer(
        sh("sleep 3600 > /dev/null 2>&1 & echo $!"), environ=ENVIRON, deadline_s=BOUND_S
    )
    await until(lambda: is_dead(said.strip()))


def is_dead(process: str) -> bool:
    try:
        return ") Z " in Path("/proc", process, "stat").read_text()
    except OSError:
        return True


async def test_enough_ends_the_child_and_its_error_is_raised() -> None:
    async with asyncio.timeout(BOUND_S), running(sh("yes"), environ=ENVIRON) as child:
        assert not await child.read(lambda piece: True)
    with pytest.raises(KeyError, match="taker"):
        async with asyncio.timeout(BOUND_S), running(sh("yes"), environ=ENVIRON) as child:
            await child.read(broken)
    assert children() == []


def broken(piece: bytes) -> bool:
    raise KeyError("taker")


async def test_many_small_pieces_are_read_as_a_few() -> None:
    began = time.monotonic()
    pieces, _ = await output_of("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done", pauses=True)
    lasted = time.monotonic() - began
    assert b"".join(pieces) == b"".join(b"%d\n" % number for number in range(20_000))
    # Each pause is half as long again as what has passed, up to the longest.
    growing = math.log(max(lasted / SHORTEST_PAUSE_S, 1), 1.5)
    assert len(pieces) < 5 + growing + lasted / LONGEST_PAUSE_S + 20_000 * 6 / (1 << 14)


@pytest.mark.usefixtures("ends")
async def test_a_pause_ends_with_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_pipes, "SHORTEST_PAUSE_S", 3600.0)
    monkeypatch.setattr(child_pipes, "LONGEST_PAUSE_S", 3600.0)
    pieces: list[bytes] = []

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        (tmp_path / "go").touch()
        return False

    script = f"echo one; while [ ! -e '{tmp_path}/go' ]; do :; done; echo two"
    async with asyncio.timeout(BOUND_S), running(sh(script), environ=ENVIRON) as child:
        assert await child.read(take, pauses=True)
    assert pieces == [b"one\n", b"two\n"]


async def test_a_child_is_in_a_group_of_its_own_and_one_that_might_ask_has_no_terminal() -> None:
    async with running(sh("exec sleep 3600"), environ=ENVIRON) as child:
        process = child.process.pid
        assert (os.getpgid(process), os.getsid(process)) == (process, os.getsid(0))
    script = sh("echo $$ $(cut -d ' ' -f 6 /proc/$$/stat)")
    _, said, _ = await answer(script, environ=ENVIRON, deadline_s=BOUND_S)
    process_id, session = said.split()
    assert session == process_id
