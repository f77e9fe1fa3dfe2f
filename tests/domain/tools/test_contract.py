"""The built-in tools keep the promises of the tool port, over a real disk and real processes."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.search import ScriptedSearch
from norma.adapters.process.runner import ShellRunner
from norma.adapters.process.tasks import ShellTasks
from norma.adapters.system.clock import SystemClock
from norma.ports.commands import Command
from norma.ports.contracts import tool
from norma.ports.contracts.pytest import contract
from norma.ports.contracts.tool import ToolRig
from norma.ports.file_search import SearchLine
from tests.domain.tools.calling import Host

MARK = f"1118.{os.getpid():07}"  # in this run alone


def children() -> str:
    """Processes that a run of Bash left behind."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:  # ended since it was listed
            continue
        if MARK.encode() in words:
            found.append(f"{folder.name} {words!r}")
    return ", ".join(found)


def temporaries(folder: Path) -> str:
    return ", ".join(str(path) for path in folder.rglob(".norma-*"))


def file_tool(
    name: str, arguments: Mapping[str, Any]
) -> Callable[[str], AbstractAsyncContextManager[ToolRig]]:
    @asynccontextmanager
    async def make(folder: str) -> AsyncIterator[ToolRig]:
        top = Path(folder)
        (top / "sub").mkdir()
        (top / "f").write_text("a\n")
        search = ScriptedSearch(lambda query: [SearchLine(f"{folder}/f")])
        host = Host(top, search=search)
        yield ToolRig(host.tools[name], arguments, left=lambda: temporaries(top))

    make.__name__ = name
    return make


@asynccontextmanager
async def grep_without_end(folder: str) -> AsyncIterator[ToolRig]:
    gate = Forever()
    search = ScriptedSearch(lambda query: gate if query.pattern == "endless" else [])
    before = [0]

    def left() -> str:
        before[0] = gate.arrivals
        return f"{search.running} searches" if search.running else ""

    made = Host(Path(folder), search=search).tools["Grep"]
    there = lambda: search.running > 0 and gate.arrivals > before[0]  # noqa: E731 - as short as what it says
    yield ToolRig(made, {"pattern": "x"}, {"pattern": "endless"}, there, left)


@asynccontextmanager
async def bash(folder: str) -> AsyncIterator[ToolRig]:
    ready = Path(folder, "ready")
    made = Host(Path(folder), commands=ShellRunner()).tools["Bash"]

    def left() -> str:
        ready.unlink(missing_ok=True)
        return children()

    endless = {"command": f"sleep {MARK} & touch ready; sleep {MARK}; true"}
    yield ToolRig(made, {"command": "echo done"}, endless, ready.exists, left)


@asynccontextmanager
async def bash_in_the_background(folder: str) -> AsyncIterator[ToolRig]:
    tasks = ShellTasks(folder=folder)
    made = Host(Path(folder), commands=ShellRunner(tasks=tasks), tasks=tasks).tools["Bash"]
    yield ToolRig(made, {"command": "echo done", "run_in_background": True})
    await tasks.aclose()
    assert children() == ""


def task_tool(
    name: str, arguments: Mapping[str, Any], endless: Mapping[str, Any] | None = None
) -> Callable[[str], AbstractAsyncContextManager[ToolRig]]:
    """With a task that has ended, task_1, and one that runs, task_2, of nobody's session."""

    @asynccontextmanager
    async def make(folder: str) -> AsyncIterator[ToolRig]:
        tasks = ShellTasks(folder=folder)
        host = Host(Path(folder), tasks=tasks, clock=SystemClock())
        first = await tasks.start(Command("echo one", folder, None))
        await tasks.wait(first.id, "", 20)
        await tasks.start(Command(f"sleep {MARK}; true", folder, None))
        yield ToolRig(host.tools[name], arguments, endless)
        await tasks.aclose()
        assert children() == ""

    make.__name__ = name
    return make


test_background = contract(tool.CHECKS, bash_in_the_background)
test_task_output = contract(
    tool.CHECKS, task_tool("TaskOutput", {"task_id": "task_1"}, {"task_id": "task_2", "block": True})
)
test_task_stop = contract(tool.CHECKS, task_tool("TaskStop", {}))
test_task_list = contract(tool.CHECKS, task_tool("TaskList", {}))
test_monitor = contract(tool.CHECKS, task_tool("Monitor", {"command": "echo done"}))
test_sleep = contract(tool.CHECKS, task_tool("sleep", {"seconds": 1}, {"seconds": 3000}))
test_read = contract(tool.CHECKS, file_tool("Read", {"file_path": "f"}))
test_ls = contract(tool.CHECKS, file_tool("LS", {}))
test_glob = contract(tool.CHECKS, file_tool("Glob", {"pattern": "**"}))
test_grep = contract(tool.CHECKS, file_tool("Grep", {"pattern": "a"}), grep_without_end)
test_write = contract(tool.CHECKS, file_tool("Write", {"file_path": "new/g", "content": "x"}))
test_edit = contract(tool.CHECKS, file_tool("Edit", {"file_path": "f", "old_string": "a", "new_string": "b"}))
test_multi_edit = contract(
    tool.CHECKS,
    file_tool("MultiEdit", {"file_path": "f", "edits": [{"old_string": "a", "new_string": "b"}]}),
)
test_bash = contract(tool.CHECKS, bash)
