"""Turn machines that are wrong on purpose (see `mutants`)."""

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import evolve

from norma.domain.engine import (
    rounds,
    turn,
)
from norma.domain.engine.commands import CancelTools, Tell
from norma.domain.engine.rounds import Step
from norma.domain.engine.state import Call, Phase, Place, State
from norma.domain.model.actions import Traits
from norma.domain.model.facts import (
    Answered,
    Fact,
    Interrupted,
    PermitAsked,
    Prompted,
    ReplyEnded,
    Steered,
    ToolEnded,
    TurnEnded,
)
from norma.domain.model.questions import Answer
from norma.domain.model.usage import NOTHING
from tests.domain.engine.mutants import Mutants, Patch

Handler: TypeAlias = Callable[[State, Any], Step]

MUTANTS = Mutants()


def handling(patch: Patch, kind: type[Fact], wrong: Callable[[Handler, State, Any], Step]) -> None:
    """Take facts of *kind* with *wrong*, which gets the real handler."""
    real = turn._HANDLERS[kind]
    patch.setitem(turn._HANDLERS, kind, lambda state, fact: wrong(real, state, fact))


@MUTANTS.caught_by("tables", "guided")
def a_late_end_counts(patch: Patch) -> None:
    """A tool's end is taken from a call that has its result already."""

    def wrong(real: Handler, state: State, fact: ToolEnded) -> Step:
        call = state.call(fact.key)
        if call is not None and call.place is Place.DONE:
            state = state.having(evolve(call, place=Place.RUNNING))
        return real(state, fact)

    handling(patch, ToolEnded, wrong)


@MUTANTS.caught_by("tables")
def a_fact_that_changes_nothing_is_written(patch: Patch) -> None:
    """An interrupt while nothing goes on gives another state object."""
    handling(
        patch, Interrupted, lambda real, state, fact: (evolve(real(state, fact)[0]), real(state, fact)[1])
    )


@MUTANTS.caught_by("guided")
def a_result_is_told_twice(patch: Patch) -> None:
    """A tool's end is told to the host two times."""

    def wrong(real: Handler, state: State, fact: ToolEnded) -> Step:
        new, commands = real(state, fact)
        return new, [*commands, Tell(fact)] if new is not state else commands

    handling(patch, ToolEnded, wrong)


@MUTANTS.caught_by("crashes", "kill")
def what_is_unsafe_runs_again_on_resume(patch: Patch) -> None:
    """A resume runs each call again that had started."""
    real = turn._revive

    def wrong(state: State, call: Call) -> Step:
        if call.place is Place.RUNNING:
            call = evolve(call, traits=Traits(call.parallel, repeatable=True))
        return real(state.having(call), call)

    patch.setattr(turn, "_revive", wrong)


@MUTANTS.caught_by("guided", "cancel")
def a_stop_forgets_asked_calls(patch: Patch) -> None:
    """A stop gives no result to calls that a person is asked about."""
    real = rounds.close_unstarted

    def wrong(state: State, text: str) -> Step:
        asking = {call.key: call for call in state.calls if call.place is Place.ASKING}
        new, commands = real(evolve(state, calls=tuple(c for c in state.calls if c.key not in asking)), text)
        done = {call.key: call for call in new.calls}
        return evolve(new, calls=tuple(asking.get(c.key) or done[c.key] for c in state.calls)), commands

    patch.setattr(turn, "close_unstarted", wrong)


@MUTANTS.caught_by("guided", "turns")
def unsafe_calls_overlap(patch: Patch) -> None:
    """Every call starts as if it were parallel."""
    real = rounds._start_ready

    def wrong(state: State) -> Step:
        parallel = Traits(parallel=True)
        pretended = tuple(evolve(call, traits=parallel if call.traits else None) for call in state.calls)
        new, commands = real(evolve(state, calls=pretended))
        places = tuple(
            evolve(call, place=other.place) for call, other in zip(state.calls, new.calls, strict=True)
        )
        return evolve(state, calls=places), commands

    patch.setattr(rounds, "_start_ready", wrong)


@MUTANTS.caught_by("turns")
def any_number_runs_at_once(patch: Patch) -> None:
    """Ten is no limit."""
    patch.setattr(rounds, "MOST_AT_ONCE", 1000)


@MUTANTS.caught_by("guided")
def a_waiting_turn_forgets_ready_calls(patch: Patch) -> None:
    """A call held back by a parked one is dropped when the turn waits."""

    def wrong(real: Handler, state: State, fact: TurnEnded) -> Step:
        new, commands = real(state, fact)
        if new.phase is Phase.WAITING:
            new = evolve(new, calls=tuple(call for call in new.calls if call.place is not Place.READY))
        return new, commands

    handling(patch, TurnEnded, wrong)


@MUTANTS.caught_by("tables", "questions")
def an_answer_to_a_waiting_turn_acts_at_once(patch: Patch) -> None:
    """The answer is acted on by whoever records it, not by the process that goes on with the turn."""

    def wrong(real: Handler, state: State, fact: Answered) -> Step:
        if state.phase is not Phase.WAITING:
            return real(state, fact)
        new, commands = real(evolve(state, phase=Phase.WORKING), fact)
        return evolve(new, phase=Phase.WAITING), commands

    handling(patch, Answered, wrong)


@MUTANTS.caught_by("tables", "questions")
def the_last_answer_holds(patch: Patch) -> None:
    """A second answer to a question replaces the first."""

    def wrong(real: Handler, state: State, fact: Answered) -> Step:
        call = state.asked(fact.question)
        if call is not None and state.phase is Phase.WAITING:
            state = state.having(evolve(call, answer=None))
        return real(state, fact)

    handling(patch, Answered, wrong)


@MUTANTS.caught_by("questions")
def a_resume_forgets_the_answer(patch: Patch) -> None:
    """A question that was answered meanwhile is put again."""
    real = turn._revive
    patch.setattr(turn, "_revive", lambda state, call: real(state, evolve(call, answer=None)))


@MUTANTS.caught_by("guided", "questions")
def a_denied_call_runs(patch: Patch) -> None:
    """Any answer is a yes."""
    real = turn._settle

    def wrong(state: State, call: Call) -> Step:
        return real(state, evolve(call, answer=Answer("once")))

    patch.setattr(turn, "_settle", wrong)


@MUTANTS.caught_by("cancel", "leaving")
def a_stop_leaves_tools_running(patch: Patch) -> None:
    """A stop cancels the reply, and waits for what runs to end by itself."""
    real = turn._stop

    def wrong(state: State, ending: Any) -> Step:
        new, commands = real(state, ending)
        return new, [command for command in commands if not isinstance(command, CancelTools)]

    patch.setattr(turn, "_stop", wrong)


@MUTANTS.caught_by("tables", "outcomes")
def the_last_ending_holds(patch: Patch) -> None:
    """An interrupt replaces the outcome that was decided before."""
    real = turn._stop
    patch.setattr(turn, "_stop", lambda state, ending: real(evolve(state, ending=None), ending))


@MUTANTS.caught_by("guided", "turns")
def results_stand_in_another_order(patch: Patch) -> None:
    """The results of a round do not stand in the order of its calls."""

    def wrong(real: Callable[[State], State], state: State) -> State:
        new = real(state)
        turned = (evolve(m, blocks=m.blocks[::-1]) if m.role == "tool" else m for m in new.history)
        return evolve(new, history=tuple(turned))

    closing(patch, wrong)


@MUTANTS.caught_by("many")
def the_history_is_made_anew_for_each_round(patch: Patch) -> None:
    """Each round costs as much as there are messages before it."""

    def wrong(real: Callable[[State], State], state: State) -> State:
        new = real(state)
        return evolve(new, history=tuple(evolve(message) for message in new.history))

    closing(patch, wrong)


def closing(patch: Patch, wrong: Callable[[Callable[[State], State], State], State]) -> None:
    """Close rounds with *wrong*, which gets the real function."""
    real = rounds.close_round
    for module in (rounds, turn):
        patch.setattr(module, "close_round", lambda state: wrong(real, state))


@MUTANTS.caught_by("guided", "turns")
def keys_repeat_over_rounds(patch: Patch) -> None:
    """A call's key is its place alone, as some vendors' ids are."""
    patch.setattr(rounds, "Call", lambda key, block: Call(f"0.{key.partition('.')[2]}", block))


@MUTANTS.caught_by("turns")
def steering_is_lost(patch: Patch) -> None:
    """What is said while a turn runs reaches nobody."""
    handling(patch, Steered, lambda real, state, fact: (state, []))


@MUTANTS.caught_by("outcomes")
def limits_are_those_of_the_process(patch: Patch) -> None:
    """The limits that a prompt carries are not taken."""
    handling(patch, Prompted, lambda real, state, fact: real(state, Prompted(fact.blocks)))


@MUTANTS.caught_by("outcomes")
def usage_is_counted_for_the_last_reply_alone(patch: Patch) -> None:
    """A turn's usage is that of its last model call."""

    def wrong(real: Handler, state: State, fact: ReplyEnded) -> Step:
        return real(evolve(state, turn_usage=NOTHING), fact)

    handling(patch, ReplyEnded, wrong)


@MUTANTS.caught_by("guided", "turns")
def a_failed_reply_starts_what_was_ready(patch: Patch) -> None:
    """Calls that had not started when the reply broke off are not closed."""
    real = rounds.close_unstarted

    def wrong(state: State, text: str) -> Step:
        return (state, []) if text == rounds.REPLY_FAILED else real(state, text)

    patch.setattr(turn, "close_unstarted", wrong)


@MUTANTS.caught_by("permits")
def further_questions_repeat_their_ids(patch: Patch) -> None:
    """After a resume a further question has the id of an earlier one."""

    def wrong(real: Handler, state: State, fact: PermitAsked) -> Step:
        new, commands = real(state, fact)
        call = new.call(fact.key)
        if call is not None and new is not state:
            new = new.having(evolve(call, asked=call.asked - 1))
        return new, commands

    handling(patch, PermitAsked, wrong)


@MUTANTS.caught_by("guided")
def a_tool_that_has_ended_still_asks(patch: Patch) -> None:
    """The further questions of a call stay open when it has ended."""

    def wrong(real: Handler, state: State, fact: ToolEnded) -> Step:
        before = state.call(fact.key)
        new, commands = real(state, fact)
        call = new.call(fact.key)
        if before is not None and call is not None and new is not state:
            new = new.having(evolve(call, permits=before.permits))
        return new, commands

    handling(patch, ToolEnded, wrong)
