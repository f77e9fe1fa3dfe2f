"""An approver with fixed answers."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.domain.model.questions import Answer, Later, Question
from norma.ports.approver import Approver

FixedAnswer: TypeAlias = Answer | Later | Exception | Gate
"""A gate waits until the test opens it with the answer: `gate.open(Answer("once"))`."""


class FixedApprover(Approver):
    """
    Gives *answers* one by one, in the order in which the questions come; one alone answers every
    question, and a function is asked each time. A question too many is an AssertionError.
    """

    def __init__(
        self, answers: FixedAnswer | Sequence[FixedAnswer] | Callable[[Question], FixedAnswer] = ()
    ) -> None:
        self._answer = _answerer(answers)
        self._asked = Counter()
        self.questions: list[Question] = []
        """Every question that was put, in order."""
        self.withdrawn: list[Question] = []
        """Those whose asking was cancelled."""

    async def ask(self, question: Question) -> Answer | Later:
        """The next answer."""
        self.questions.append(question)
        self._asked.add()
        answer = self._answer(question)
        if isinstance(answer, Gate):
            try:
                answer = await answer
            except BaseException:
                self.withdrawn.append(question)
                raise
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def asked(self, questions: int = 1) -> None:
        """Return as soon as that many questions were put."""
        await self._asked.reached(questions)


def _answerer(
    answers: FixedAnswer | Sequence[FixedAnswer] | Callable[[Question], FixedAnswer],
) -> Callable[[Question], FixedAnswer]:
    if isinstance(answers, Answer | Later | Exception | Gate):
        return lambda question: answers
    if not isinstance(answers, Iterable):
        return answers
    left = deque(answers)

    def answer(question: Question) -> FixedAnswer:
        if not left:
            raise AssertionError(f"nobody scripted an answer to: {question.action.shows}")
        return left.popleft()

    return answer
