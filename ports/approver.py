"""
The approver port: who answers a permission question.

Above: the engine, which may have several questions open. Below: a terminal, a host's dialog, a
fixed answer.
"""

from abc import abstractmethod
from typing import Protocol

from norma.domain.model.questions import Answer, Later, Question


class Approver(Protocol):
    """A person, or what stands for one."""

    @abstractmethod
    async def ask(self, question: Question) -> Answer | Later:
        """
        Put *question*, showing all of `question.action.shows`.

        Several may be asked at once; an approver that has one screen puts them one by one.
        Cancelled when the question no longer matters; an answer given later is dropped. Whatever
        it raises, and whatever it returns that is neither `Answer` nor `Later`, counts as a denial
        (rule T6).
        """
