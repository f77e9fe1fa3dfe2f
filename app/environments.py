"""
The environments: which parts a double stands in for, as data.

production: every part is real, and the model is the best one that is to be had. local: the same on this
machine alone, so that the model is a configured or the embedded one. test: doubles, no network, no disk.
"""

from collections.abc import Callable, Mapping
from typing import Any

from norma.app.settings import EnvironmentName


def doubles(environment: EnvironmentName) -> Mapping[str, Callable[[], Any]]:
    """The parts of the container that are replaced in *environment*, and what makes each double."""
    return _test() if environment == "test" else {}


def _test() -> Mapping[str, Callable[[], Any]]:
    from norma.adapters.memory.approver import FixedApprover
    from norma.adapters.memory.clock import ManualClock
    from norma.adapters.memory.commands import ScriptedCommands
    from norma.adapters.memory.documents import ScriptedDocuments
    from norma.adapters.memory.journal import MemoryJournal
    from norma.adapters.memory.model import ScriptedModel
    from norma.adapters.memory.pages import ScriptedPages
    from norma.adapters.memory.search import ScriptedSearch
    from norma.adapters.memory.tasks import ScriptedTasks
    from norma.adapters.memory.web_search import ScriptedWebSearch
    from norma.adapters.memory.workspace import MemoryWorkspace

    return {
        "clock": ManualClock,
        "journal": MemoryJournal,
        "workspace": MemoryWorkspace,
        "search": lambda: ScriptedSearch({}),
        "commands": lambda: ScriptedCommands({}),
        "documents": lambda: ScriptedDocuments({}),
        "pages": lambda: ScriptedPages({}),
        "web_search": lambda: ScriptedWebSearch({}),
        "tasks": lambda: ScriptedTasks({}),
        "embedded": ScriptedModel,
        "approver": FixedApprover,
        "servers": list,
    }
