"""What the tests of the turn machine share: a call in each place, a state in each phase, and the tables."""

from attrs import evolve

from norma.domain.engine.state import Call, Ending, Phase, Place, State
from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.blocks import Text, ToolCall, ToolResult
from norma.domain.model.facts import (
    Answered,
    CallOffered,
    Deferred,
    Fact,
    Interrupted,
    Judged,
    LimitReached,
    PermitAsked,
    Prompted,
    ReplyCut,
    ReplyEnded,
    Resumed,
    SessionOpened,
    Steered,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Question
from norma.domain.model.replies import Stop

HI = (Text("hi"),)
CALL = ToolCall("c", "tool", {})
ALONE = Traits(parallel=False, repeatable=False)


def question(key: str, number: str = "") -> Question:
    """The question about the call of that key."""
    action = Action("tool", Effects(writes=True), "what will run", "tool")
    return Question(f"s:{key}{number}", key, action, "digest", "tool digest", "a rule asks")


def call_in(place: Place, traits: Traits = ALONE) -> Call:
    """A call as it is in *place*."""
    call = Call("1.0", CALL, place, None if place is Place.JUDGING else traits)
    if place in (Place.ASKING, Place.PARKED):
        call = evolve(call, question=question("1.0"), asked=1)
    if place is Place.DONE:
        call = evolve(call, result=ToolResult("c", (Text("ok"),)))
    return call


def replying(*calls: Call) -> State:
    """A turn whose reply is open and has offered these calls."""
    return State(
        phase=Phase.REPLYING,
        opened=True,
        history=(Message("user", HI),),
        rounds=1,
        turns=1,
        reply_open=True,
        blocks=tuple(call.call for call in calls),
        calls=calls,
    )


WORKING = evolve(replying(call_in(Place.RUNNING)), phase=Phase.WORKING, reply_open=False)

# By column of the table: a phase, and after a slash what is special about it. In plain "replying" there is no
# call yet; in "working/asked" a person is asked about it, in "waiting" its question is put off; else it runs.
PHASES: dict[str, State] = {
    "idle": State(opened=True),
    "replying": replying(),
    "replying/call": replying(call_in(Place.RUNNING)),
    "working": WORKING,
    "working/asked": evolve(replying(call_in(Place.ASKING)), phase=Phase.WORKING, reply_open=False),
    "stopping/failed": evolve(WORKING, phase=Phase.STOPPING, ending=Ending("model_failed"), cut="dropped"),
    "stopping": evolve(WORKING, phase=Phase.STOPPING, ending=Ending("interrupted"), cancelling=True),
    "waiting": evolve(replying(call_in(Place.PARKED)), phase=Phase.WAITING, reply_open=False),
}

PHASE_FACTS: dict[str, Fact] = {
    "session opened": SessionOpened("2026-01-01T00:00:00.000Z"),
    "prompted": Prompted(HI),
    "steered": Steered(HI),
    "call offered": CallOffered((CALL,)),
    "reply ended": ReplyEnded(HI, Stop("end_turn")),
    "reply cut": ReplyCut(HI),
    "reply failed": ReplyCut(HI, Failure("stream_dropped", "dropped", "transport")),
    "interrupted": Interrupted(),
    "limit reached": LimitReached("timeout"),
    "resumed": Resumed(),
    "answered": Answered("s:1.0", Answer("once")),
    "deferred": Deferred("s:1.0"),
    "tool ended": ToolEnded("1.0", "c", "tool", HI),
    "turn ended": TurnEnded("completed"),
    "turn waits": TurnEnded("waiting"),
}

CALL_FACTS: dict[str, Fact] = {
    "judged allow": Judged("1.0", "allow", traits=ALONE),
    "judged ask": Judged("1.0", "ask", traits=ALONE, question=question("1.0", "/2")),
    "judged deny": Judged("1.0", "deny", "no"),
    "answered once": Answered("s:1.0", Answer("once")),
    "answered session": Answered("s:1.0", Answer("session")),
    "answered deny": Answered("s:1.0", Answer("deny", "use another file")),
    "answered stop": Answered("s:1.0", Answer("stop")),
    "deferred": Deferred("s:1.0"),
    "permit asked": PermitAsked("1.0", question("1.0", "+1")),
    "tool started": ToolStarted("1.0", "c", "tool"),
    "tool ended": ToolEnded("1.0", "c", "tool", HI),
    "interrupted": Interrupted(),
    "resumed": Resumed(),
}

SAME = "·"

# The turn's phase after a fact; "·" means that nothing at all changes and nothing is journalled.
# "+" marks a change inside the phase.
PHASE_TABLE = """
               idle      replying  replying/call  working   working/asked  stopping/failed  stopping  waiting
session opened ·         ·         ·              ·         ·              ·                ·         ·
prompted       replying  replying  replying       replying  replying       replying         replying  replying
steered        +         +         +              +         +              +                +         +
call offered   ·         +         +              ·         ·              ·                ·         ·
reply ended    ·         idle      working        ·         ·              ·                ·         ·
reply cut      ·         idle      stopping       ·         ·              ·                ·         ·
reply failed   ·         idle      stopping       ·         ·              ·                ·         ·
interrupted    ·         stopping  stopping       stopping  idle           +                ·         ·
limit reached  ·         stopping  stopping       stopping  idle           +                ·         ·
resumed        ·         +         replying       replying  +              idle             idle      working
answered       ·         ·         ·              ·         +              ·                ·         +
deferred       ·         ·         ·              ·         waiting        ·                ·         ·
tool ended     ·         ·         +              replying  ·              idle             idle      ·
turn ended     ·         idle      idle           idle      idle           idle             idle      ·
turn waits     ·         waiting   ·              ·         ·              ·                ·         ·
"""

# The call's place after a fact, while its reply is still open. "history": its round is closed.
CALL_TABLE = """
                  judging   asking    parked    ready     starting  running   done
judged allow      starting  starting  starting  ·         ·         ·         ·
judged ask        asking    ·         ·         asking    asking    ·         ·
judged deny       done      done      done      done      done      ·         ·
answered once     ·         starting  starting  ·         ·         ·         ·
answered session  ·         starting  starting  ·         ·         ·         ·
answered deny     ·         done      done      ·         ·         ·         ·
answered stop     ·         done      done      ·         ·         ·         ·
deferred          ·         parked    ·         ·         ·         ·         ·
permit asked      ·         ·         ·         ·         ·         running   ·
tool started      ·         ·         ·         running   running   ·         ·
tool ended        ·         ·         ·         ·         ·         done      ·
interrupted       done      done      done      done      done      running   done
resumed           judging   asking    asking    starting  starting  history   history
"""


def rows(table: str) -> dict[str, dict[str, str]]:
    """A table as fact → column → cell."""
    head, *body = [line for line in table.splitlines() if line.strip()]
    columns = head.split()
    found = {}
    for line in body:
        cells = line.split()
        found[" ".join(cells[: -len(columns)])] = dict(zip(columns, cells[-len(columns) :], strict=True))
    return found
