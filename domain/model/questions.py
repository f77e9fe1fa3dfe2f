"""Questions to a person, and their answers (rules T5 to T7)."""

from typing import Literal, TypeAlias

from norma.domain.model.actions import Action
from norma.domain.model.values import frozen

AnswerWord: TypeAlias = Literal["once", "session", "deny", "stop"]


@frozen
class Question:
    """
    May this run?

    *digest* is what the answer will be bound to; *tool_digest* what a grant for the session is
    bound to. *why* says what made the policy ask.
    """

    id: str
    key: str
    action: Action
    digest: str
    tool_digest: str
    why: str


@frozen
class Answer:
    """
    A person's word on a question.

    once: run this call. session: run it, and let calls that `Question.action.rule` matches run
    unasked in this session while the tool stays as it is. deny: don't, and tell the model
    *feedback*. stop: don't, and end the turn.
    """

    word: AnswerWord
    feedback: str | None = None

    @property
    def allows(self) -> bool:
        """Whether the call may run."""
        return self.word in ("once", "session")


@frozen
class Later:
    """Nobody answers now; somebody may, later, even in another process."""


@frozen
class Grant:
    """A rule that a person allowed for the rest of a session, for one tool as it was then."""

    rule: str
    tool_digest: str
