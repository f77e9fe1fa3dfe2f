"""
What a typed command may do: what a person typed answers its own question, and nothing that follows from it.

Deny rules hold in any case, and so does the mode plan. What follows (another host in a redirect) is judged as
a model's call is.
"""

import secrets
from collections.abc import Awaitable, Callable

from attrs import evolve

from norma.domain.model.actions import Action, action_digest, tool_digest
from norma.domain.model.questions import Answer, Later, Question
from norma.domain.model.requests import ToolSpec
from norma.domain.policy.policy import Policy
from norma.ports.errors import Refused

Ask = Callable[[Question], Awaitable[Answer | Later]]


def allow_typed(policy: Policy, spec: ToolSpec, action: Action) -> None:
    """Let *action*, which a person typed, pass unless it is denied. Raises Refused."""
    # Nobody is asked here, so the mode that denies instead of asking has nothing to deny.
    asking = evolve(policy, mode="default") if policy.mode == "dont-ask" else policy
    verdict = asking.judge(action, tool_digest=tool_digest(spec))
    if verdict.decision == "deny":
        raise Refused(f"{action.tool}: {verdict.why}")


async def permit(policy: Policy, spec: ToolSpec, action: Action, ask: Ask | None) -> None:
    """Let *action*, which follows from what was typed, pass if it may. Raises Refused."""
    digest = tool_digest(spec)
    verdict = policy.judge(action, tool_digest=digest)
    if verdict.decision == "allow":
        return
    if verdict.decision == "deny":
        raise Refused(verdict.why)
    if ask is None:
        raise Refused(f"{verdict.why} Nobody can be asked. The rule {action.rule} would allow it.")
    number = f"typed:{secrets.token_hex(4)}"
    answer = await ask(Question(number, number, action, action_digest(action), digest, verdict.why))
    if not isinstance(answer, Answer) or not answer.allows:
        reason = answer.feedback if isinstance(answer, Answer) else None
        raise Refused(reason or f"You denied it: {action.shows}")
