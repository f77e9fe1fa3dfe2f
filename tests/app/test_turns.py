"""Ctrl-C while a turn runs: the first ends the turn, the second leaves at once."""

import asyncio
import os
import signal

import pytest

from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end
from norma.adapters.memory.schemas import PlainSchemas
from norma.adapters.memory.tools import ScriptedTool
from norma.app.cli.output import JsonLines
from norma.app.cli.turns import follow
from norma.domain.engine.engine import Engine
from norma.domain.policy.policy import CurrentPolicy, Policy
from norma.ports.tool import ToolOutput, ToolRun

BOUND_S = 30


async def test_E5_the_second_ctrl_c_leaves_a_tool_that_does_not_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked, let_go = asyncio.Event(), Gate()

    async def stubborn(run: ToolRun) -> ToolOutput:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asked.set()
            await let_go
        return ToolOutput.of("at last")

    tool = ScriptedTool("Stubborn", behaviour=stubborn)
    engine = Engine(
        model=ScriptedModel([[call("1", "Stubborn"), end("tool_use")]]),
        tools=[tool],
        policy=CurrentPolicy(Policy.of("bypass")),
        approver=None,
        journal=MemoryJournal(),
        clock=ManualClock(),  # its time stands still, so the tool's grace period never ends by itself
        schemas=PlainSchemas(),
    )
    session = await engine.session()
    before = signal.getsignal(signal.SIGINT)
    async with asyncio.timeout(BOUND_S):
        following = asyncio.create_task(follow(session, session.prompt("go"), JsonLines()))
        await tool.started()
        os.kill(os.getpid(), signal.SIGINT)
        await asked.wait()
        assert not following.done()
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(asyncio.CancelledError):
            await following
        let_go.open()
        await session.aclose()
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C once more leaves at once" in capsys.readouterr().err
