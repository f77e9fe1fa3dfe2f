"""
The turn machine: `step(state, fact) -> (state, commands)`.

Pure: no await, no clock, no chance, no ids made up. It is total: every fact is taken in every
state, and one that changes nothing gives the same state object back (the driver then does not
journal it), so late and doubled facts are harmless. It alone decides; the driver alone waits.

A fold never decides: starts, verdicts and outcomes are facts. When old facts are folded the
commands are thrown away, and `Resumed` derives from the state what is due.
"""

from collections.abc import Callable, Iterable
from typing import Any

from norma.domain.engine.commands import (
    AskModel,
    AskPerson,
    CancelReply,
    CancelTools,
    Command,
    Judge,
    Permit,
    RunTool,
    Tell,
    Withdraw,
)
from norma.domain.engine.rounds import (
    BUSY,
    GIVEN_UP,
    INTERRUPTED,
    NO_QUESTION,
    REPLY_FAILED,
    UNANSWERED,
    UNKNOWN,
    Step,
    ask_model,
    close_round,
    close_unstarted,
    end_call,
    go_on,
    take_blocks,
)
from norma.domain.engine.state import Call, Ending, Phase, Place, State
from norma.domain.model.blocks import ToolResult
from norma.domain.model.changes import evolve
from norma.domain.model.events import QuestionAsked, UsageReported
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
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Grant, Question
from norma.domain.model.usage import NOTHING


def step(state: State, fact: Fact) -> Step:
    """The state after *fact*, and what is to be done about it; the same state if nothing changed."""
    return _HANDLERS[type(fact)](state, fact)


def fold(facts: Iterable[Fact]) -> State:
    """The state of a session whose facts these are."""
    state = State()
    for fact in facts:
        state = step(state, fact)[0]
    return state


def _opened(state: State, fact: SessionOpened) -> Step:
    return (state if state.opened else evolve(state, opened=True)), []


def _prompted(state: State, fact: Prompted) -> Step:
    """A prompt. What an earlier process or an unanswered question left open is closed first."""
    commands: list[Command] = []
    if state.phase is not Phase.IDLE:
        state, commands = _abandon(state)
    message = Message("user", state.steers + fact.blocks)
    state = evolve(
        state,
        history=(*state.history, message),
        steers=(),
        limits=fact.limits,
        turns=0,
        turn_usage=NOTHING,
        said="",
    )
    return ask_model(state, commands)


def _steered(state: State, fact: Steered) -> Step:
    """Kept for the next model call; with no turn live, for the next turn's first."""
    return evolve(state, steers=state.steers + fact.blocks), []


def _call_offered(state: State, fact: CallOffered) -> Step:
    if not state.reply_open:
        return state, []
    return take_blocks(state, fact.blocks)


def _reply_ended(state: State, fact: ReplyEnded) -> Step:
    if not state.reply_open:
        return state, []
    state, commands = take_blocks(state, fact.blocks)
    usage = state.turn_usage + fact.usage
    phase, ending = state.phase, state.ending
    if phase is Phase.REPLYING:
        phase = Phase.WORKING
        if fact.stop.reason == "context_overflow" and not state.calls:
            phase, ending = Phase.STOPPING, Ending("context_overflow")
    state = evolve(
        state,
        phase=phase,
        ending=ending,
        reply_open=False,
        usage=state.usage + fact.usage,
        turn_usage=usage,
        pause=fact.stop.reason == "pause",
    )
    return go_on(state, [*commands, Tell(UsageReported(usage))])


def _reply_cut(state: State, fact: ReplyCut) -> Step:
    """
    The reply failed or was cancelled.

    Tools that had started go on and keep their results (rule E6); the others are not run.
    """
    if not state.reply_open:
        return state, []
    state, commands = take_blocks(state, fact.blocks)
    ended = state.ending.outcome if state.ending is not None else "interrupted"
    why = fact.failure.message if fact.failure is not None else ended
    usage = state.turn_usage + fact.usage
    state = evolve(state, reply_open=False, cut=why, usage=state.usage + fact.usage, turn_usage=usage)
    if state.phase is Phase.REPLYING:
        if fact.failure is None:
            ending = Ending("interrupted")
        else:
            overflow = fact.failure.kind == "context_overflow"
            ending = Ending("context_overflow" if overflow else "model_failed", fact.failure, fact.exception)
        state = evolve(state, phase=Phase.STOPPING, ending=ending)
        state, more = close_unstarted(state, INTERRUPTED if fact.failure is None else REPLY_FAILED)
        commands += more
    return go_on(state, commands)


def _judged(state: State, fact: Judged) -> Step:
    call = state.call(fact.key)
    if call is None or call.place in (Place.RUNNING, Place.DONE) or not state.live:
        return state, []
    if fact.arguments is not None:
        call = evolve(call, call=evolve(call.call, arguments=fact.arguments))
    withdrawn: list[Command] = []
    if call.question is not None and call.place in (Place.ASKING, Place.PARKED):
        if fact.decision == "ask":
            return state, []
        withdrawn = [Withdraw((call.question.id,))]
    traits = fact.traits or call.traits
    if fact.decision == "allow":
        if call.place in (Place.READY, Place.STARTING):
            return state, []
        return go_on(state.having(evolve(call, traits=traits, place=Place.READY)), withdrawn)
    call, question = evolve(call, traits=traits), fact.question
    if fact.decision == "deny" or question is None:
        state, told = end_call(state, call, fact.reason if fact.decision == "deny" else NO_QUESTION)
        return go_on(state, withdrawn + told)
    call = evolve(call, place=Place.ASKING, question=question, answer=None, asked=call.asked + 1)
    return go_on(state.having(call), [Tell(QuestionAsked.of(question)), AskPerson(question)])


def _answered(state: State, fact: Answered) -> Step:
    permit = state.permit(fact.question)
    if permit is not None:
        return _permit_answered(state, *permit, fact.answer)
    call = state.asked(fact.question)
    if call is None or call.answer is not None or call.place not in (Place.ASKING, Place.PARKED):
        return state, []
    call = evolve(call, answer=fact.answer)
    if state.phase is Phase.WAITING:
        return state.having(call), []
    state, commands = _settle(state, call)
    return go_on(state, [Withdraw((fact.question,)), *commands])


def _settle(state: State, call: Call) -> Step:
    """Act on the answer that *call* holds; what follows for the round is the caller's to say."""
    answer, question = call.answer, call.question
    assert answer is not None
    assert question is not None
    if not answer.allows:
        state, commands = end_call(state, call, _denial(answer.feedback))
        if answer.word == "stop":
            state, more = _stop(state, Ending("interrupted"))
            commands += more
        return state, commands
    return _grant(state.having(evolve(call, place=Place.READY)), question, answer)


def _grant(state: State, question: Question, answer: Answer) -> Step:
    """With "for this session", calls that wait for an answer are judged again: the grant may cover them."""
    grant = Grant(question.action.rule, question.tool_digest)
    if answer.word != "session" or grant in state.grants:
        return state, []
    state = evolve(state, grants=(*state.grants, grant))
    return state, [Judge(c.key) for c in state.calls if c.place in (Place.ASKING, Place.PARKED)]


def _permit_asked(state: State, fact: PermitAsked) -> Step:
    call = state.call(fact.key)
    if call is None or call.place is not Place.RUNNING or state.cancelling:
        return state, []
    state = state.having(evolve(call, permits=(*call.permits, fact.question), asked=call.asked + 1))
    return state, [Tell(QuestionAsked.of(fact.question)), AskPerson(fact.question)]


def _permit_answered(state: State, call: Call, question: Question, answer: Answer | None) -> Step:
    """A running tool gets the answer to its question. Nobody answering now is no: it can't be parked."""
    left = tuple(open_ for open_ in call.permits if open_ is not question)
    state = state.having(evolve(call, permits=left))
    commands: list[Command] = [Withdraw((question.id,)), Permit(question.id, answer)]
    if answer is None:
        return state, commands
    if answer.word == "stop":
        state, more = _stop(state, Ending("interrupted"))
    else:
        state, more = _grant(state, question, answer)
    return go_on(state, commands + more)


def _denial(feedback: str | None) -> str:
    return "The person denied this call." + (f" They said: {feedback}" if feedback else "")


def _deferred(state: State, fact: Deferred) -> Step:
    permit = state.permit(fact.question)
    if permit is not None:
        return _permit_answered(state, *permit, None)
    call = state.asked(fact.question)
    if call is None or call.place is not Place.ASKING:
        return state, []
    return go_on(state.having(evolve(call, place=Place.PARKED)), [])


def _tool_started(state: State, fact: ToolStarted) -> Step:
    call = state.call(fact.key)
    if call is None or call.place not in (Place.READY, Place.STARTING) or not state.live:
        return state, []
    state = state.having(evolve(call, place=Place.RUNNING))
    return state, [Tell(fact), RunTool(fact.key)]


def _tool_ended(state: State, fact: ToolEnded) -> Step:
    call = state.call(fact.key)
    if call is None or call.place is not Place.RUNNING:
        return state, []
    result = ToolResult(call.call.id, fact.blocks, fact.is_error)
    withdrawn: list[Command] = [Withdraw((question.id,)) for question in call.permits]
    state = state.having(evolve(call, place=Place.DONE, result=result, permits=()))
    return go_on(state, [*withdrawn, Tell(fact)])


def _interrupted(state: State, fact: Interrupted) -> Step:
    return _stopped(state, Ending("interrupted"))


def _limit_reached(state: State, fact: LimitReached) -> Step:
    return _stopped(state, Ending(fact.limit))


def _stopped(state: State, ending: Ending) -> Step:
    if not state.live or state.cancelling:
        return state, []
    state, commands = _stop(state, ending)
    return go_on(state, commands)


def _stop(state: State, ending: Ending) -> Step:
    """Cancel what runs and close what does not. An ending already decided stays."""
    state = evolve(state, phase=Phase.STOPPING, ending=state.ending or ending, cancelling=True)
    commands: list[Command] = [CancelReply()] if state.reply_open else []
    running = tuple(call.key for call in state.calls if call.place is Place.RUNNING)
    if running:
        commands.append(CancelTools(running))
    commands += [Withdraw((question.id,)) for call in state.calls for question in call.permits]
    state, told = close_unstarted(state, INTERRUPTED)
    return state, commands + told


def _resumed(state: State, fact: Resumed) -> Step:
    """
    The process that carried the turn is gone. What is due is derived from the state alone.

    A tool that had started runs again only if it is repeatable, else its outcome is unknown
    (rule E7). A reply that had offered no call is asked for again; one that had is kept as cut.
    """
    if state.phase is Phase.IDLE:
        return state, []
    if state.reply_open and not state.calls and state.phase is Phase.REPLYING:
        return evolve(state, blocks=()), [AskModel()]
    commands: list[Command] = []
    if state.reply_open:
        state = evolve(state, reply_open=False, cut="the process ended")
    if state.phase is not Phase.STOPPING:
        state = evolve(state, phase=Phase.WORKING)
    for key in [call.key for call in state.calls]:
        call = state.call(key)
        assert call is not None
        state, more = _revive(state, call)
        commands += more
    return go_on(state, commands)


def _revive(state: State, call: Call) -> Step:
    stopping = state.phase is Phase.STOPPING
    match call.place:
        case Place.RUNNING if call.traits is not None and call.traits.repeatable and not stopping:
            return state.having(evolve(call, place=Place.READY, permits=())), []
        case Place.RUNNING:
            return end_call(state, call, UNKNOWN)
        case Place.DONE:
            return state, []
        case _ if stopping:
            return end_call(state, call, INTERRUPTED)
        case Place.STARTING:
            return state.having(evolve(call, place=Place.READY)), []
        case Place.JUDGING:
            return state, [Judge(call.key)]
        case Place.ASKING | Place.PARKED:
            if call.answer is not None:
                return _settle(state, call)
            question = call.question
            assert question is not None
            asking = state.having(evolve(call, place=Place.ASKING))
            return asking, [Tell(QuestionAsked.of(question)), AskPerson(question)]
        case Place.READY:
            return state, []


def _turn_ended(state: State, fact: TurnEnded) -> Step:
    if not state.live:
        return state, []
    if fact.outcome == "waiting" and any(call.place in BUSY for call in state.calls):
        return state, []  # a grant of the same step has set one of the waiting calls going
    phase = Phase.WAITING if fact.outcome == "waiting" else Phase.IDLE
    return evolve(state, phase=phase, ending=None, cancelling=False), [Tell(fact)]


def _abandon(state: State) -> Step:
    """Close a round that nobody will carry on."""
    commands: list[Command] = []
    if state.reply_open:
        commands.append(CancelReply())
        state = evolve(state, reply_open=False, cut=state.cut or "the turn was given up")
    running = [call for call in state.calls if call.place is Place.RUNNING]
    if running:
        commands.append(CancelTools(tuple(call.key for call in running)))
    for call in running:
        state, told = end_call(state, call, UNKNOWN)
        commands += told
    state, told = close_unstarted(state, UNANSWERED if state.phase is Phase.WAITING else GIVEN_UP)
    return evolve(close_round(state), phase=Phase.IDLE, ending=None, cancelling=False), commands + told


_HANDLERS: dict[type, Callable[[State, Any], Step]] = {
    SessionOpened: _opened,
    Prompted: _prompted,
    Steered: _steered,
    CallOffered: _call_offered,
    ReplyEnded: _reply_ended,
    ReplyCut: _reply_cut,
    Judged: _judged,
    Answered: _answered,
    Deferred: _deferred,
    PermitAsked: _permit_asked,
    ToolStarted: _tool_started,
    ToolEnded: _tool_ended,
    Interrupted: _interrupted,
    LimitReached: _limit_reached,
    Resumed: _resumed,
    TurnEnded: _turn_ended,
}
