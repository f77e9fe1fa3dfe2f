"""The Bash tool, over scripted and real commands."""

import asyncio
from time import process_time

import pytest

from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.memory.gates import Gate
from norma.adapters.process.runner import ShellRunner
from norma.domain.model.blocks import text_of
from norma.domain.tools.ruinous import ruin
from norma.ports.commands import Command, CommandEnd
from norma.ports.errors import Refused, ToolFailed
from tests.domain.tools.calling import Host


async def result(root, end, **more):
    commands = ScriptedCommands(lambda command: end)
    host = Host(root, commands=commands)
    output = await host.run("Bash", {"command": "make", **more})
    return text_of(output.blocks), output.is_error, commands.commands


async def test_output_and_status(tmp_path):
    text, is_error, commands = await result(tmp_path, CommandEnd(0, "built\n"))
    assert (text, is_error) == ("built\n[exit code 0]", False)
    assert commands == [Command("make", str(tmp_path), 120.0, owner="mine")]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (CommandEnd(2, "bad\n"), "bad\n[exit code 2]"),
        (CommandEnd(1, ""), "[no output]\n[exit code 1]"),
        (CommandEnd(-9, "x"), "x\n[ended by signal 9]"),
        (
            CommandEnd(-15, "x", timed_out=True),
            "x\n[ended after 1.5 s, which was its time limit]\n[ended by signal 15]",
        ),
        (
            CommandEnd(0, "x", timed_out=True),
            "x\n[ended after 1.5 s, which was its time limit]\n[exit code 0]",
        ),
    ],
)
async def test_what_did_not_go_well_is_an_error_that_says_how(tmp_path, end, words):
    text, is_error, _ = await result(tmp_path, end, timeout_ms=1500)
    assert (text, is_error) == (words, True)


async def test_cut_output_says_how_to_see_the_rest(tmp_path):
    text, _, _ = await result(tmp_path, CommandEnd(0, "head…tail", omitted=5000))
    assert "5000 characters of the output left out; to see all of it, send it to a file" in text


@pytest.mark.parametrize(("timeout_ms", "fits"), [(1, True), (600_000, True), (600_001, False), (0, False)])
def test_the_time_limit_is_at_most_ten_minutes(tmp_path, timeout_ms, fits):
    fault = Host(tmp_path).fault("Bash", {"command": "x", "timeout_ms": timeout_ms})
    assert (fault is None) == fits


def test_T5_a_person_sees_the_whole_command_and_the_folder(tmp_path):
    command = "echo " + "x" * 5000 + "\nls"
    action = Host(tmp_path).examine("Bash", {"command": command})
    assert action.shows == f"{command}\n(in {tmp_path})"
    assert (action.command, action.rule) == (command, f"Bash({command})")


@pytest.mark.parametrize("command", ["git status:*", "a\\:*", ":*", "echo (x)", "x)"])
def test_T3_the_rule_of_a_command_allows_just_that_command(tmp_path, command):
    rule = Host(tmp_path).examine("Bash", {"command": command}).rule
    host = Host(tmp_path, mode="dont-ask", allow=[rule])
    assert host.judge("Bash", {"command": command}).decision == "allow"
    for other in (command + " x", command.removesuffix(":*") + " x", command.replace("\\", "")):
        if other != command and other.strip():
            assert host.judge("Bash", {"command": other}).decision == "deny"


@pytest.mark.parametrize("command", ["  ", "a\0b", "\ud800"])
def test_what_is_no_command_is_refused(tmp_path, command):
    with pytest.raises(Refused, match="command"):
        Host(tmp_path).examine("Bash", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -fr /*",
        "cd x && sudo rm -r --no-preserve-root /",
        "/bin/rm --recursive /",
        "true;rm -rf / ;true",
        "rm -rf '/'",
        "rm / -rf -- x",
        "rm -rf \\\n  /",
        "if true; then LANG=C rm -rf /./; fi",
        "sudo -n env command \\rm -fR //",
        "x=$(rm -f /*)",
        "f() { f|f& }; f",
        "mkfs -t ext4 '/dev/sda'",
        ":(){ :|:& };:",
        "mkfs.ext4 /dev/sda1",
        "sudo dd if=/dev/zero of=/dev/nvme0n1 bs=1M",
    ],
)
def test_commands_that_ruin_the_machine_are_refused_in_every_mode(tmp_path, command):
    with pytest.raises(Refused, match="whatever the permissions"):
        Host(tmp_path, mode="bypass").examine("Bash", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /tmp/x",
        "rm -rf ./",
        "rm x",
        "grep -rf / x",
        "echo mkfs",
        "dd if=a of=b",
        "farm -rf /",
        "ls /",
        "rm -rf build /tmp/x",
        "git commit -m 'rm -rf / is bad'",
        "rm --interactive /",
        "a() { a | b & }; a",
    ],
)
def test_ordinary_commands_are_not(command):
    assert ruin(command) is None


@pytest.mark.parametrize(
    "piece", ["\n", "(", ";a", ":(", " ;", ": ", "rm ", "rm -r /", "sudo ", "a b() {a|", "-w", "x/"]
)
def test_the_look_for_ruin_takes_time_by_the_length_of_the_command(piece):
    before = process_time()
    ruin(piece * (500_000 // len(piece)) + "x")
    assert process_time() - before < 5


async def test_a_command_that_can_not_start_is_told_in_words(tmp_path):
    with pytest.raises(ToolFailed, match="could not be started: Argument list too long"):
        await Host(tmp_path, commands=ShellRunner()).run("Bash", {"command": "x" * 3_000_000})


async def test_a_real_command_in_the_first_root_with_progress(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    host = Host(tmp_path, other, commands=ShellRunner())
    assert await host.text("Bash", {"command": "pwd"}) == f"{tmp_path}\n[exit code 0]"
    assert "".join(host.progress) == f"{tmp_path}\n"


async def test_a_cancel_passes_through(tmp_path):
    commands = ScriptedCommands(lambda command: Gate())
    task = asyncio.create_task(Host(tmp_path, commands=commands).run("Bash", {"command": "sleep"}))
    await asyncio.wait_for(commands.started(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert commands.running == 0
