"""The tool servers keep the promises of their port, and each wrong one is caught by the check for it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.tool_server import Answer, ScriptedServer, ServerDied
from norma.domain.model.failures import Failure
from norma.ports.contracts import tool_server
from norma.ports.contracts.pytest import broken_promise, contract
from norma.ports.contracts.tool_server import LATER, LISTED, READS, ToolServerRig
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import OutcomeUnknown, ServerFailed, ServerTool
from tests.rigs.mcp_servers import Servers, children

Rig = Callable[[str], AbstractAsyncContextManager[ToolServerRig]]


def scripted(kind: type[ScriptedServer]) -> Rig:
    @asynccontextmanager
    async def memory(folder: str) -> AsyncIterator[ToolServerRig]:
        def answers(tool: str, arguments: Mapping[str, Any]) -> Answer:
            match tool:
                case tool_server.FAILS:
                    return ToolOutput.of("no", is_error=True)
                case tool_server.ENDLESS:
                    return Forever()
                case tool_server.DIES:
                    return ServerDied()
                case tool_server.READS if [name for name, _ in made.calls].count(READS) == 1:
                    return ServerDied()
                case _:
                    return str(arguments.get("text", "done"))

        async def change() -> None:
            made.change(*LISTED, LATER)

        made = kind("s", tools=LISTED, answers=answers)
        yield ToolServerRig(made, lambda: [name for name, _ in made.calls], change, lambda: made.starts)
        await made.aclose()

    return memory


@asynccontextmanager
async def over_stdio(folder: str) -> AsyncIterator[ToolServerRig]:
    notes = Path(folder, "notes")
    notes.touch()  # noqa: ASYNC240 - a test's own folder
    program = Path(__file__).parents[1] / "rigs" / "contract_mcp_server.py"
    server = Servers(program.parent, Path(folder)).program(
        [sys.executable, str(program), str(notes)], restarts=9
    )

    def calls() -> list[str]:
        return [
            line.removeprefix("call ") for line in notes.read_text().splitlines() if line.startswith("call")
        ]

    async def change() -> None:
        notes.with_suffix(".changed").touch()

    yield ToolServerRig(
        server,
        calls,
        change,
        lambda: notes.read_text().splitlines().count("started"),
        lambda: f"processes {children()}" if children() else "",
    )
    await server.aclose()


test_tool_server = contract(tool_server.CHECKS, scripted(ScriptedServer), over_stdio)


class StartsTooEarly(ScriptedServer):
    async def _use(self) -> None:
        self._was_up = True
        await super()._use()


class ListsTwins(ScriptedServer):
    @property
    def tools(self) -> tuple[ServerTool, ...]:
        return (*super().tools, *super().tools)


class NewListEachTime(ScriptedServer):
    @property
    def tools(self) -> tuple[ServerTool, ...]:
        return tuple(one for one in super().tools)


class StartsAgain(ScriptedServer):
    async def connect(self) -> None:
        self._up = False
        await super().connect()


class RaisesErrors(ScriptedServer):
    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        output = await super().call(tool, arguments, progress)
        if output.is_error:
            raise ServerFailed(Failure("server", "it said no"))
        return output


class OnlyListed(ScriptedServer):
    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        if tool not in {one.name for one in self.tools}:
            raise ServerFailed(Failure("server", "unknown"))
        return await super().call(tool, arguments, progress)


class MixesAnswers(ScriptedServer):
    last: Mapping[str, Any] = {}

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        self.last = arguments
        await asyncio.sleep(0)
        return await super().call(tool, self.last, progress)


class KeepsItsFirstList(ScriptedServer):
    def change(self, *tools: ServerTool) -> None:
        pass


class RepeatsAll(ScriptedServer):
    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        try:
            return await super().call(tool, arguments, progress)
        except OutcomeUnknown:
            return await super().call(tool, arguments, progress)


class SaysThatItFailed(ScriptedServer):
    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        try:
            return await super().call(tool, arguments, progress)
        except OutcomeUnknown as error:
            raise ServerFailed(error.failure) from error


class NeverRepeats(ScriptedServer):
    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        try:
            return await super()._answer(tool, arguments)
        except ServerDied as error:
            raise OutcomeUnknown(Failure("server", "gone")) from error


class SwallowsCancel(ScriptedServer):
    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Any = None) -> ToolOutput:
        try:
            return await super().call(tool, arguments, progress)
        except asyncio.CancelledError:
            return ToolOutput.of("cancelled", is_error=True)


class OpensAgain(ScriptedServer):
    async def connect(self) -> None:
        self._closed = False
        await super().connect()


class ConnectsToClose(ScriptedServer):
    async def aclose(self) -> None:
        if not self._closed:
            await self.connect()
        await super().aclose()


WRONG: tuple[tuple[type[ScriptedServer], str], ...] = (
    (StartsTooEarly, "nothing_before_connect"),
    (ListsTwins, "p1_connect_lists_the_tools"),
    (NewListEachTime, "p1_connect_lists_the_tools"),
    (StartsAgain, "connect_again_starts_nothing"),
    (RaisesErrors, "p3_output_is_what_the_server_said"),
    (OnlyListed, "p3_output_is_what_the_server_said"),
    (MixesAnswers, "p3_many_calls_at_once"),
    (KeepsItsFirstList, "p2_changed_tools_are_seen"),
    (RepeatsAll, "p8_lost_outcome_is_unknown_and_not_repeated"),
    (SaysThatItFailed, "p8_lost_outcome_is_unknown_and_not_repeated"),
    (NeverRepeats, "p8_what_only_reads_is_repeated_once"),
    (SwallowsCancel, "p6_cancel_everywhere_in_a_call"),
    (OpensAgain, "p7_closed_for_good"),
    (ConnectsToClose, "p7_closed_before_it_was_connected"),
)


@pytest.mark.parametrize(("kind", "name"), WRONG, ids=lambda value: getattr(value, "__name__", value))
def test_wrong_tool_server_is_caught(kind: type[ScriptedServer], name: str, tmp_path: Path) -> None:
    (check,) = (one for one in tool_server.CHECKS if one.__name__ == f"check_{name}")
    said = broken_promise(check, scripted(kind), str(tmp_path))
    assert said is not None, f"check_{name} is content with it"
    print(f"{kind.__name__:25} {name:45} {said.splitlines()[0]:.100}")


def test_every_check_catches_something() -> None:
    assert {f"check_{name}" for _, name in WRONG} == {check.__name__ for check in tool_server.CHECKS}
