"""
The open round: its calls start, end, and enter the history together with their reply.

Helpers of the turn machine, as pure as it is; each gives the new state and what is to be done.
"""

from typing import TypeAlias

from norma.domain.engine.commands import AskModel, Command, Finish, Judge, StartTool, Tell, Withdraw
from norma.domain.engine.state import Call, Phase, Place, State
from norma.domain.model.blocks import Block, Text, ToolCall, ToolResult, text_of
from norma.domain.model.changes import evolve
from norma.domain.model.facts import ToolEnded
from norma.domain.model.messages import Message

MOST_AT_ONCE = 10
"""How many calls run at the same time (rule E3)."""

INTERRUPTED = "Interrupted before it ran; nothing was done."
REPLY_FAILED = "Not run: the model's reply broke off."
UNKNOWN = "The process ended while this ran: its outcome is unknown. It was not repeated."
UNANSWERED = "Not run: nobody answered the permission question."
GIVEN_UP = "Not run: the turn was given up."
NO_QUESTION = "Not run: the permission question could not be put."

Step: TypeAlias = tuple[State, list[Command]]


def take_blocks(state: State, blocks: tuple[Block, ...]) -> Step:
    """Add finished blocks of the open reply; each call among them is judged, or closed if the turn stops."""
    commands: list[Command] = []
    calls = state.calls
    for block in blocks:
        if isinstance(block, ToolCall):
            calls = (*calls, Call(f"{state.rounds}.{len(calls)}", block))
    fresh = calls[len(state.calls) :]
    if blocks:
        state = evolve(state, blocks=state.blocks + blocks, calls=calls)
    if state.phase is Phase.STOPPING:
        for call in fresh:
            state, told = end_call(state, call, INTERRUPTED)
            commands += told
    else:
        commands += [Judge(call.key) for call in fresh]
    return state, commands


def end_call(state: State, call: Call, text: str) -> Step:
    """Give *call* a result of ours, and tell it: it never ran, or nobody knows how it ended."""
    blocks = (Text(text),)
    done = evolve(call, place=Place.DONE, result=ToolResult(call.call.id, blocks, True), permits=())
    return state.having(done), [Tell(ToolEnded(call.key, call.call.id, call.call.name, blocks, True))]


def close_unstarted(state: State, text: str) -> Step:
    commands: list[Command] = []
    for call in state.calls:
        if call.place in (Place.RUNNING, Place.DONE):
            continue
        if call.question is not None and call.place in (Place.ASKING, Place.PARKED):
            commands.append(Withdraw((call.question.id,)))
        state, told = end_call(state, call, text)
        commands += told
    return state, commands


def go_on(state: State, commands: list[Command]) -> Step:
    """Start what may start; when the round is through, go to the next one or end the turn."""
    if state.phase is Phase.STOPPING:
        return _finish_stopping(state, commands)
    if not state.live:
        return state, commands
    state, starts = _start_ready(state)
    commands += starts
    if state.reply_open or any(call.place in BUSY for call in state.calls):
        return state, commands
    if any(call.place is not Place.DONE for call in state.calls):  # parked, and ready ones held back by them
        return state, [*commands, Finish("waiting")]
    again = bool(state.calls or state.steers or state.pause)
    state = close_round(state)
    if not again:
        return state, [*commands, Finish("completed")]
    if state.limits.max_turns is not None and state.turns >= state.limits.max_turns:
        return state, [*commands, Finish("max_turns")]
    return ask_model(state, commands)


def _finish_stopping(state: State, commands: list[Command]) -> Step:
    ending = state.ending
    through = not state.reply_open and all(call.place is Place.DONE for call in state.calls)
    if not through or ending is None:
        return state, commands
    finish = Finish(ending.outcome, ending.failure, ending.exception)
    return close_round(state), [*commands, finish]


BUSY = (Place.JUDGING, Place.ASKING, Place.STARTING, Place.RUNNING)


def _start_ready(state: State) -> Step:
    """
    Say which ready calls start (rule E3).

    Parallel calls overlap; another runs alone, after all before it. A call whose traits are not
    known yet, or that is not parallel and not done, holds back what is behind it.
    """
    commands: list[Command] = []
    at_work = sum(call.place in (Place.STARTING, Place.RUNNING) for call in state.calls)
    all_done = True
    for call in state.calls:
        if call.place is Place.READY and at_work < MOST_AT_ONCE and (call.parallel or all_done):
            state = state.having(evolve(call, place=Place.STARTING))
            commands.append(StartTool(call.key))
            at_work += 1
        if call.place is not Place.DONE:
            all_done = False
            if not call.parallel:
                break
    return state, commands


def ask_model(state: State, commands: list[Command]) -> Step:
    state = evolve(
        state, phase=Phase.REPLYING, rounds=state.rounds + 1, turns=state.turns + 1, reply_open=True
    )
    return state, [*commands, AskModel()]


def close_round(state: State) -> State:
    """
    Move the open round into the history: the reply and all its results, together, in call order.

    The only place where a reply enters the history, and the reason why rule E1 holds at every await.
    """
    history = state.history
    said = state.said
    if state.blocks:
        history = (*history, Message("assistant", state.blocks, state.cut))
        said = text_of(state.blocks)
    if state.calls:
        results = tuple(call.result for call in state.calls if call.result is not None)
        assert len(results) == len(state.calls), "a round closes when every call has its result"
        history = (*history, Message("tool", results))
    if state.steers:
        history = (*history, Message("user", state.steers))
    return evolve(state, history=history, blocks=(), calls=(), steers=(), cut=None, pause=False, said=said)
