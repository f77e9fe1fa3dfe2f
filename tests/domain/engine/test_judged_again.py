"""T1, T2: a call is judged once more when it starts: what it would do, or may do, may have changed."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.tools import ScriptedTool
from norma.domain.engine.engine import Engine
from norma.domain.model.actions import Action, PathUse
from norma.domain.model.facts import ToolStarted
from norma.domain.model.questions import Answer
from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules
from tests.domain.engine.hosts import (
    WRITES,
    ask,
    engine,
    outcome,
    results,
    texts,
)


async def test_T2_the_policy_in_force_when_a_call_starts_decides() -> None:
    """Scenario c13: a deny that is added while a call waits for its turn holds for it."""
    current = CurrentPolicy(Policy.of("bypass", ()))
    gate = Gate()
    slow = ScriptedTool("slow", results=[gate])
    later = ScriptedTool("later", results=["ran"])
    made = Engine(
        model=ScriptedModel([[call("1", "slow"), call("2", "later"), end("tool_use")], [say("x"), end()]]),
        tools=[slow, later],
        policy=current,
        approver=None,
        journal=MemoryJournal(),
        clock=ManualClock(),
        schemas=PlainSchemas(),
    )
    session = await made.session()
    async for event in session.prompt("hi"):
        if isinstance(event, ToolStarted) and event.name == "slow":
            current.policy = Policy.of("bypass", [ScopeRules("user", deny=("later",))])
            gate.open("ok")
    assert later.runs == []
    assert "later" in texts(results(session))[1]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


class Linked:
    """A folder with two files and a link to one of them; a tool that writes through the link."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "mine").write_text("mine")
        (root / "secret").write_text("secret")
        self.link = root / "link"
        self.link.symlink_to(root / "mine")
        self.write = ScriptedTool("Edit", results=["written"], action=self.action)

    def action(self, arguments: Mapping[str, Any]) -> Action:
        path = os.path.realpath(self.link)
        return Action(
            "Edit", WRITES, f"write {path}", f"Edit({path})", (PathUse(path, "write", str(self.root)),)
        )

    def swap(self) -> None:
        self.link.unlink()
        self.link.symlink_to(self.root / "secret")


BEHIND = [[call("1", "slow"), call("2", "Edit"), end("tool_use")], [say("done"), end()]]


@pytest.mark.parametrize("swapped", [False, True])
async def test_T1_a_path_that_leads_elsewhere_at_the_start_is_judged_anew(root: Path, swapped: bool) -> None:
    """The call was allowed when it was offered; while it waited for its turn, the link was turned."""
    linked, gate = Linked(root), Gate()
    slow = ScriptedTool("slow", results=[gate])
    rules = [ScopeRules("user", allow=("Edit(mine)",), deny=("Edit(secret)",))]
    session = await engine(BEHIND, slow, linked.write, rules=rules).session()
    task = asyncio.ensure_future(ask(session))
    await gate.reached()
    if swapped:
        linked.swap()
    gate.open("ok")
    events = await task
    assert outcome(events) == "completed"
    verdicts = texts(results(session))
    assert verdicts[0] == "ok"
    if swapped:
        assert linked.write.runs == []
        assert "Edit(secret)" in verdicts[1]
    else:
        assert verdicts[1] == "written"


async def test_T1_a_path_that_a_person_allowed_is_asked_about_again_when_it_leads_away(
    root: Path,
) -> None:
    linked, gate = Linked(root), Gate()
    approver = FixedApprover([gate, Answer("deny")])
    session = await engine([BEHIND[0][1:], BEHIND[1]], linked.write, approver=approver).session()
    task = asyncio.ensure_future(ask(session))
    await approver.asked()
    linked.swap()
    gate.open(Answer("once"))
    assert outcome(await task) == "completed"
    shown = [question.action.paths[0].path for question in approver.questions]
    assert shown == [str(root / "mine"), str(root / "secret")]
    assert linked.write.runs == []
