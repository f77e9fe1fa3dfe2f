"""One task: a command that somebody watches to its end."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from norma.adapters.process.patience import Patience
from norma.adapters.process.spill import Spill
from norma.adapters.process.starting import Started
from norma.ports.commands import Command, CommandTask, TaskState

NAMED_BY = 80
"""Characters of its description or command."""


class ShellTask:
    """One command, *seconds* after its start: watched from `begin` on, or ended already."""

    def __init__(self, name: str, command: Command, spill: Spill, description: str, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.id = name
        self.command = command
        self.spill = spill
        self.description = description
        self.ended: asyncio.Future[None] = loop.create_future()
        """Done when its processes are gone and its output is complete."""
        self.over: asyncio.Future[None] = self.ended
        self._loop = loop
        self._began = loop.time() - seconds
        self._seconds: float | None = None
        self._state: TaskState = "running"
        self._status: int | None = None
        self._why = ""
        self._watched = False
        self._wish: asyncio.Future[Literal["killed", "failed"]] = loop.create_future()

    @property
    def called(self) -> str:
        """How a notice names it."""
        words = self.description or self.command.text.strip().splitlines()[0]
        return f"{self.id} ({' '.join(words.split())[:NAMED_BY]})"

    @property
    def outcome(self) -> str:
        """How it ended, in a clause."""
        how = "" if self._status is None else f"exit code {self._status}"
        if self._status is not None and self._status < 0:
            how = f"ended by signal {-self._status}"
        return ", ".join(part for part in (self._state, how, self._ending()) if part)

    def begin(self, started: Started, told: Callable[["ShellTask"], None]) -> None:
        """Own *started* until its end; *told* hears of an end that nobody asked for."""
        watching = self._loop.create_task(self._watch(started, told), name=f"norma {self.id}")
        watching.add_done_callback(lambda _: self._never_watched(started))
        self.over = watching

    def end(self, status: int) -> None:
        """It has ended already."""
        self._seconds = self._loop.time() - self._began
        self._settle(status)

    def stop(self) -> None:
        """Have it ended soon."""
        if not self._wish.done():
            self._wish.set_result("killed")

    def look(self) -> None:
        """Have it ended if it has printed too much."""
        if self.spill.full and not self._wish.done():
            self._why = "it printed too much"
            self._wish.set_result("failed")

    def info(self) -> CommandTask:
        """As it is now."""
        seconds = self._loop.time() - self._began if self._seconds is None else self._seconds
        return CommandTask(
            self.id,
            self.command.text,
            self._state,
            self._status,
            self.spill.size,
            seconds,
            self.description,
            self._ending(),
        )

    async def _watch(self, started: Started, told: Callable[["ShellTask"], None]) -> None:
        self._watched = True
        patience = Patience()
        by_itself = False
        try:
            ends: set[asyncio.Future[Any]] = {started.group.exit, self._wish}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            by_itself = started.group.exit.done()
        finally:
            all_gone = await started.end(patience)
            if not all_gone:
                self._why = "some of its processes could not be ended"
            self._seconds = self._loop.time() - self._began
            if not by_itself:
                self._state = self._wish.result() if self._wish.done() else "killed"
            self._settle(started.group.status)
        if self._state != "killed":
            told(self)
        patience.release()

    def _settle(self, status: int) -> None:
        self._status = status
        if self._state == "running":
            self._state = "completed" if status == 0 else "failed"
        self.ended.set_result(None)

    def _never_watched(self, started: Started) -> None:
        """A task that is cancelled before its first step runs no line of its own: a loop that shuts down."""
        if not self._watched:
            started.kill()
            self._state = "killed"
            self._settle(started.group.status)

    def _ending(self) -> str:
        """What ended it, and what of its output was lost."""
        trouble = self.spill.trouble
        lost = f"not all of its output could be kept ({trouble.strerror})" if trouble is not None else ""
        if self.spill.full:
            lost = f"only the first {self.spill.most} bytes of its output were kept"
        return "; ".join(part for part in (self._why, lost) if part)
