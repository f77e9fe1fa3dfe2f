"""The tools of tasks, and Bash with tasks, over scripted and real commands."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.tasks import ScriptedTasks
from norma.adapters.process.runner import ShellRunner
from norma.adapters.process.tasks import ShellTasks
from norma.domain.model.blocks import text_of
from norma.ports.commands import CommandEnd
from norma.ports.errors import Refused, ToolFailed
from tests.domain.tools.calling import Host


@pytest.fixture
async def tasks(tmp_path: Path):
    made = ShellTasks()
    yield made
    await made.aclose()


@pytest.fixture
def host(tmp_path: Path, tasks: ShellTasks) -> Host:
    return Host(tmp_path, commands=ShellRunner(tasks=tasks), tasks=tasks)


def scripted(tmp_path: Path, **scripts: Any) -> Host:
    return Host(tmp_path, tasks=ScriptedTasks(scripts), commands=ScriptedCommands(scripts))


async def test_bash_in_the_background_and_its_output(host):
    text = await host.text("Bash", {"command": "echo a; echo b; exit 2", "run_in_background": True})
    assert text.startswith("Started as task_1. You will be told of its end")
    text = await host.text("TaskOutput", {"task_id": "task_1", "block": True})
    assert text.startswith("a\nb\n[up to byte 4; what comes later: offset=4]\n[task_1 failed after ")
    assert "exit code 2" in text


async def test_bash_past_its_time_goes_on_as_a_task(tmp_path, host):
    output = await host.run("Bash", {"command": "echo a; sleep 1117.5", "timeout_ms": 300})
    assert not output.is_error
    assert text_of(output.blocks) == (
        "a\n[still running after 0.3 s; it goes on as task_1: TaskOutput shows more of its output, "
        "TaskStop ends it]"
    )
    assert (await host.text("TaskList", {})).startswith("task_1 is running, for ")
    assert (await host.text("TaskStop", {"task_id": "task_1"})).startswith("task_1 killed after ")
    assert (await host.text("TaskStop", {})) == "No task is running."


async def test_what_bash_left_out_is_read_with_task_output(host):
    text = await host.text("Bash", {"command": "seq 1 20000"})
    assert "of the output left out; TaskOutput with task_id=task_1 and offset=0 shows all of it]" in text
    at, parts = 0, []
    while True:
        text = await host.text("TaskOutput", {"task_id": "task_1", "offset": at, "max_bytes": 20_000})
        part, _, rest = text.partition("\n[")
        parts.append(part)
        if "more byte" not in rest:
            break
        at = int(rest.partition("offset=")[2].partition("]")[0])
    assert "".join(parts).replace("\n", "") == "".join(map(str, range(1, 20001)))


async def test_bash_says_how_much_of_a_cut_output_could_be_kept(tmp_path):
    tasks = ShellTasks(most_bytes=40_000)
    host = Host(tmp_path, commands=ShellRunner(tasks=tasks), tasks=tasks)
    text = await host.text("Bash", {"command": "seq 1 20000"})
    assert "offset=0 shows its beginning (only the first 40000 bytes of its output were kept)]" in text
    await tasks.aclose()


async def test_a_list_of_tasks_cuts_long_commands(host):
    await host.run("Bash", {"command": "true " + "é" * 1000, "run_in_background": True})
    text = await host.text("TaskList", {})
    assert text.endswith(f"\ttrue {'é' * 295}…")


async def test_without_an_offset_the_last_part_is_shown(host):
    await host.run("Bash", {"command": "seq 1 20000"})
    text = await host.text("TaskOutput", {"task_id": "task_1", "max_bytes": 12})
    assert text.startswith(
        "[108882 bytes before this; offset=0 shows them]\n19999\n20000\n[up to byte 108894;"
    )
    text = await host.text("TaskOutput", {"task_id": "task_1", "offset": 999_999})
    assert text.startswith("[nothing behind byte 108894]")


async def test_nothing_printed_yet(tmp_path):
    gate = Gate()
    host = scripted(tmp_path, wait=[gate, "late"])
    await host.run("Bash", {"command": "wait", "run_in_background": True})
    assert await host.text("TaskOutput", {"task_id": "task_1"}) == (
        "[nothing printed]\n[task_1 is running, for 0 s]"
    )
    gate.open()
    text = await host.text("TaskOutput", {"task_id": "task_1", "block": True})
    assert "late" in text
    assert "completed" in text


async def test_a_session_sees_its_own_tasks_alone(tmp_path):
    host = scripted(tmp_path, wait=[Gate()])
    await host.run("Bash", {"command": "wait", "run_in_background": True}, "mine")
    assert text_of((await host.run("TaskList", {}, "yours")).blocks) == "There are no tasks."
    for name in ("TaskOutput", "TaskStop"):
        with pytest.raises(ToolFailed, match=r"There is no task 'task_1'; there are: none\."):
            await host.run(name, {"task_id": "task_1"}, "yours")
    assert text_of((await host.run("TaskStop", {}, "yours")).blocks) == "No task is running."


async def test_an_end_is_told_with_the_next_result(tmp_path):
    host = scripted(tmp_path, short=0, other=["x", 0])
    await host.run("Bash", {"command": "short", "run_in_background": True})
    await asyncio.sleep(0)  # the script of the first one is played
    assert await host.text("Bash", {"command": "other"}) == (
        "x\n[exit code 0]\n[task_1 has ended: completed.]"
    )
    assert "has ended" not in await host.text("TaskList", {})


async def test_monitor_tells_lines(tmp_path, tasks):
    host = Host(tmp_path, tasks=tasks)
    heard = asyncio.Event()
    tasks.listen(lambda owner: heard.set())
    text = await host.text("Monitor", {"command": "echo ready; sleep 1117.25", "description": "the server"})
    assert text.startswith("Started as task_1. You will be told of what it prints")
    await asyncio.wait_for(heard.wait(), 20)
    assert tasks.notices("mine") == ("task_1 (the server) prints:\nready",)


def test_T3_monitor_is_judged_by_the_rules_of_bash(tmp_path):
    arguments = {"command": "make watch"}
    tasks = ScriptedTasks({})
    made = Host(tmp_path, tasks=tasks)
    assert made.examine("Monitor", arguments).rule == "Bash(make watch)"
    assert made.judge("Monitor", arguments).decision == "ask"
    for allow, deny, decision in (
        ("Bash(make watch)", [], "allow"),
        ("Bash(make)", [], "ask"),
        ("Bash", [], "allow"),
        ("Bash", ["Bash(make:*)"], "deny"),
        ("Monitor", ["Bash"], "deny"),
    ):
        host = Host(tmp_path, tasks=tasks, allow=[allow], deny=deny)
        assert host.judge("Monitor", arguments).decision == decision
    with pytest.raises(Refused, match="whatever the permissions"):
        made.examine("Monitor", {"command": "rm -rf /"})


@pytest.mark.parametrize("name", ["TaskOutput", "TaskStop", "TaskList", "sleep"])
@pytest.mark.parametrize("mode", ["default", "plan", "dont-ask"])
def test_T4_what_touches_nothing_new_is_not_asked_about(tmp_path, name, mode):
    host = Host(tmp_path, mode=mode, tasks=ScriptedTasks({}), clock=ManualClock())
    given: dict[str, dict[str, Any]] = {"TaskOutput": {"task_id": "task_1"}, "sleep": {"seconds": 1}}
    arguments = given.get(name, {})
    assert host.judge(name, arguments).decision == "allow"


def test_without_tasks_and_clock_there_are_no_such_tools(tmp_path):
    made = Host(tmp_path)
    assert not {"TaskOutput", "TaskStop", "TaskList", "Monitor", "sleep"} & made.tools.keys()
    assert "run_in_background" not in made.tools["Bash"].spec.input_schema["properties"]


async def test_a_task_that_can_not_start_is_told_in_words(host):
    for name in ("Bash", "Monitor"):
        with pytest.raises(ToolFailed, match="could not be started: Argument list too long"):
            await host.run(name, {"command": "x" * 3_000_000, "run_in_background": True})


async def test_bash_where_the_root_has_become_a_link_is_refused(tmp_path):
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    host = Host(root)
    root.rename(tmp_path / "moved")
    root.symlink_to(other)
    with pytest.raises(Refused, match="has become a link"):
        host.examine("Bash", {"command": "pwd"})


async def test_sleep_waits_on_the_clock_and_lets_a_cancel_through(tmp_path):
    clock = ManualClock()
    host = Host(tmp_path, clock=clock)
    sleeping = asyncio.create_task(host.text("sleep", {"seconds": 90}))
    await asyncio.sleep(0)
    clock.advance(89)
    await asyncio.sleep(0)
    assert not sleeping.done()
    clock.advance(1)
    assert await sleeping == "Waited for 90 seconds."
    cancelled = asyncio.create_task(host.text("sleep", {"seconds": 90}))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled


async def test_who_only_waits_gives_back_before_the_engine_ends_it(tmp_path):
    clock = ManualClock()
    commands = ScriptedCommands(lambda command: CommandEnd(0, ""))
    host = Host(tmp_path, clock=clock, tasks=ScriptedTasks({}), commands=commands)
    sleeping = asyncio.create_task(host.text("sleep", {"seconds": 3600}))
    await asyncio.sleep(0)
    clock.advance(590)
    assert await sleeping == "Waited for 590 seconds of 3600; call again to wait for the rest."
    await host.run("Bash", {"command": "make", "timeout_ms": 600_000})
    assert [command.timeout_s for command in commands.commands] == [590.0]


@pytest.mark.parametrize(("seconds", "fits"), [(0, False), (1, True), (3600, True), (3601, False)])
def test_sleep_is_at_most_an_hour(tmp_path, seconds, fits):
    assert (Host(tmp_path, clock=ManualClock()).fault("sleep", {"seconds": seconds}) is None) == fits
