"""The command runners keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.process.runner import ShellRunner
from norma.ports.contracts import commands
from norma.ports.contracts.commands import CommandRig
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import command_rig


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


test_command_runner = contract(commands.CHECKS, command_rig(ScriptedCommands), shell)
