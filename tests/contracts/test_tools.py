"""The tools keep the promises of their port."""

from norma.adapters.memory.tools import ScriptedTool
from norma.ports.contracts import tool
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import tool_rig

test_scripted_tool = contract(tool.CHECKS, tool_rig(ScriptedTool))
