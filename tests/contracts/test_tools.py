"""The tools keep the promises of their port."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.grep.search import GrepSearch
from norma.adapters.memory.tools import ScriptedTool
from norma.adapters.pdf.documents import PdfDocuments
from norma.adapters.process.runner import ShellRunner
from norma.domain.policy.policy import CurrentPolicy, Policy
from norma.domain.tools.catalogue import builtin_tools
from norma.ports.contracts import tool
from norma.ports.contracts.pytest import contract
from norma.ports.contracts.tool import ToolRig
from norma.ports.tool import Tool
from tests.adapters.grep.rigs import children
from tests.adapters.pdf.making import document
from tests.adapters.pdf.rigs import slow, worker_runs
from tests.contracts.processes import processes_with
from tests.contracts.rigs import tool_rig


def _tools(folder: str) -> Mapping[str, Tool]:
    root = Path(folder)
    (root / "src").mkdir(exist_ok=True)
    (root / "a.txt").write_text("alpha\nbeta\n")
    (root / "src" / "b.txt").write_text("b = 1\n")
    search = GrepSearch(environ=os.environ)
    shell = ShellRunner({"NORMA_CONTRACT": folder})
    policy = CurrentPolicy(Policy.of("default"))
    documents = PdfDocuments(deadline_s=600, page_s=600)
    made = builtin_tools(DiskWorkspace([folder]), search, shell, policy, documents=documents)
    return {one.spec.name: one for one in made}


READERS = (str(Path(sys.executable).with_name("rg")), sys.executable)

Rig = Callable[[str], AbstractAsyncContextManager[ToolRig]]


def builtin(name: str, arguments: Mapping[str, Any]) -> Rig:
    """The built-in tool *name* over a folder on the disk."""

    @asynccontextmanager
    async def rig(folder: str) -> AsyncIterator[ToolRig]:
        def left() -> str:
            return ", ".join(one for one in os.listdir(folder) if one.endswith(".tmp"))

        yield ToolRig(_tools(folder)[name], arguments, left=left, readers=READERS)

    rig.__name__ = name
    return rig


@asynccontextmanager
async def endless_bash(folder: str) -> AsyncIterator[ToolRig]:
    begun = Path(folder) / "begun"

    def left() -> str:
        begun.unlink(missing_ok=True)
        return f"{processes_with(folder)} processes" if processes_with(folder) else ""

    endless = {"command": "touch begun; sleep 1000 & sleep 1000"}
    yield ToolRig(_tools(folder)["Bash"], {"command": "echo hello"}, endless, begun.exists, left)


@asynccontextmanager
async def endless_read(folder: str) -> AsyncIterator[ToolRig]:
    (Path(folder) / "a.pdf").write_bytes(document("one", "two"))
    (Path(folder) / "slow.pdf").write_bytes(slow(1))

    def left() -> str:
        return ", ".join(children())

    endless = {"file_path": "slow.pdf"}
    yield ToolRig(_tools(folder)["Read"], {"file_path": "a.pdf"}, endless, worker_runs, left, READERS)


ENDING = (
    builtin("Read", {"file_path": "a.txt"}),
    builtin("LS", {"path": "src"}),
    builtin("Glob", {"pattern": "**/*.txt"}),
    builtin("Grep", {"pattern": "alpha"}),
    builtin("Write", {"file_path": "new/c.txt", "content": "c\n"}),
    builtin("Edit", {"file_path": "src/b.txt", "old_string": "1", "new_string": "2"}),
    builtin("MultiEdit", {"file_path": "src/b.txt", "edits": [{"old_string": "b", "new_string": "c"}]}),
)

test_scripted_tool = contract(tool.CHECKS, tool_rig(ScriptedTool))
test_builtin_tool = contract(tool.CHECKS, endless_bash, endless_read, *ENDING)
