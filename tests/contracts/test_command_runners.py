"""The command runners keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.process.runner import ShellRunner
from norma.ports.contracts import commands
from norma.ports.contracts.commands import CommandRig
from norma.ports.contracts.pytest import contract
from tests.contracts.processes import processes_with
from tests.contracts.rigs import command_rig


@asynccontextmanager
async def shell(folder: str) -> AsyncIterator[CommandRig]:
    runner = ShellRunner({"NORMA_CONTRACT": folder})
    yield CommandRig(runner, folder, lambda: processes_with(folder))


test_command_runner = contract(commands.CHECKS, command_rig(ScriptedCommands), shell)
