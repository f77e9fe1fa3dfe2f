"""The command port over real processes (POSIX)."""

import asyncio
from collections.abc import Callable, Mapping

from norma.adapters.process.output import HeadAndTail
from norma.adapters.process.patience import Patience
from norma.adapters.process.spill import Spill
from norma.adapters.process.starting import UNENDED, Started
from norma.adapters.process.tasks import ShellTasks
from norma.ports.commands import Command, CommandEnd, CommandRunner

KEPT_CHARACTERS = 28_000
"""With the tool's own lines it stays under what one tool result may hold."""


class ShellRunner(CommandRunner):
    """
    Runs each command in `bash -c` (in `sh` where bash is missing), in a session of its own.

    The environment is PATH, HOME, LANG, TMPDIR and USER of this process, TERM=dumb, and then
    *environment*. Keys and tokens of the host are not passed on unless they are named there.

    *tasks* takes over commands that are left running, and the whole of an output that is too long to
    be given back. Without it nothing is left running, whatever a command wishes.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, *, tasks: ShellTasks | None = None
    ) -> None:
        self._added = dict(environment or {})
        self._tasks = tasks

    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        spill = self._tasks.spill(room=KEPT_CHARACTERS) if self._tasks is not None else None
        said = _Said(output, spill)
        try:
            return await self._run(command, said)
        finally:
            said.close()

    async def _run(self, command: Command, said: "_Said") -> CommandEnd:
        loop = asyncio.get_running_loop()
        began = loop.time()
        patience = Patience()
        started = Started(command, self._added, said)
        # No await since the start, so no cancel either.
        left = False
        all_gone = True
        try:
            in_time = await started.group.exited(command.timeout_s)
            left = not in_time and command.leaves and self._tasks is not None and started.broken is None
        finally:
            if not left:
                all_gone = await started.end(patience)
        if left and self._tasks is not None:
            task = self._tasks.adopt(started, command, said.handed_over(), seconds=loop.time() - began)
            said.full = task.look
            return CommandEnd(None, said.kept.text(), said.kept.omitted, timed_out=True, task=task.id)
        patience.release()
        if started.broken is not None:
            raise started.broken
        if not all_gone:
            said.kept.add(UNENDED)
        status = started.group.status
        kept = None
        if self._tasks is not None and said.spill is not None and said.kept.omitted:
            kept = self._tasks.keep(command, said.handed_over(), status, loop.time() - began).id
        return CommandEnd(status, said.kept.text(), said.kept.omitted, timed_out=not in_time, task=kept)


class _Said:
    """What a command has said: to whoever watches, the part to give back, and the whole of it."""

    def __init__(self, tell: Callable[[str], None], spill: Spill | None) -> None:
        self.kept = HeadAndTail(KEPT_CHARACTERS)
        self.spill = spill
        self.full: Callable[[], None] = _nothing
        self._tell: Callable[[str], None] | None = tell
        self._given_away = False

    def __call__(self, text: str) -> None:
        self.kept.add(text)
        if self.spill is not None:
            self.spill.add(text)
        self.full()
        if self._tell is not None:
            self._tell(text)

    def handed_over(self) -> Spill:
        """The whole, which somebody else owns from now on; nobody is told any more."""
        assert self.spill is not None
        self._given_away = True
        self._tell = None
        return self.spill

    def close(self) -> None:
        """Give back what nobody took over."""
        self._tell = None
        if self.spill is not None and not self._given_away:
            self.spill.discard()


def _nothing() -> None:
    """The output may grow."""
