"""The Bash tool: one shell command, waited for or as a task."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from norma.domain.model.actions import ANY_EFFECT, Action, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import command_rule
from norma.domain.tools.limits import LONGEST_WAIT_S, counted
from norma.domain.tools.places import locate, printable, reason
from norma.domain.tools.ruinous import ruin
from norma.domain.tools.schemas import flag, inputs, whole, words
from norma.domain.tools.write import require_encodable
from norma.ports.commands import Command, CommandEnd, CommandRunner, CommandTasks
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

TIMEOUT_MS = 120_000
MOST_MS = 600_000

COMMAND = words("The command line.")
_TIMEOUT = whole(
    f"Milliseconds until the command is ended, {TIMEOUT_MS} if not given.", minimum=1, maximum=MOST_MS
)
_START = (
    "Run a command with bash in the first workspace root and wait for its end. Each call is a new shell "
    "without input; "
)
_OUTPUT = (
    "Output and errors come together; of a long output the middle is left out. To read, write or search "
    "files use the other tools."
)

SPEC = ToolSpec(
    "Bash",
    f"{_START}what it leaves running is ended. {_OUTPUT}",
    inputs({"command": COMMAND}, {"timeout_ms": _TIMEOUT}),
)
WITH_TASKS = ToolSpec(
    "Bash",
    f"{_START}what a command leaves running at its end is ended with it. A command that takes longer than "
    "its time limit goes on as a task (see TaskOutput); run_in_background makes it one at once, for "
    f"servers and long builds. {_OUTPUT}",
    inputs(
        {"command": COMMAND},
        {
            "timeout_ms": {
                **_TIMEOUT,
                "description": f"Milliseconds to wait for its end, {TIMEOUT_MS} if not given.",
            },
            "run_in_background": flag("Start it as a task and do not wait."),
        },
    ),
)


class Bash(Tool):
    """
    May do anything, so the policy decides on the text of the command.

    A few commands that ruin the machine are refused outright. That is a net for accidents and no
    boundary: text does not tell what a program does. Without *tasks* nothing runs in the background.
    """

    def __init__(
        self, workspace: Workspace, commands: CommandRunner, tasks: CommandTasks | None = None
    ) -> None:
        self._workspace = workspace
        self._commands = commands
        self._tasks = tasks

    @property
    def spec(self) -> ToolSpec:
        return SPEC if self._tasks is None else WITH_TASKS

    @property
    def traits(self) -> Traits:
        return Traits()

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        return command_action("Bash", arguments["command"], self._workspace)

    async def run(self, run: ToolRun) -> ToolOutput:
        timeout_s = int(run.arguments.get("timeout_ms", TIMEOUT_MS)) / 1000
        if self._tasks is not None:
            timeout_s = min(timeout_s, LONGEST_WAIT_S)  # it goes on all the same
        command = Command(
            command_of(run),
            self._workspace.roots[0],
            timeout_s,
            owner=run.session,
            leaves=self._tasks is not None,
        )
        if self._tasks is not None and run.arguments.get("run_in_background", False):
            return await started(self._tasks, command)
        try:
            end = await self._commands.run(command, run.progress)
        except OSError as error:
            raise not_started(error) from error
        notices = self._tasks.notices(run.session) if self._tasks is not None else ()
        failed = end.status != 0 and end.status is not None
        is_error = failed or (end.timed_out and end.status is not None)
        view = _view(end, timeout_s, self._lost(end, run.session))
        return ToolOutput.of("\n".join([view, *bracketed(notices)]), is_error=is_error)

    def _lost(self, end: CommandEnd, session: str) -> str:
        """What could not be kept of the output, in words."""
        tasks = self._tasks.tasks(session) if self._tasks is not None and end.task is not None else ()
        return next((task.why for task in tasks if task.id == end.task), "")


def command_action(tool: str, command: str, workspace: Workspace) -> Action:
    """What *tool* would do with *command*. Raises Refused for what is no command or must never run."""
    if not command.strip():
        raise Refused("The command is empty.")
    if "\0" in command:
        raise Refused("A command can't have a NUL character inside.")
    require_encodable(command, "command")
    danger = ruin(command)
    if danger is not None:
        raise Refused(f"The command would {danger}; it is refused whatever the permissions are.")
    root = workspace.roots[0]
    if locate(workspace, root).path != root:
        raise Refused(f"{printable(root)}, where commands run, has become a link to another place.")
    return Action(
        tool,
        ANY_EFFECT,
        shows=f"{command}\n(in {printable(root)})",
        rule=command_rule(command),
        command=command,
    )


def command_of(run: ToolRun) -> str:
    """The command that was judged."""
    if run.action.command is None:
        raise ToolFailed("There is no command in the action to run.")
    return run.action.command


async def started(
    tasks: CommandTasks, command: Command, *, description: str = "", watched: bool = False
) -> ToolOutput:
    """The result of a call that makes *command* a task."""
    try:
        task = await tasks.start(command, description=description, watched=watched)
    except OSError as error:
        raise not_started(error) from error
    told = "You will be told of what it prints and of its end" if watched else "You will be told of its end"
    more = f"{told}; TaskOutput shows its output, TaskStop ends it"
    return ToolOutput.of(
        "\n".join([f"Started as {task.id}. {more}.", *bracketed(tasks.notices(command.owner))])
    )


def not_started(error: OSError) -> ToolFailed:
    """What to say of a command that could not begin."""
    return ToolFailed(f"The command could not be started: {reason(error)}.")


def bracketed(notes: Iterable[str]) -> Iterator[str]:
    """Each note in square brackets."""
    return (f"[{note}]" for note in notes)


def _view(end: CommandEnd, timeout_s: float, lost: str) -> str:
    lines = [end.output.removesuffix("\n")] if end.output else ["[no output]"]
    if end.omitted:
        all_of_it = f"its beginning ({lost})" if lost else "all of it"
        how = (
            f"TaskOutput with task_id={end.task} and offset=0 shows {all_of_it}"
            if end.task is not None
            else "to see all of it, send it to a file and Read that"
        )
        lines.append(f"[{counted(end.omitted, 'character')} of the output left out; {how}]")
    if end.status is None:
        lines.append(
            f"[still running after {timeout_s:g} s; it goes on as {end.task}: TaskOutput shows more of its "
            "output, TaskStop ends it]"
        )
        return "\n".join(lines)
    if end.timed_out:
        lines.append(f"[ended after {timeout_s:g} s, which was its time limit]")
    lines.append(exit_line(end.status))
    return "\n".join(lines)


def exit_line(status: int) -> str:
    """How a command ended."""
    return f"[exit code {status}]" if status >= 0 else f"[ended by signal {-status}]"
