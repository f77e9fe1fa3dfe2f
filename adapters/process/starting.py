"""A command that has been started: its process group and its output pipe, one owner."""

import errno
import os
import shutil
from collections.abc import Callable, Mapping

from norma.adapters.process.group import ProcessGroup
from norma.adapters.process.patience import Patience
from norma.adapters.process.pipe import OutputPipe
from norma.ports.commands import Command

INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "USER")
UNENDED = "\n[some processes of this command could not be ended and may still run]\n"


class Started:
    """
    A running command; *receive* gets its text. Its owner calls `end`, whatever happens.

    Raises OSError if it can't be started; nothing is left then.
    """

    def __init__(self, command: Command, added: Mapping[str, str], receive: Callable[[str], None]) -> None:
        reading, writing = os.pipe()
        self._pipe = OutputPipe(reading, receive)
        try:
            try:
                self.group = _start(command, _environment(added), writing)
            finally:
                os.close(writing)
        except BaseException:
            self._pipe.finish()
            raise

    @property
    def broken(self) -> Exception | None:
        """What *receive* raised."""
        return self._pipe.broken

    async def end(self, patience: Patience) -> bool:
        """End what still runs, then take the last of the output; whether all is gone."""
        try:
            return await self.group.end(patience)
        finally:
            self._pipe.finish()

    def kill(self) -> None:
        """End it at once, where nothing can be waited for any more."""
        self.group.kill()
        self._pipe.finish()


def _start(command: Command, environment: Mapping[str, str], output: int) -> ProcessGroup:
    path = environment.get("PATH", os.defpath)
    shell = shutil.which("bash", path=path) or shutil.which("sh", path=path)
    if shell is None:
        raise FileNotFoundError(errno.ENOENT, "neither bash nor sh is on PATH", path)
    try:
        # "--": a command that begins with a dash is no option of the shell.
        return ProcessGroup(
            (shell, "-c", "--", command.text), cwd=command.cwd, env=environment, output=output
        )
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        size = len(command.text.encode())
        words = f"{error.strerror}: the command has {size} bytes; write it to a file and run that"
        raise OSError(errno.E2BIG, words) from error
    except ValueError as error:
        raise OSError(errno.EINVAL, f"the command can't be passed to a shell: {error}") from error


def _environment(added: Mapping[str, str]) -> dict[str, str]:
    """PATH, HOME, LANG, TMPDIR and USER of this process, TERM=dumb, and then *added*."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, "TERM": "dumb", **added}
