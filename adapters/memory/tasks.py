"""Background commands that nobody runs."""

import asyncio
import errno
from collections.abc import Callable, Mapping

from attrs import define, evolve, field

from norma.adapters.memory.commands import CommandScript, script_of, steps_of
from norma.adapters.memory.gates import Gate
from norma.ports.commands import (
    Command,
    CommandEnd,
    CommandTask,
    CommandTasks,
    TaskState,
    TaskText,
    UnknownTask,
)


@define(eq=False)
class _Played:
    command: Command
    task: CommandTask
    data: bytearray = field(factory=bytearray)
    playing: "asyncio.Task[None] | None" = None


class ScriptedTasks(CommandTasks):
    """
    Plays *scripts* as `ScriptedCommands` does, one task each. A task takes no time but at its gates.

    Notices of ends, and of what watched tasks print, are made at once. After `aclose` nothing plays.
    """

    def __init__(self, scripts: Mapping[str, CommandScript] | Callable[[Command], CommandScript]) -> None:
        self._scripts = scripts
        self._played: dict[str, _Played] = {}
        self._notices: dict[str, list[str]] = {}
        self._closed = False
        self._listener: Callable[[str], None] = lambda owner: None

    @property
    def running(self) -> int:
        """How many have begun and not ended in any way."""
        return sum(one.task.state == "running" for one in self._played.values())

    async def start(self, command: Command, *, description: str = "", watched: bool = False) -> CommandTask:
        """Begin to play the script of *command*."""
        if self._closed:
            raise OSError(errno.ESHUTDOWN, "the tasks are closed")
        script = script_of(self._scripts, command)
        if isinstance(script, OSError):
            raise script
        name = f"task_{len(self._played) + 1}"
        played = _Played(command, CommandTask(name, command.text, "running", None, 0, 0.0, description))
        self._played[name] = played
        played.playing = asyncio.ensure_future(self._play(played, script, watched=watched))
        return played.task

    def tasks(self, owner: str) -> tuple[CommandTask, ...]:
        """See `CommandTasks.tasks`; none is forgotten."""
        return tuple(one.task for one in self._played.values() if one.command.owner == owner)

    async def wait(self, task: str, owner: str, timeout_s: float) -> CommandTask:
        """See `CommandTasks.wait`; the time is real."""
        found = self._find(task, owner)
        if found.playing is not None:
            await asyncio.wait([found.playing], timeout=timeout_s)
        return found.task

    def read(self, task: str, owner: str, *, offset: int | None, limit: int) -> TaskText:
        """See `CommandTasks.read`."""
        data = bytes(self._find(task, owner).data)
        start = max(0, len(data) - limit) if offset is None else min(offset, len(data))
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        end = min(len(data), start + limit)
        while start < end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        return TaskText(data[start:end].decode(), start, end, len(data))

    async def stop(self, task: str, owner: str) -> CommandTask:
        """See `CommandTasks.stop`."""
        found = self._find(task, owner)
        await self._stop(found)
        return found.task

    def notices(self, owner: str) -> tuple[str, ...]:
        """See `CommandTasks.notices`."""
        return tuple(self._notices.pop(owner, ()))

    def listen(self, listener: Callable[[str], None]) -> None:
        """See `CommandTasks.listen`."""
        self._listener = listener

    async def aclose(self) -> None:
        """Stop all."""
        self._closed = True
        for played in self._played.values():
            await self._stop(played)
        self._played.clear()

    def _find(self, name: str, owner: str) -> _Played:
        found = self._played.get(name)
        if found is None or found.command.owner != owner:
            there_are = ", ".join(task.id for task in self.tasks(owner)) or "none"
            raise UnknownTask(f"there is no task {name!r}; there are: {there_are}")
        return found

    async def _stop(self, played: _Played) -> None:
        if played.task.state == "running":
            played.task = evolve(played.task, state="killed", status=-15)
        if played.playing is not None:
            played.playing.cancel()
            await asyncio.wait([played.playing])

    async def _play(self, played: _Played, script: CommandScript, *, watched: bool) -> None:
        status = 0
        for scripted in steps_of(script):
            step = await scripted if isinstance(scripted, Gate) else scripted
            text = step.output if isinstance(step, CommandEnd) else step if isinstance(step, str) else ""
            played.data += text.encode()
            played.task = evolve(played.task, size=len(played.data))
            if watched and text:
                self._notice(played, f"{played.task.id} prints:\n{text}")
            if isinstance(step, CommandEnd | int):
                status = step if isinstance(step, int) else step.status or 0
        state: TaskState = "completed" if status == 0 else "failed"
        played.task = evolve(played.task, state=state, status=status)
        self._notice(played, f"{played.task.id} has ended: {state}.")

    def _notice(self, played: _Played, text: str) -> None:
        owner = played.command.owner
        self._notices.setdefault(owner, []).append(text)
        self._listener(owner)
