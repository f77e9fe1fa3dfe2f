"""
The command port: one shell command, its output, its end.

Above: the Bash tool. Below: a real process group, or a double.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from attrs import frozen


@frozen
class Command:
    """*text* is given to the shell as it is. *timeout_s* is None for no deadline."""

    text: str
    cwd: str
    timeout_s: float | None = 120.0


@frozen
class CommandEnd:
    """
    How a command ended. *output* is stdout and stderr as they came, its middle left out where it
    was too long (*omitted* characters). *status* is the exit status, negative for a signal.
    """

    status: int
    output: str
    omitted: int = 0
    timed_out: bool = False


class CommandRunner(Protocol):
    """Runs shell commands, each in a process group of its own with a minimal environment and no input."""

    @abstractmethod
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        """
        Run *command* to its end; *output* gets its text as it comes.

        At the deadline, and when cancelled, the whole process group is ended (TERM, then KILL
        after a second at most) and waited for; nothing is left behind.

        Raises OSError if it can't be started at all.
        """
