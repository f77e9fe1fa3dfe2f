"""
Facts: what happened in a session, in order. They are the session.

A journal stores them, a fold over them is the state, and hosts are told the very same objects.
A field may be added with a default; none may be renamed or given another meaning, because
journals written years ago must load.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from attrs import field

from norma.domain.model.actions import Traits
from norma.domain.model.blocks import Block, ResultBlock
from norma.domain.model.failures import Failure
from norma.domain.model.questions import Answer, Question
from norma.domain.model.replies import Stop
from norma.domain.model.tags import NEVER, tagged
from norma.domain.model.usage import Usage
from norma.domain.model.values import frozen

Outcome: TypeAlias = Literal[
    "completed",
    "interrupted",
    "model_failed",
    "context_overflow",
    "stopped_by_hook",
    "max_turns",
    "timeout",
    "budget",
    "waiting",
    "journal_failed",
    "conflict",
]


@frozen
class Limits:
    """
    What bounds a turn; it travels in the prompt, so that a fold elsewhere decides alike.

    *max_turns* counts model calls. *timeout_s* is the turn's deadline in seconds; it cuts the
    model and the tools.
    """

    max_turns: int | None = 50
    timeout_s: float | None = None


USUAL_LIMITS = Limits()
"""Those of a prompt for which nobody named others."""


@tagged("session_opened")
@frozen
class SessionOpened:
    """The first fact of every session. *created* is ISO 8601 in UTC, *workspace* an absolute path."""

    created: str
    workspace: str | None = None


@tagged("prompted")
@frozen
class Prompted:
    """A person asked something: a turn begins."""

    blocks: tuple[Block, ...]
    limits: Limits = USUAL_LIMITS


@tagged("steered")
@frozen
class Steered:
    """A person added something while a turn runs; the model sees it at its next call."""

    blocks: tuple[Block, ...]


@tagged("call_offered")
@frozen
class CallOffered:
    """All blocks finished since the last such fact of the reply; the last of them is the call."""

    blocks: tuple[Block, ...]


@tagged("reply_ended")
@frozen
class ReplyEnded:
    """The reply came to its end; *blocks* are those not yet offered."""

    blocks: tuple[Block, ...]
    stop: Stop
    usage: Usage = Usage()


@tagged("reply_cut")
@frozen
class ReplyCut:
    """The reply did not come to its end; *failure* is None if we cut it ourselves."""

    blocks: tuple[Block, ...]
    failure: Failure | None = None
    usage: Usage = Usage()
    exception: BaseException | None = field(default=None, eq=False, repr=False, metadata={"json": NEVER})


@tagged("judged")
@frozen
class Judged:
    """
    The policy's word on a call.

    allow: it may run. ask: *question* is put. deny: *reason* goes to the model as an error result.
    *traits* is None for a call that can't run at all. *arguments* is set only if they were rewritten.
    """

    key: str
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    rule: str | None = None
    traits: Traits | None = None
    question: Question | None = None
    arguments: Mapping[str, Any] | None = None


@tagged("answered")
@frozen
class Answered:
    """A person answered a question."""

    question: str
    answer: Answer


@tagged("deferred")
@frozen
class Deferred:
    """A person will answer later, perhaps in another process."""

    question: str


@tagged("permit_asked")
@frozen
class PermitAsked:
    """A running tool wants to do something that was not part of the call, and a person must decide."""

    key: str
    question: Question


@tagged("tool_started")
@frozen
class ToolStarted:
    """A tool is about to run. Written before it runs: after a crash this is the fence."""

    key: str
    id: str
    name: str


@tagged("tool_ended")
@frozen
class ToolEnded:
    """A call has its result. *id* and *name* are those of the call."""

    WHOLE: ClassVar = True

    key: str
    id: str
    name: str
    blocks: tuple[ResultBlock, ...] = ()
    is_error: bool = False


@tagged("interrupted")
@frozen
class Interrupted:
    """The host wants the turn to end."""


@tagged("limit_reached")
@frozen
class LimitReached:
    """The turn's deadline has passed."""

    limit: Literal["timeout"]


@tagged("resumed")
@frozen
class Resumed:
    """The process that carried the session is gone; this one goes on."""


@tagged("turn_ended")
@frozen
class TurnEnded:
    """
    The turn is over; the last event of every turn.

    *text* is what the model said in its last message. *usage* is the turn's. *turns* counts its
    model calls. *exception* is the port's own error, for hosts in this process.
    """

    WHOLE: ClassVar = True

    outcome: Outcome
    session: str = ""
    text: str = ""
    usage: Usage = Usage()
    turns: int = 0
    error: Failure | None = None
    exception: BaseException | None = field(default=None, eq=False, repr=False, metadata={"json": NEVER})


Fact: TypeAlias = (
    SessionOpened
    | Prompted
    | Steered
    | CallOffered
    | ReplyEnded
    | ReplyCut
    | Judged
    | Answered
    | Deferred
    | PermitAsked
    | ToolStarted
    | ToolEnded
    | Interrupted
    | LimitReached
    | Resumed
    | TurnEnded
)
