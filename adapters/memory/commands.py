"""Shell commands that nobody runs."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.ports.clock import Clock
from norma.ports.commands import Command, CommandEnd, CommandRunner

Step: TypeAlias = str | int | CommandEnd | OSError | Gate
CommandScript: TypeAlias = Step | Sequence[Step]
"""
What a command does: a text is output, a gate waits, a number is its exit status (0 if none comes),
an error means that it can't be started. A `CommandEnd` is the whole of it.
"""


class ScriptedCommands(CommandRunner):
    """
    Plays *scripts*, by the command's text or made by a function. A command without one is an
    AssertionError. Deadlines are those of *clock*.
    """

    def __init__(
        self,
        scripts: Mapping[str, CommandScript] | Callable[[Command], CommandScript],
        *,
        clock: Clock | None = None,
    ) -> None:
        self._scripts = scripts
        self._clock: Clock = ManualClock() if clock is None else clock
        self._started = Counter()
        self.commands: list[Command] = []
        """Every command that was asked for, in order."""
        self.running = 0
        """How many have begun and not ended in any way."""

    async def started(self, commands: int = 1) -> None:
        """Return as soon as that many commands were asked for."""
        await self._started.reached(commands)

    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        """Play the script of *command*."""
        self.commands.append(command)
        steps = steps_of(script_of(self._scripts, command))
        self.running += 1
        self._started.add()
        said: list[str] = []

        def say(text: str) -> None:
            said.append(text)
            output(text)

        try:
            if command.timeout_s is None:
                return await _play(steps, say, said)
            return await self._until(command.timeout_s, _play(steps, say, said), said)
        finally:
            self.running -= 1

    async def _until(
        self, seconds: float, playing: Coroutine[Any, Any, CommandEnd], said: list[str]
    ) -> CommandEnd:
        play, deadline = asyncio.ensure_future(playing), asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait([play, deadline], return_when=asyncio.FIRST_COMPLETED)
            if play.done():
                return play.result()
            return CommandEnd(-15, "".join(said), timed_out=True)
        finally:
            for task in (play, deadline):
                task.cancel()
            await asyncio.gather(play, deadline, return_exceptions=True)


def script_of(
    scripts: Mapping[str, CommandScript] | Callable[[Command], CommandScript], command: Command
) -> CommandScript:
    """What *command* does; an AssertionError if nobody said."""
    if callable(scripts):
        return scripts(command)
    if command.text not in scripts:
        raise AssertionError(f"nobody scripted this command: {command.text}")
    return scripts[command.text]


def steps_of(script: CommandScript) -> Sequence[Step]:
    """What it does, one by one."""
    return [script] if isinstance(script, str | int | CommandEnd | OSError | Gate) else script


async def _play(steps: Sequence[Step], say: Callable[[str], None], said: list[str]) -> CommandEnd:
    status = 0
    for scripted in steps:
        step = await scripted if isinstance(scripted, Gate) else scripted
        if isinstance(step, OSError):
            raise step
        if isinstance(step, CommandEnd):
            if step.output:
                say(step.output)
            return step
        if isinstance(step, str):
            say(step)
        elif isinstance(step, int):
            status = step
    return CommandEnd(status, "".join(said))
