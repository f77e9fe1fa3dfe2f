"""
The state of a session, as the fold of its facts.

A turn has a phase, and each call of the open round has a place:

    idle ──prompt──▶ replying ──reply's end──▶ working ──last call done──▶ replying, or the end
                        │                        │ ╰─ only parked calls left ──▶ waiting
                        ╰── interrupt, limit, model failure ──▶ stopping ──▶ idle

    judging ─▶ asking ─▶ (parked) ─▶ ready ─▶ starting ─▶ running ─▶ done

`history` holds closed rounds only: a reply and all its results enter together, in
`turn.close_round` and nowhere else. So every call in it has exactly one result (rule E1).
"""

from enum import StrEnum

from attrs import field

from norma.domain.model.actions import Traits
from norma.domain.model.blocks import Block, ToolCall, ToolResult
from norma.domain.model.changes import evolve
from norma.domain.model.facts import Limits, Outcome
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Grant, Question
from norma.domain.model.usage import NOTHING, Usage
from norma.domain.model.values import frozen


class Phase(StrEnum):
    """Where a turn is."""

    IDLE = "idle"
    REPLYING = "replying"
    WORKING = "working"
    STOPPING = "stopping"
    WAITING = "waiting"


class Place(StrEnum):
    """Where a call is."""

    JUDGING = "judging"
    ASKING = "asking"
    PARKED = "parked"
    READY = "ready"
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"


@frozen
class Call:
    """
    One call of the open round.

    *key* is "round.position", ours; the vendor's id may repeat. *answer* is a person's word on
    *question*; in a waiting turn it is kept here until the turn goes on. *asked* counts questions.
    *permits* are the open questions of a running call about more than it was allowed at its start.
    """

    key: str
    call: ToolCall
    place: Place = Place.JUDGING
    traits: Traits | None = None
    question: Question | None = None
    answer: Answer | None = None
    asked: int = 0
    result: ToolResult | None = None
    permits: tuple[Question, ...] = ()

    @property
    def parallel(self) -> bool:
        """Whether it may overlap with others; unknown traits are no."""
        return self.traits is not None and self.traits.parallel


@frozen
class Ending:
    """An outcome that is already decided, while what runs comes to its end."""

    outcome: Outcome
    failure: Failure | None = None
    exception: BaseException | None = field(default=None, eq=False)


@frozen
class State:
    """
    All that a session is.

    *rounds* counts model calls of the session and numbers the open round; *turns* those of the
    open turn. *blocks* are the finished ones of the open round's reply, *cut* why it did not come
    to its end. *steers* wait for the next model call. *said* is the text of the turn's last reply.
    *cancelling*: what runs has been told to end.
    """

    phase: Phase = Phase.IDLE
    opened: bool = False
    history: tuple[Message, ...] = ()
    rounds: int = 0
    turns: int = 0
    reply_open: bool = False
    blocks: tuple[Block, ...] = ()
    cut: str | None = None
    pause: bool = False
    calls: tuple[Call, ...] = ()
    steers: tuple[Block, ...] = ()
    ending: Ending | None = None
    cancelling: bool = False
    limits: Limits = Limits()
    usage: Usage = NOTHING
    turn_usage: Usage = NOTHING
    said: str = ""
    grants: tuple[Grant, ...] = ()

    @property
    def live(self) -> bool:
        """Whether a turn is going on."""
        return self.phase in (Phase.REPLYING, Phase.WORKING, Phase.STOPPING)

    def call(self, key: str) -> Call | None:
        """The call of the open round with this key."""
        return next((call for call in self.calls if call.key == key), None)

    def asked(self, question: str) -> Call | None:
        """The call of the open round whose present question has this id."""
        return next((c for c in self.calls if c.question is not None and c.question.id == question), None)

    def permit(self, question: str) -> tuple[Call, Question] | None:
        """The running call whose further question this is, and the question."""
        for call in self.calls:
            for open_ in call.permits:
                if open_.id == question:
                    return call, open_
        return None

    def having(self, changed: Call) -> "State":
        """The state with one call replaced."""
        return evolve(self, calls=tuple(changed if c.key == changed.key else c for c in self.calls))
