"""
Engines that are wrong on purpose.

Each mutant patches functions of the engine in this process, around the real ones, and names the suites
(see `suites`) that must notice. What a mutant breaks is its docstring.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest
from attrs import evolve, frozen

from norma.domain.engine import (
    activities,
    driver,
    gate,
    outbox,
    permits,
    reading,
    rounds,
    running,
    session,
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
    ToolStarted,
    TurnEnded,
)
from norma.domain.model.questions import Answer, Grant, Question
from norma.domain.model.usage import NOTHING

Patch: TypeAlias = pytest.MonkeyPatch
Handler: TypeAlias = Callable[[State, Any], Step]


@frozen
class Mutant:
    """*install* makes the engine wrong; every suite of *caught_by* must notice."""

    name: str
    wrong: str
    install: Callable[[Patch], None]
    caught_by: tuple[str, ...]


MUTANTS: list[Mutant] = []


def mutant(*caught_by: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def added(install: Callable[[Patch], None]) -> Callable[[Patch], None]:
        wrong = (install.__doc__ or "").strip()
        MUTANTS.append(Mutant(install.__name__.replace("_", " "), wrong, install, caught_by))
        return install

    return added


def handling(patch: Patch, kind: type[Fact], wrong: Callable[[Handler, State, Any], Step]) -> None:
    """Take facts of *kind* with *wrong*, which gets the real handler."""
    real = turn._HANDLERS[kind]
    patch.setitem(turn._HANDLERS, kind, lambda state, fact: wrong(real, state, fact))


# The machine.


@mutant("tables", "guided")
def a_late_end_counts(patch: Patch) -> None:
    """A tool's end is taken from a call that has its result already."""

    def wrong(real: Handler, state: State, fact: ToolEnded) -> Step:
        call = state.call(fact.key)
        if call is not None and call.place is Place.DONE:
            state = state.having(evolve(call, place=Place.RUNNING))
        return real(state, fact)

    handling(patch, ToolEnded, wrong)


@mutant("tables")
def a_fact_that_changes_nothing_is_written(patch: Patch) -> None:
    """An interrupt while nothing goes on gives another state object."""
    handling(
        patch, Interrupted, lambda real, state, fact: (evolve(real(state, fact)[0]), real(state, fact)[1])
    )


@mutant("guided")
def a_result_is_told_twice(patch: Patch) -> None:
    """A tool's end is told to the host two times."""

    def wrong(real: Handler, state: State, fact: ToolEnded) -> Step:
        new, commands = real(state, fact)
        return new, [*commands, Tell(fact)] if new is not state else commands

    handling(patch, ToolEnded, wrong)


@mutant("crashes", "kill")
def what_is_unsafe_runs_again_on_resume(patch: Patch) -> None:
    """A resume runs each call again that had started."""
    real = turn._revive

    def wrong(state: State, call: Call) -> Step:
        if call.place is Place.RUNNING:
            call = evolve(call, traits=Traits(call.parallel, repeatable=True))
        return real(state.having(call), call)

    patch.setattr(turn, "_revive", wrong)


@mutant("guided", "cancel")
def a_stop_forgets_asked_calls(patch: Patch) -> None:
    """A stop gives no result to calls that a person is asked about."""
    real = rounds.close_unstarted

    def wrong(state: State, text: str) -> Step:
        asking = {call.key: call for call in state.calls if call.place is Place.ASKING}
        new, commands = real(evolve(state, calls=tuple(c for c in state.calls if c.key not in asking)), text)
        done = {call.key: call for call in new.calls}
        return evolve(new, calls=tuple(asking.get(c.key) or done[c.key] for c in state.calls)), commands

    patch.setattr(turn, "close_unstarted", wrong)


@mutant("guided", "turns")
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


@mutant("turns")
def any_number_runs_at_once(patch: Patch) -> None:
    """Ten is no limit."""
    patch.setattr(rounds, "MOST_AT_ONCE", 1000)


@mutant("guided")
def a_waiting_turn_forgets_ready_calls(patch: Patch) -> None:
    """A call held back by a parked one is dropped when the turn waits."""

    def wrong(real: Handler, state: State, fact: TurnEnded) -> Step:
        new, commands = real(state, fact)
        if new.phase is Phase.WAITING:
            new = evolve(new, calls=tuple(call for call in new.calls if call.place is not Place.READY))
        return new, commands

    handling(patch, TurnEnded, wrong)


@mutant("tables", "questions")
def an_answer_to_a_waiting_turn_acts_at_once(patch: Patch) -> None:
    """The answer is acted on by whoever records it, not by the process that goes on with the turn."""

    def wrong(real: Handler, state: State, fact: Answered) -> Step:
        if state.phase is not Phase.WAITING:
            return real(state, fact)
        new, commands = real(evolve(state, phase=Phase.WORKING), fact)
        return evolve(new, phase=Phase.WAITING), commands

    handling(patch, Answered, wrong)


@mutant("tables", "questions")
def the_last_answer_holds(patch: Patch) -> None:
    """A second answer to a question replaces the first."""

    def wrong(real: Handler, state: State, fact: Answered) -> Step:
        call = state.asked(fact.question)
        if call is not None and state.phase is Phase.WAITING:
            state = state.having(evolve(call, answer=None))
        return real(state, fact)

    handling(patch, Answered, wrong)


@mutant("questions")
def a_resume_forgets_the_answer(patch: Patch) -> None:
    """A question that was answered meanwhile is put again."""
    real = turn._revive
    patch.setattr(turn, "_revive", lambda state, call: real(state, evolve(call, answer=None)))


@mutant("guided", "questions")
def a_denied_call_runs(patch: Patch) -> None:
    """Any answer is a yes."""
    real = turn._settle

    def wrong(state: State, call: Call) -> Step:
        return real(state, evolve(call, answer=Answer("once")))

    patch.setattr(turn, "_settle", wrong)


@mutant("cancel", "leaving")
def a_stop_leaves_tools_running(patch: Patch) -> None:
    """A stop cancels the reply, and waits for what runs to end by itself."""
    real = turn._stop

    def wrong(state: State, ending: Any) -> Step:
        new, commands = real(state, ending)
        return new, [command for command in commands if not isinstance(command, CancelTools)]

    patch.setattr(turn, "_stop", wrong)


@mutant("tables", "outcomes")
def the_last_ending_holds(patch: Patch) -> None:
    """An interrupt replaces the outcome that was decided before."""
    real = turn._stop
    patch.setattr(turn, "_stop", lambda state, ending: real(evolve(state, ending=None), ending))


@mutant("guided", "turns")
def results_stand_in_another_order(patch: Patch) -> None:
    """The results of a round do not stand in the order of its calls."""

    def wrong(real: Callable[[State], State], state: State) -> State:
        new = real(state)
        turned = (evolve(m, blocks=m.blocks[::-1]) if m.role == "tool" else m for m in new.history)
        return evolve(new, history=tuple(turned))

    closing(patch, wrong)


@mutant("many")
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


@mutant("guided", "turns")
def keys_repeat_over_rounds(patch: Patch) -> None:
    """A call's key is its place alone, as some vendors' ids are."""
    patch.setattr(rounds, "Call", lambda key, block: Call(f"0.{key.partition('.')[2]}", block))


@mutant("turns")
def steering_is_lost(patch: Patch) -> None:
    """What is said while a turn runs reaches nobody."""
    handling(patch, Steered, lambda real, state, fact: (state, []))


@mutant("outcomes")
def limits_are_those_of_the_process(patch: Patch) -> None:
    """The limits that a prompt carries are not taken."""
    handling(patch, Prompted, lambda real, state, fact: real(state, Prompted(fact.blocks)))


@mutant("outcomes")
def usage_is_counted_for_the_last_reply_alone(patch: Patch) -> None:
    """A turn's usage is that of its last model call."""

    def wrong(real: Handler, state: State, fact: ReplyEnded) -> Step:
        return real(evolve(state, turn_usage=NOTHING), fact)

    handling(patch, ReplyEnded, wrong)


@mutant("guided", "turns")
def a_failed_reply_starts_what_was_ready(patch: Patch) -> None:
    """Calls that had not started when the reply broke off are not closed."""
    real = rounds.close_unstarted

    def wrong(state: State, text: str) -> Step:
        return (state, []) if text == rounds.REPLY_FAILED else real(state, text)

    patch.setattr(turn, "close_unstarted", wrong)


@mutant("permits")
def further_questions_repeat_their_ids(patch: Patch) -> None:
    """After a resume a further question has the id of an earlier one."""

    def wrong(real: Handler, state: State, fact: PermitAsked) -> Step:
        new, commands = real(state, fact)
        call = new.call(fact.key)
        if call is not None and new is not state:
            new = new.having(evolve(call, asked=call.asked - 1))
        return new, commands

    handling(patch, PermitAsked, wrong)


# The gate.


@mutant("questions")
def grants_ignore_what_the_tool_has_become(patch: Patch) -> None:
    """A grant holds for any tool of that name."""
    patch.setattr(gate, "tool_digest", lambda spec: spec.name)


@mutant("questions")
def an_answer_holds_for_whatever_runs_then(patch: Patch) -> None:
    """A yes is not bound to what was shown."""

    def wrong(self: gate.Gate, call: Call, tool: Any, action: Any) -> bool:
        return call.answer is not None and call.answer.allows

    patch.setattr(gate.Gate, "_answered", wrong)


@mutant("again", "questions")
def a_start_is_not_judged(patch: Patch) -> None:
    """What was allowed once may start, whatever it would do now."""

    def wrong(self: gate.Gate, call: Call, grants: Sequence[Grant]) -> ToolStarted:
        tool, _, action, _ = self._verdict(call, grants)
        self._started[call.key] = tool, action
        return ToolStarted(call.key, call.call.id, call.call.name)

    patch.setattr(gate.Gate, "start", wrong)


@mutant("turns")
def arguments_are_not_checked(patch: Patch) -> None:
    """Any arguments fit any schema."""
    patch.setattr(gate.Toolbox, "misfit", lambda self, call: None)


@mutant("permits")
def nobody_answering_permits(patch: Patch) -> None:
    """A further step is permitted when nobody answers now."""
    real = permits.Permits.settle

    def wrong(self: permits.Permits, question: str, answer: Answer | None) -> None:
        real(self, question, answer or Answer("once"))

    patch.setattr(permits.Permits, "settle", wrong)


# The driver and its activities.


@mutant("kill")
def effects_go_before_the_journal(patch: Patch) -> None:
    """A step's effects begin while its facts are still on their way to the journal."""
    real = driver.Driver._append

    async def wrong(self: driver.Driver, batch: list[Fact]) -> asyncio.CancelledError | None:
        own = driver.Driver.__new__(driver.Driver)
        own.__dict__ = {**self.__dict__, "outbox": outbox.Outbox()}
        self.version += 1

        async def later() -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await real(own, batch)

        asyncio.ensure_future(later())  # noqa: RUF006
        return None

    patch.setattr(driver.Driver, "_append", wrong)


@mutant("cancel")
def an_append_is_abandoned_on_cancel(patch: Patch) -> None:
    """A cancelled append counts as one that did not happen."""
    real = driver.Driver._append

    async def wrong(self: driver.Driver, batch: list[Fact]) -> asyncio.CancelledError | None:
        before = self.version
        cancelled = await real(self, batch)
        if cancelled is not None:
            self.version = before
        return cancelled

    patch.setattr(driver.Driver, "_append", wrong)


@mutant("outcomes", "kill")
def a_conflict_is_written_over(patch: Patch) -> None:
    """The version that is expected is the one that is there."""
    real = driver.Driver._append

    async def wrong(self: driver.Driver, batch: list[Fact]) -> asyncio.CancelledError | None:
        self.version = (await self._world.journal.read(self._session)).version
        return await real(self, batch)

    patch.setattr(driver.Driver, "_append", wrong)


@mutant("outcomes")
def a_failed_append_is_ignored(patch: Patch) -> None:
    """The turn goes on though it could not be written down."""
    patch.setattr(driver.Driver, "_lose", lambda *arguments: None)


@mutant("cancel")
def a_run_that_never_began_is_silent(patch: Patch) -> None:
    """A task that is cancelled before its first step gives no fact."""
    real = activities.Activities._ended
    patch.setattr(
        activities.Activities, "_ended", lambda self, name, task, otherwise: real(self, name, task, None)
    )


@mutant("outcomes")
def each_cancel_is_ours(patch: Patch) -> None:
    """A CancelledError that a part below made up counts as one that the engine wanted."""
    for module in (driver, reading):
        patch.setattr(module, "told_to_end", lambda: True)


@mutant("questions")
def nonsense_is_a_yes(patch: Patch) -> None:
    """What an approver says is yes unless it is a no."""
    real = driver.Driver._asked

    async def wrong(self: driver.Driver, question: Question) -> Fact | None:
        fact = await real(self, question)
        if isinstance(fact, Answered) and "not understood" in (fact.answer.feedback or ""):
            return Answered(question.id, Answer("once"))
        return fact

    patch.setattr(driver.Driver, "_asked", wrong)


@mutant("turns")
def progress_comes_after_the_end(patch: Patch) -> None:
    """A tool can show lines when it is over."""
    patch.setattr(running._Progress, "close", lambda self: None)


@mutant("turns")
def half_a_text_is_lost(patch: Patch) -> None:
    """A reply that breaks off keeps its whole blocks only."""
    patch.setattr(reading, "_unfinished", lambda deltas: [])


@mutant("many")
def the_model_is_never_held_back(patch: Patch) -> None:
    """A host that does not read gets all that the model says into memory."""
    patch.setattr(outbox.Outbox, "full", property(lambda self: False))


# The session and its turns.


@mutant("leaving", "cancel")
def dropping_a_turn_does_nothing(patch: Patch) -> None:
    """A turn that nobody reads any more goes on."""
    patch.setattr(session.Session, "_drop", lambda self, loop, turn_driver: None)


@mutant("leaving", "cancel")
def an_end_is_not_awaited(patch: Patch) -> None:
    """A turn that is left is told to end, and left alone."""
    real = session.Session._end

    async def wrong(self: session.Session, turn_driver: driver.Driver) -> None:
        if turn_driver.state.live:
            turn_driver.post(Interrupted())
        else:
            await real(self, turn_driver)

    patch.setattr(session.Session, "_end", wrong)


@mutant("questions")
def a_failed_answer_leaves_an_old_version(patch: Patch) -> None:
    """After an answer that could not be recorded, the session goes on from what it knew."""
    real = session.Session._record

    async def wrong(self: session.Session, fact: Fact) -> bool:
        try:
            return await real(self, fact)
        finally:
            self._stale = False

    patch.setattr(session.Session, "_record", wrong)
