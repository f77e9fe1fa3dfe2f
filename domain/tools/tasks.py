"""The tools for commands that run beside the conversation: TaskOutput, TaskStop, TaskList, Monitor."""

from collections.abc import Mapping, Sequence
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.tools.bash import COMMAND, bracketed, command_action, command_of, started
from norma.domain.tools.limits import LONGEST_WAIT_S, OUTPUT_CHARACTERS, counted
from norma.domain.tools.places import printable
from norma.domain.tools.schemas import flag, inputs, text, whole, words
from norma.ports.commands import Command, CommandTask, CommandTasks, TaskText, UnknownTask
from norma.ports.errors import ToolFailed
from norma.ports.files import Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

WAIT_MS = 30_000
MOST_MS = 600_000
MOST_SHOWN = 300
"""Characters of each task's command in a list."""

TASK_OUTPUT = ToolSpec(
    "TaskOutput",
    "Show what a task has printed, and whether it still runs. Without offset the last part is shown; the "
    "answer names the offset to go on from. Of a Bash call whose output was too long, it shows the whole.",
    inputs(
        {"task_id": words("The task, as Bash or TaskList names it.")},
        {
            "offset": whole("The byte of the output to start from.", minimum=0),
            "max_bytes": whole(
                f"How much to show, {OUTPUT_CHARACTERS} if not given.", minimum=4, maximum=OUTPUT_CHARACTERS
            ),
            "block": flag("Wait for the end of the task first."),
            "timeout_ms": whole(
                f"How long to wait at most, {WAIT_MS} if not given.", minimum=1, maximum=MOST_MS
            ),
        },
    ),
)
TASK_STOP = ToolSpec(
    "TaskStop",
    "End a task and whatever it started.",
    inputs({}, {"task_id": text("The task; all that run if not given.")}),
)
TASK_LIST = ToolSpec("TaskList", "List the tasks of this session.", inputs({}))
MONITOR = ToolSpec(
    "Monitor",
    "Run a command with bash as a task and be told of the lines it prints, as they come. For logs and for "
    "waiting until something happens; print little. For other commands use Bash.",
    inputs(
        {"command": COMMAND},
        {"description": text("What is watched for, in a few words.")},
    ),
)


class _TaskTool(Tool):
    """Deals with what a person has permitted already: it touches nothing that the engine did not start."""

    def __init__(self, tasks: CommandTasks) -> None:
        self._tasks = tasks

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        name = self.spec.name
        return Action(name, Effects(), f"{name} {printable(arguments.get('task_id') or 'all')}", name)

    def _noted(self, lines: Sequence[str], session: str) -> ToolOutput:
        return ToolOutput.of("\n".join([*lines, *bracketed(self._tasks.notices(session))]))


class TaskOutput(_TaskTool):
    """Reads the output of a task of the same session."""

    @property
    def spec(self) -> ToolSpec:
        return TASK_OUTPUT

    async def run(self, run: ToolRun) -> ToolOutput:
        name: str = run.arguments["task_id"]
        blocks = run.arguments.get("block", False)
        timeout_s = int(run.arguments.get("timeout_ms", WAIT_MS)) / 1000 if blocks else 0.0
        timeout_s = min(timeout_s, LONGEST_WAIT_S)
        offset = run.arguments.get("offset")
        limit = int(run.arguments.get("max_bytes", OUTPUT_CHARACTERS))
        try:
            task = await self._tasks.wait(name, run.session, timeout_s)
            piece = self._tasks.read(
                name, run.session, offset=None if offset is None else int(offset), limit=limit
            )
        except UnknownTask as error:
            raise ToolFailed(_unknown(error)) from error
        return self._noted([*_shown(piece, offset is not None), f"[{_state(task)}]"], run.session)


class TaskStop(_TaskTool):
    """Ends tasks of the same session."""

    @property
    def spec(self) -> ToolSpec:
        return TASK_STOP

    async def run(self, run: ToolRun) -> ToolOutput:
        name = run.arguments.get("task_id") or ""
        running = [task.id for task in self._tasks.tasks(run.session) if task.state == "running"]
        try:
            ended = [await self._tasks.stop(one, run.session) for one in ([name] if name else running)]
        except UnknownTask as error:
            raise ToolFailed(_unknown(error)) from error
        return self._noted([_state(task) for task in ended] or ["No task is running."], run.session)


class TaskList(_TaskTool):
    """Lists the tasks of the same session."""

    @property
    def spec(self) -> ToolSpec:
        return TASK_LIST

    async def run(self, run: ToolRun) -> ToolOutput:
        tasks = self._tasks.tasks(run.session)
        lines = [f"{_state(task)}\t{counted(task.size, 'byte')}\t{_called(task)}" for task in tasks]
        return self._noted(lines or ["There are no tasks."], run.session)


class Monitor(Tool):
    """Starts a command as Bash does, and is judged by the same rules."""

    def __init__(self, workspace: Workspace, tasks: CommandTasks) -> None:
        self._workspace = workspace
        self._tasks = tasks

    @property
    def spec(self) -> ToolSpec:
        return MONITOR

    @property
    def traits(self) -> Traits:
        return Traits()

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        return command_action("Monitor", arguments["command"], self._workspace)

    async def run(self, run: ToolRun) -> ToolOutput:
        command = Command(command_of(run), self._workspace.roots[0], None, owner=run.session)
        description = run.arguments.get("description") or ""
        return await started(self._tasks, command, description=description, watched=True)


def _unknown(error: UnknownTask) -> str:
    words = str(error.args[0]) if error.args else "there is no such task"
    return f"{words[0].upper()}{words[1:]}."


def _shown(piece: TaskText, from_offset: bool) -> list[str]:
    lines = [piece.text.removesuffix("\n")] if piece.text else ["[nothing printed]" if not piece.size else ""]
    if not piece.text and piece.size:
        lines = [f"[nothing behind byte {piece.start}]"]
    if piece.start and not from_offset:
        lines.insert(0, f"[{counted(piece.start, 'byte')} before this; offset=0 shows them]")
    left = piece.size - piece.end
    if left:
        lines.append(f"[{counted(left, 'more byte')}; continue with offset={piece.end}]")
    elif piece.size:
        lines.append(f"[up to byte {piece.end}; what comes later: offset={piece.end}]")
    return lines


def _state(task: CommandTask) -> str:
    if task.state == "running":
        return f"{task.id} is running, for {task.seconds:.0f} s"
    how = ""
    if task.status is not None:
        how = f", exit code {task.status}" if task.status >= 0 else f", ended by signal {-task.status}"
    return f"{task.id} {task.state} after {task.seconds:.0f} s{how}" + (f" ({task.why})" if task.why else "")


def _called(task: CommandTask) -> str:
    words = printable(task.description or task.command)
    return words if len(words) <= MOST_SHOWN else f"{words[:MOST_SHOWN]}…"
