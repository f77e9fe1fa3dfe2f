"""The approvers keep the promises of their port."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.console.approver import ConsoleApprover
from norma.adapters.console.lines import LineInput
from norma.adapters.memory.approver import FixedApprover
from norma.domain.model.questions import Answer, Later
from norma.ports.contracts import approver
from norma.ports.contracts.approver import ApproverRig
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import approver_rig


@asynccontextmanager
async def console(folder: str) -> AsyncIterator[ApproverRig]:
    """One person types the same answer many times ahead, the other one never types."""
    read_end, write_end = os.pipe()
    silent_end, silent_other_end = os.pipe()
    os.write(write_end, b"n not now\n" * 50)
    screen: list[str] = []
    silent_screen: list[str] = []
    answering = ConsoleApprover(LineInput(read_end), screen.append)
    silent = ConsoleApprover(LineInput(silent_end), silent_screen.append)
    yield ApproverRig(
        answering,
        Answer("deny", "not now"),
        lambda: "".join(screen),
        lambda: silent,
        lambda: sum("wants to do this" in text for text in silent_screen),
    )
    for end in (read_end, write_end, silent_end, silent_other_end):
        asyncio.get_running_loop().remove_reader(end)
        os.close(end)


test_fixed_approver = contract(approver.CHECKS, approver_rig(FixedApprover, Answer("session")))
test_fixed_approver_that_answers_later = contract(approver.CHECKS, approver_rig(FixedApprover, Later()))
test_console_approver = contract(approver.CHECKS, console)
