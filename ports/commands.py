"""
The command ports: one shell command, its output, its end; and commands that outlive their call.

Above: the Bash tool and the tools of tasks. Below: real process groups, or doubles.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from norma.domain.model.values import frozen


@frozen
class Command:
    """
    *text* is given to the shell as it is. *timeout_s* is None for no deadline.

    *leaves*: at the deadline it is left running as a task of *owner*, where the runner can do that.
    """

    text: str
    cwd: str
    timeout_s: float | None = 120.0
    owner: str = ""
    leaves: bool = False


@frozen
class CommandEnd:
    """
    How a command ended. *output* is stdout and stderr as they came, its middle left out where it
    was too long (*omitted* characters). *status* is the exit status, negative for a signal, None if it
    still runs.

    *task* is set if it still runs or if its whole output was kept: a `CommandTasks` knows it by that id.
    """

    status: int | None
    output: str
    omitted: int = 0
    timed_out: bool = False
    task: str | None = None


class CommandRunner(Protocol):
    """Runs shell commands, each in a process group of its own with a minimal environment and no input."""

    @abstractmethod
    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        """
        Run *command* to its end; *output* gets its text as it comes.

        At the deadline (unless the command *leaves*), and when cancelled, the whole process group is
        ended (TERM, then KILL after a second at most) and waited for; nothing is left behind.

        Raises OSError if it can't be started at all.
        """


TaskState: TypeAlias = Literal["running", "completed", "failed", "killed"]
"""completed: with status 0. killed: by `stop`."""


@frozen
class CommandTask:
    """
    A command that runs beside the conversation, or ran. *size* is what it has printed so far, in bytes
    of UTF-8 as far as it could be kept; *seconds* how long it has run. *why* says what ended it if that
    was not its own end, and what of its output was lost.
    """

    id: str
    command: str
    state: TaskState
    status: int | None
    size: int
    seconds: float
    description: str = ""
    why: str = ""


@frozen
class TaskText:
    """A piece of a task's output, from byte *start* up to *end* of *size*; whole characters only."""

    text: str
    start: int
    end: int
    size: int


class UnknownTask(LookupError):
    """The owner has no such task; the message names those that there are."""


class CommandTasks(Protocol):
    """
    Commands that run on by themselves. Each has an owner (a session), who alone can see it.

    They end by themselves, by `stop`, or at the latest when `aclose` has returned. A cancelled caller
    of any of these leaves them running.
    """

    @abstractmethod
    async def start(self, command: Command, *, description: str = "", watched: bool = False) -> CommandTask:
        """
        Start *command* for its owner; its deadline does not count. *watched*: what it prints becomes notices.

        Raises OSError if it can't be started, or if this is closed.
        """

    @abstractmethod
    def tasks(self, owner: str) -> tuple[CommandTask, ...]:
        """All tasks of *owner*, in the order of their start. Of those that ended the oldest are forgotten."""

    @abstractmethod
    async def wait(self, task: str, owner: str, timeout_s: float) -> CommandTask:
        """The task at its end, or as it is after *timeout_s*. Raises UnknownTask."""

    @abstractmethod
    def read(self, task: str, owner: str, *, offset: int | None, limit: int) -> TaskText:
        """
        At most *limit* bytes (4 or more) of its output from *offset* on, None: the last ones.

        Answers at once. Raises UnknownTask.
        """

    @abstractmethod
    async def stop(self, task: str, owner: str) -> CommandTask:
        """End its process group, and return it when that is gone. One that has ended stays as it is."""

    @abstractmethod
    def notices(self, owner: str) -> tuple[str, ...]:
        """What *owner* should hear of since the last call: ends, and lines of watched tasks."""

    @abstractmethod
    def listen(self, listener: Callable[[str], None]) -> None:
        """Tell *listener* the owner whenever there is a notice for it. There is one listener."""

    @abstractmethod
    async def aclose(self) -> None:
        """End every task, wait, and remove what they left on the disk. Later starts are refused."""
