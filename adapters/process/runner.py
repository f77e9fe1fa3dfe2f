"""The command port over real processes (POSIX)."""

import errno
import os
import shutil
from collections.abc import Callable, Mapping

from norma.adapters.process.group import ProcessGroup
from norma.adapters.process.output import HeadAndTail
from norma.adapters.process.patience import Patience
from norma.adapters.process.pipe import OutputPipe
from norma.ports.commands import Command, CommandEnd, CommandRunner

KEPT_CHARACTERS = 28_000
"""With the tool's own lines it stays under what one tool result may hold."""
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "USER")


class ShellRunner(CommandRunner):
    """
    Runs each command in `bash -c` (in `sh` where bash is missing), in a session of its own.

    The environment is PATH, HOME, LANG, TMPDIR and USER of this process, TERM=dumb, and then
    *environment*. Keys and tokens of the host are not passed on unless they are named there.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._added = dict(environment or {})

    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        kept = HeadAndTail(KEPT_CHARACTERS)

        def receive(text: str) -> None:
            kept.add(text)
            output(text)

        patience = Patience()
        reading, writing = os.pipe()
        pipe = OutputPipe(reading, receive)
        try:
            try:
                group = self._start(command, writing)
            finally:
                os.close(writing)
            # No await since the start, so no cancel either.
            try:
                in_time = await group.exited(command.timeout_s)
            finally:
                all_gone = await group.end(patience)
        finally:
            pipe.finish()
        patience.release()
        if pipe.broken is not None:
            raise pipe.broken
        if not all_gone:
            kept.add("\n[some processes of this command could not be ended and may still run]\n")
        return CommandEnd(group.status, kept.text(), kept.omitted, timed_out=not in_time)

    def _start(self, command: Command, output: int) -> ProcessGroup:
        environment = self._environment()
        path = environment.get("PATH", os.defpath)
        shell = shutil.which("bash", path=path) or shutil.which("sh", path=path)
        if shell is None:
            raise FileNotFoundError(errno.ENOENT, "neither bash nor sh is on PATH", path)
        try:
            # "--": a command that begins with a dash is no option of the shell.
            return ProcessGroup(
                (shell, "-c", "--", command.text), cwd=command.cwd, env=environment, output=output
            )
        except ValueError as error:
            raise OSError(errno.EINVAL, f"the command can't be passed to a shell: {error}") from error

    def _environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {**inherited, "TERM": "dumb", **self._added}
