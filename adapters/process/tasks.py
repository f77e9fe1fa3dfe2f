"""Commands that run beside the conversation, over real process groups."""

import asyncio
import errno
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from norma.adapters.process.patience import Patience
from norma.adapters.process.spill import MOST_BYTES, Spill
from norma.ports.commands import Command, CommandTask, CommandTasks, TaskText, UnknownTask

if TYPE_CHECKING:  # imported by the first command: this is made with every engine
    from norma.adapters.process.starting import Started
    from norma.adapters.process.task import ShellTask

KEPT_ENDED = 50
"""Of each owner; older ones are forgotten, and their files removed."""
MOST_NOTICES = 50
"""That wait for an owner; older ones are dropped."""
log = logging.getLogger("norma.process")


class ShellTasks(CommandTasks):
    """
    The tasks of one engine; whoever made it calls `aclose`.

    Output is kept in files below *folder* (by default the one for temporary files), in a folder of their own
    that only this user can read, at most *most_bytes* each; a task that prints more is ended as failed.
    *environment* is as for `ShellRunner`.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        folder: str | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._above = folder
        self.environment = dict(environment or {})
        self._listener: Callable[[str], None] = _nobody
        self._most_bytes = most_bytes
        self._folder: str | None = None
        self._last_file = 0
        self._last_task = 0
        self._tasks: dict[str, ShellTask] = {}
        self._notices: dict[str, list[str]] = {}
        self._closed = False

    async def start(self, command: Command, *, description: str = "", watched: bool = False) -> CommandTask:
        from norma.adapters.process.lines import Lines
        from norma.adapters.process.starting import Started

        spill = self.spill(room=0)
        lines = Lines(lambda said: self._notice(command.owner, f"{task.called} prints:\n{said}"))

        def receive(text: str) -> None:
            spill.add(text)
            if watched:
                lines.add(text)
            task.look()

        def over(task: "ShellTask") -> None:
            lines.finish()  # its last lines are told before its end
            self._over(task)

        started = Started(command, self.environment, receive)
        task = self._new(command, spill, description, 0.0)
        task.begin(started, over)
        task.ended.add_done_callback(lambda _: lines.finish())
        return task.info()

    def spill(self, room: int) -> Spill:
        """Where a command's output can be kept. Raises OSError if this is closed."""
        if self._closed:
            raise OSError(errno.ESHUTDOWN, "the session is being closed, so nothing is started any more")
        return Spill(self._place, room, self._most_bytes)

    def adopt(self, started: "Started", command: Command, spill: Spill, *, seconds: float) -> "ShellTask":
        """Take over a command that has run for *seconds*, without waiting; from now on it is ended here."""
        task = self._new(command, spill, "", seconds)
        task.begin(started, self._over)
        return task

    def keep(self, command: Command, spill: Spill, status: int, seconds: float) -> "ShellTask":
        """Take over the output of a command that has ended."""
        task = self._new(command, spill, "", seconds)
        task.end(status)
        self._forget_old(command.owner)
        return task

    def tasks(self, owner: str) -> tuple[CommandTask, ...]:
        return tuple(task.info() for task in self._of(owner))

    async def wait(self, task: str, owner: str, timeout_s: float) -> CommandTask:
        found = self._find(task, owner)
        await asyncio.wait({found.ended}, timeout=timeout_s)
        return found.info()

    def read(self, task: str, owner: str, *, offset: int | None, limit: int) -> TaskText:
        spill = self._find(task, owner).spill
        data, start = spill.read(offset, limit)
        return TaskText(data.decode("utf-8", "replace"), start, start + len(data), spill.size)

    async def stop(self, task: str, owner: str) -> CommandTask:
        found = self._find(task, owner)
        found.stop()
        await asyncio.wait({found.ended})
        return found.info()

    def notices(self, owner: str) -> tuple[str, ...]:
        return tuple(self._notices.pop(owner, ()))

    def listen(self, listener: Callable[[str], None]) -> None:
        self._listener = listener

    async def aclose(self) -> None:
        self._closed = True
        patience = Patience()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.stop()
        for task in tasks:
            await patience.until(task.over)
            task.spill.discard()
        self._tasks.clear()
        if self._folder is not None:
            folder, self._folder = self._folder, None
            try:
                os.rmdir(folder)
            except OSError as error:
                log.warning("the folder for output of commands stays: %s", error)
        patience.release()

    def _place(self) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="norma-", dir=self._above)
        self._last_file += 1
        return os.path.join(self._folder, f"output_{self._last_file}.txt")

    def _new(self, command: Command, spill: Spill, description: str, seconds: float) -> "ShellTask":
        from norma.adapters.process.task import ShellTask

        self._last_task += 1
        task = ShellTask(f"task_{self._last_task}", command, spill, description, seconds)
        self._tasks[task.id] = task
        return task

    def _over(self, task: "ShellTask") -> None:
        """A task has ended by itself or by a limit."""
        owner = task.command.owner
        self._notice(owner, f"{task.called} has ended: {task.outcome}. TaskOutput shows what it printed.")
        self._forget_old(owner)

    def _notice(self, owner: str, text: str) -> None:
        if self._closed:
            return
        waiting = self._notices.setdefault(owner, [])
        waiting.append(text)
        del waiting[:-MOST_NOTICES]
        try:
            self._listener(owner)
        except Exception:
            log.exception("telling of a task failed; the notice is kept for the next tool result")

    def _of(self, owner: str) -> "list[ShellTask]":
        return [task for task in self._tasks.values() if task.command.owner == owner]

    def _find(self, name: str, owner: str) -> "ShellTask":
        found = self._tasks.get(name)
        if found is None or found.command.owner != owner:
            there_are = ", ".join(task.id for task in self._of(owner)) or "none"
            raise UnknownTask(f"there is no task {name!r}; there are: {there_are}")
        return found

    def _forget_old(self, owner: str) -> None:
        ended = [task for task in self._of(owner) if task.ended.done()]
        for task in ended[: max(0, len(ended) - KEPT_ENDED)]:
            task.spill.discard()
            del self._tasks[task.id]


def _nobody(owner: str) -> None:
    """Nobody listens; notices are taken with `notices`."""
