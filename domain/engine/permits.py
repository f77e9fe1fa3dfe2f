"""
Permits: what a running tool turns out to need beyond what it was allowed at its start (rule T1).

The tool waits; its question goes the way of all questions, as a fact in the journal first.
"""

import asyncio
from collections.abc import Callable, Sequence

from norma.domain.engine.gate import Gate
from norma.domain.engine.state import Call
from norma.domain.model.actions import Action
from norma.domain.model.facts import Fact, PermitAsked
from norma.domain.model.questions import Answer, Grant
from norma.ports.errors import Refused


class Permits:
    """The open permits of one turn."""

    def __init__(self, gate: Gate, post: Callable[[Fact], None]) -> None:
        self._gate = gate
        self._post = post
        self._waiting: dict[str, asyncio.Future[Answer | None]] = {}
        self._asked = 0

    async def ask(self, call: Call, grants: Callable[[], Sequence[Grant]], action: Action) -> None:
        """Return when the running *call* may also do *action*; raises Refused when it may not."""
        self._asked += 1
        question = self._gate.further(call, action, self._asked, grants())
        if question is None:
            return
        answered = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answered
        self._post(PermitAsked(call.key, question))
        try:
            answer = await answered
        finally:
            del self._waiting[question.id]
        if answer is None:
            raise Refused(f"Nobody answers now. The rule {action.rule} would allow it.")
        if not answer.allows:
            said = f" They said: {answer.feedback}" if answer.feedback else ""
            raise Refused(f"The person denied it: {action.shows}.{said}")

    def settle(self, question: str, answer: Answer | None) -> None:
        """A question is answered; the tool that asked may be gone by now."""
        waiting = self._waiting.get(question)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
