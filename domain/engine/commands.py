"""
What the machine wants done.

`Judge`, `StartTool` and `Finish` need no port: the driver answers them with a fact in the same
step, before the append. The others are effects, carried out after it.
"""

from typing import TypeAlias

from attrs import field

from norma.domain.model.events import Event
from norma.domain.model.facts import Outcome
from norma.domain.model.failures import Failure
from norma.domain.model.questions import Answer, Question
from norma.domain.model.values import frozen


@frozen
class Judge:
    """Say whether this call may run: a `Judged` fact."""

    key: str


@frozen
class StartTool:
    """Say that this call starts now: a `ToolStarted` fact, or a new `Judged` if it no longer may."""

    key: str


@frozen
class Finish:
    """Say that the turn is over: a `TurnEnded` fact."""

    outcome: Outcome
    failure: Failure | None = None
    exception: BaseException | None = field(default=None, eq=False)


@frozen
class AskModel:
    """Get the reply of the open round."""


@frozen
class CancelReply:
    """End the open reply now; its `ReplyCut` will say what had come."""


@frozen
class RunTool:
    """Run this call: its start is in the journal."""

    key: str


@frozen
class CancelTools:
    """End these calls now; each will still say how it ended."""

    keys: tuple[str, ...]


@frozen
class AskPerson:
    """Put this question."""

    question: Question


@frozen
class Permit:
    """Tell the running tool that asked: a person's word on its question, None for "nobody answers now"."""

    question: str
    answer: Answer | None


@frozen
class Withdraw:
    """These questions no longer matter."""

    questions: tuple[str, ...]


@frozen
class Tell:
    """Tell the host."""

    event: Event


Command: TypeAlias = (
    Judge
    | StartTool
    | Finish
    | AskModel
    | CancelReply
    | RunTool
    | CancelTools
    | AskPerson
    | Permit
    | Withdraw
    | Tell
)
