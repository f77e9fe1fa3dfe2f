"""
Each wrong adapter is caught by the check that is there for it.

`pytest -s tests/contracts/test_kill_table.py` prints the table: adapter, check, what the check says.
"""

from typing import Any

import pytest

from norma.domain.model.questions import Answer
from norma.ports.contracts import (
    approver,
    clock,
    commands,
    documents,
    file_search,
    journal,
    model,
    schemas,
    tool,
    workspace,
)
from norma.ports.contracts.pytest import broken_promise
from tests.contracts import rigs
from tests.contracts.wrong import journals, models, others

KITS: tuple[tuple[Any, Any, Any], ...] = (
    (journal, journals.WRONG, rigs.journal_rig),
    (model, models.WRONG, lambda kind: rigs.model_rig(kind, alone=True)),
    (clock, others.CLOCKS, rigs.clock_rig),
    (approver, others.APPROVERS, lambda kind: rigs.approver_rig(kind, Answer("deny"))),
    (tool, others.TOOLS, rigs.tool_rig),
    (workspace, others.WORKSPACES, rigs.workspace_rig),
    (commands, others.COMMANDS, rigs.command_rig),
    (file_search, others.SEARCHES, rigs.search_rig),
    (documents, others.DOCUMENTS, rigs.documents_rig),
    (schemas, others.SCHEMAS, rigs.schema_rig),
)
ROWS = [
    pytest.param(kit, make(kind), check, id=f"{kit.__name__.rpartition('.')[2]}-{kind.__name__}")
    for kit, wrong, make in KITS
    for kind, check in wrong
]


@pytest.mark.parametrize(("kit", "rig", "name"), ROWS)
def test_wrong_adapter_is_caught(
    kit: Any, rig: Any, name: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    (check,) = (one for one in kit.CHECKS if one.__name__ == f"check_{name}")
    said = broken_promise(check, rig, str(tmp_path))
    assert said is not None, f"check_{name} is content with it"
    print(f"{request.node.callspec.id:45} {name:32} {said.splitlines()[0]:.110}")
