"""The approvers keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.gates import Forever
from norma.domain.model.questions import Answer, Later
from norma.ports.contracts import approver
from norma.ports.contracts.approver import ApproverRig
from norma.ports.contracts.pytest import contract


def _rig(word: Answer | Later) -> ApproverRig:
    answering, silent = FixedApprover(word), FixedApprover(Forever())
    return ApproverRig(
        answering,
        word,
        lambda: "\n".join(question.action.shows for question in answering.questions),
        lambda: silent,
        lambda: len(silent.questions),
    )


@asynccontextmanager
async def fixed(folder: str) -> AsyncIterator[ApproverRig]:
    yield _rig(Answer("session"))


@asynccontextmanager
async def fixed_later(folder: str) -> AsyncIterator[ApproverRig]:
    yield _rig(Later())


test_approver = contract(approver.CHECKS, fixed, fixed_later)
