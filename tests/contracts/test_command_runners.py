"""The command runners keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.commands import CommandScript, ScriptedCommands
from norma.adapters.memory.gates import Forever
from norma.adapters.process.runner import ShellRunner
from norma.ports.commands import Command
from norma.ports.contracts import commands
from norma.ports.contracts.commands import ENDLESS, MISSING_FOLDER, QUIET, SAYS, CommandRig
from norma.ports.contracts.pytest import contract


def _script(command: Command) -> CommandScript:
    if command.cwd == MISSING_FOLDER:
        return FileNotFoundError(2, "No such file or directory", command.cwd)
    scripts: dict[str, CommandScript] = {
        SAYS: ("one\n", "two\n", 3),
        QUIET: 0,
        ENDLESS: ("begun\n", Forever()),
    }
    return scripts[command.text]


@asynccontextmanager
async def scripted(folder: str) -> AsyncIterator[CommandRig]:
    clock = ManualClock()
    made = ScriptedCommands(_script, clock=clock)
    yield CommandRig(made, "/work", lambda: made.running, clock.advance)


@asynccontextmanager
async def shell(folder: str) -> AsyncIterator[CommandRig]:
    mark = f"NORMA_CONTRACT={folder}"

    def left() -> int:
        return sum(_has(entry, mark.encode()) for entry in Path("/proc").iterdir() if entry.name.isdigit())

    yield CommandRig(ShellRunner({"NORMA_CONTRACT": folder}), folder, left)


def _has(process: Path, mark: bytes) -> bool:
    try:
        return mark in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False  # it has ended meanwhile, or is another user's


test_command_runner = contract(commands.CHECKS, scripted, shell)
