"""A host's part in a tool call, without an engine: check the schema, examine, judge, run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.grep.ignoring import GitIgnore
from norma.adapters.memory.commands import ScriptedCommands
from norma.adapters.memory.search import ScriptedSearch
from norma.adapters.schemas.checks import SchemaChecks
from norma.domain.model.actions import Action, tool_digest
from norma.domain.model.blocks import text_of
from norma.domain.policy.policy import CurrentPolicy, Mode, Policy, ScopeRules, Verdict
from norma.domain.tools.catalogue import builtin_tools
from norma.ports.clock import Clock
from norma.ports.commands import CommandRunner, CommandTasks
from norma.ports.documents import Documents
from norma.ports.file_search import FileSearch
from norma.ports.tool import Tool, ToolOutput, ToolRun


class Host:
    """Owns a workspace over real files and the built-in tools; keeps the progress it was told."""

    def __init__(
        self,
        *roots: Path,
        deny: Sequence[str] = (),
        allow: Sequence[str] = (),
        mode: Mode = "default",
        search: FileSearch | None = None,
        commands: CommandRunner | None = None,
        tasks: CommandTasks | None = None,
        clock: Clock | None = None,
        documents: Documents | None = None,
    ) -> None:
        self.workspace = DiskWorkspace([str(root) for root in roots])
        self.policy = CurrentPolicy(
            Policy.of(mode, [ScopeRules("user", deny=tuple(deny), allow=tuple(allow))])
        )
        tools = builtin_tools(
            self.workspace,
            search or ScriptedSearch({}),
            commands or ScriptedCommands({}),
            self.policy,
            tasks=tasks,
            clock=clock,
            ignores=GitIgnore(),
            documents=documents,
        )
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in tools}
        self.progress: list[str] = []

    def fault(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """What the tool's schema says against *arguments*."""
        return SchemaChecks().compile(self.tools[name].spec.input_schema)(arguments)

    def examine(self, name: str, arguments: Mapping[str, Any]) -> Action:
        """What the call would do."""
        assert self.fault(name, arguments) is None
        return self.tools[name].examine(arguments)

    def judge(self, name: str, arguments: Mapping[str, Any]) -> Verdict:
        """What the policy says to it."""
        action = self.examine(name, arguments)
        return self.policy.policy.judge(action, tool_digest=tool_digest(self.tools[name].spec))

    async def run(self, name: str, arguments: Mapping[str, Any], session: str = "mine") -> ToolOutput:
        """Run it, whatever the policy says."""
        action = self.examine(name, arguments)
        return await self.tools[name].run(ToolRun(arguments, action, self.progress.append, session=session))

    async def text(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The words of the result, which must be no error."""
        output = await self.run(name, arguments)
        assert not output.is_error
        return text_of(output.blocks)
