"""The approvers keep the promises of their port."""

from norma.adapters.memory.approver import FixedApprover
from norma.domain.model.questions import Answer, Later
from norma.ports.contracts import approver
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import approver_rig

test_fixed_approver = contract(approver.CHECKS, approver_rig(FixedApprover, Answer("session")))
test_fixed_approver_that_answers_later = contract(approver.CHECKS, approver_rig(FixedApprover, Later()))
