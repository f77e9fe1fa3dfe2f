"""The sleep tool: let time pass without holding a shell."""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.domain.tools.limits import LONGEST_WAIT_S, counted
from norma.domain.tools.schemas import inputs, whole
from norma.ports.clock import Clock
from norma.ports.tool import Tool, ToolOutput, ToolRun

SPEC = ToolSpec(
    "sleep",
    "Wait for some seconds. To wait for a task use TaskOutput with block, which returns at its end.",
    inputs({"seconds": whole("How long.", minimum=1, maximum=3600)}),
)


class Sleep(Tool):
    """Waits, and does nothing else."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        return Action("sleep", Effects(), f"wait for {counted(int(arguments['seconds']), 'second')}", "sleep")

    async def run(self, run: ToolRun) -> ToolOutput:
        seconds = int(run.arguments["seconds"])
        waited = min(seconds, int(LONGEST_WAIT_S))
        await self._clock.sleep(waited)
        left = f" of {seconds}; call again to wait for the rest" if waited < seconds else ""
        return ToolOutput.of(f"Waited for {counted(waited, 'second')}{left}.")
