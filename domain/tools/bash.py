"""The Bash tool: one shell command, in the foreground."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import ANY_EFFECT, Action, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.rules import command_rule
from norma.domain.tools.limits import counted
from norma.domain.tools.places import printable, reason
from norma.domain.tools.ruinous import ruin
from norma.domain.tools.schemas import inputs, whole, words
from norma.domain.tools.write import require_encodable
from norma.ports.commands import Command, CommandEnd, CommandRunner
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import Workspace
from norma.ports.tool import Tool, ToolOutput, ToolRun

TIMEOUT_MS = 120_000
MOST_MS = 600_000

SPEC = ToolSpec(
    "Bash",
    "Run a command with bash in the first workspace root and wait for its end. Each call is a new shell "
    "without input; what it leaves running is ended. Output and errors come together; of a long output the "
    "middle is left out. To read, write or search files use the other tools.",
    inputs(
        {"command": words("The command line.")},
        {
            "timeout_ms": whole(
                f"Milliseconds until the command is ended, {TIMEOUT_MS} if not given.",
                minimum=1,
                maximum=MOST_MS,
            )
        },
    ),
)


class Bash(Tool):
    """
    May do anything, so the policy decides on the text of the command.

    A few commands that ruin the machine are refused outright. That is a net for accidents and no
    boundary: text does not tell what a program does.
    """

    def __init__(self, workspace: Workspace, commands: CommandRunner) -> None:
        self._workspace = workspace
        self._commands = commands

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits()

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        command: str = arguments["command"]
        if not command.strip():
            raise Refused("The command is empty.")
        if "\0" in command:
            raise Refused("A command can't have a NUL character inside.")
        require_encodable(command, "command")
        danger = ruin(command)
        if danger is not None:
            raise Refused(f"The command would {danger}; it is refused whatever the permissions are.")
        return Action(
            "Bash",
            ANY_EFFECT,
            shows=f"{command}\n(in {printable(self._workspace.roots[0])})",
            rule=command_rule(command),
            command=command,
        )

    async def run(self, run: ToolRun) -> ToolOutput:
        command = run.action.command
        if command is None:
            raise ToolFailed("There is no command in the action to run.")
        timeout_s = int(run.arguments.get("timeout_ms", TIMEOUT_MS)) / 1000
        try:
            end = await self._commands.run(
                Command(command, self._workspace.roots[0], timeout_s), run.progress
            )
        except OSError as error:
            raise ToolFailed(f"The command could not be started: {reason(error)}.") from error
        return ToolOutput.of(_view(end, timeout_s), is_error=end.timed_out or end.status != 0)


def _view(end: CommandEnd, timeout_s: float) -> str:
    lines = [end.output.removesuffix("\n")] if end.output else ["[no output]"]
    if end.omitted:
        lines.append(
            f"[{counted(end.omitted, 'character')} of the output left out; to see all of it, "
            "send it to a file and Read that]"
        )
    if end.timed_out:
        lines.append(f"[ended after {timeout_s:g} s, which was its time limit]")
    lines.append(f"[exit code {end.status}]" if end.status >= 0 else f"[ended by signal {-end.status}]")
    return "\n".join(lines)
