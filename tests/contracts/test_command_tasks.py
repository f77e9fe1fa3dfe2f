"""What runs commands in the background keeps the promises of its port, and wrong ones are caught."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.tasks import ScriptedTasks
from norma.adapters.process.tasks import ShellTasks
from norma.ports.commands import Command, CommandTask, TaskText
from norma.ports.contracts import command_tasks
from norma.ports.contracts.command_tasks import ENDLESS, MISSING_FOLDER, SAID, SAYS, TasksRig
from norma.ports.contracts.pytest import broken_promise, contract
from tests.contracts.processes import processes_with

Rig: TypeAlias = Callable[[str], AbstractAsyncContextManager[TasksRig]]


@asynccontextmanager
async def shell(folder: str) -> AsyncIterator[TasksRig]:
    tasks = ShellTasks({"NORMA_CONTRACT": folder}, folder=folder)
    yield TasksRig(
        tasks, folder, lambda: processes_with(folder), lambda: len(list(Path(folder).glob("norma-*")))
    )
    await tasks.aclose()


def scripted(kind: type[ScriptedTasks]) -> Rig:
    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[TasksRig]:
        def script(command: Command) -> object:
            if command.cwd == MISSING_FOLDER:
                return FileNotFoundError(2, "No such file or directory", command.cwd)
            return {SAYS: [SAID, 3], ENDLESS: ["begun\n", Forever()]}.get(command.text, 0)

        tasks = kind(script)  # type: ignore[arg-type]  # steps of several kinds
        yield TasksRig(tasks, "/project", lambda: tasks.running)

    return rig


test_command_tasks = contract(command_tasks.CHECKS, scripted(ScriptedTasks), shell)


class ForgetsHowItEnded(ScriptedTasks):
    async def wait(self, task: str, owner: str, timeout_s: float) -> CommandTask:
        return evolve(await super().wait(task, owner, timeout_s), status=0)


class CutsCharacters(ScriptedTasks):
    def read(self, task: str, owner: str, *, offset: int | None, limit: int) -> TaskText:
        data = bytes(self._find(task, owner).data)
        start = max(0, len(data) - limit) if offset is None else min(offset, len(data))
        end = min(len(data), start + limit)
        return TaskText(data[start:end].decode("utf-8", "replace"), start, end, len(data))


class ShowsToEverybody(ScriptedTasks):
    def _find(self, name: str, owner: str) -> Any:
        return self._played.get(name) or super()._find(name, owner)


class TellsTwice(ScriptedTasks):
    def notices(self, owner: str) -> tuple[str, ...]:
        return tuple(self._notices.get(owner, ()))


class StopsInName(ScriptedTasks):
    async def stop(self, task: str, owner: str) -> CommandTask:
        return evolve(self._find(task, owner).task, state="killed")


class ForgetsToClose(ScriptedTasks):
    async def aclose(self) -> None:
        """Nothing."""


class StartsAfterTheEnd(ScriptedTasks):
    async def aclose(self) -> None:
        await super().aclose()
        self._closed = False


class EndsWithItsWaiter(ScriptedTasks):
    async def wait(self, task: str, owner: str, timeout_s: float) -> CommandTask:
        try:
            return await super().wait(task, owner, timeout_s)
        except asyncio.CancelledError:
            await self.stop(task, owner)
            raise


KILLS = {
    ForgetsHowItEnded: command_tasks.check_output_and_end,
    CutsCharacters: command_tasks.check_reading,
    ShowsToEverybody: command_tasks.check_owners,
    TellsTwice: command_tasks.check_notices,
    StopsInName: command_tasks.check_stop,
    ForgetsToClose: command_tasks.check_aclose,
    StartsAfterTheEnd: command_tasks.check_aclose,
    EndsWithItsWaiter: command_tasks.check_cancelled_callers,
}


@pytest.mark.parametrize("wrong", KILLS)
def test_a_wrong_one_is_caught(wrong: type[ScriptedTasks], tmp_path: Path) -> None:
    said = broken_promise(KILLS[wrong], scripted(wrong), str(tmp_path))
    assert said is not None
    print(f"{wrong.__name__:25} {said.splitlines()[0]:.110}")
