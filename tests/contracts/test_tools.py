"""The tools keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.model.actions import Traits
from norma.ports.contracts import tool
from norma.ports.contracts.pytest import contract
from norma.ports.contracts.tool import ToolRig
from norma.ports.tool import ToolOutput, ToolRun


@asynccontextmanager
async def scripted(folder: str) -> AsyncIterator[ToolRig]:
    gate = Forever()

    async def behave(run: ToolRun) -> ToolOutput | str:
        run.progress("working")
        if run.arguments.get("endless"):
            await gate
        return "done"

    made = ScriptedTool("Work", behaviour=behave, traits=Traits(parallel=True, repeatable=True))
    endless, before = {"endless": True}, [0]

    def there() -> bool:
        return made.running > 0 and gate.arrivals > before[0]

    def left() -> str:
        before[0] = gate.arrivals
        return f"{made.running} runs" if made.running else ""

    yield ToolRig(made, {"deep": {"x": [1, 2]}}, endless, there, left)


test_tool = contract(tool.CHECKS, scripted)
