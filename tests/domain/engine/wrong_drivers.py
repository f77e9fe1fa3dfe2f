"""Gates, drivers and sessions that are wrong on purpose (see `mutants`)."""

import asyncio
from collections.abc import Sequence
from typing import Any

from norma.domain.engine import (
    activities,
    driver,
    gate,
    outbox,
    permits,
    reading,
    running,
    session,
)
from norma.domain.engine.state import Call
from norma.domain.model.events import Event
from norma.domain.model.facts import (
    Answered,
    Fact,
    Interrupted,
    ToolStarted,
    TurnEnded,
)
from norma.domain.model.questions import Answer, Grant, Question
from tests.domain.engine.mutants import Mutants, Patch

MUTANTS = Mutants()

# The gate.


@MUTANTS.caught_by("questions")
def grants_ignore_what_the_tool_has_become(patch: Patch) -> None:
    """A grant holds for any tool of that name."""
    patch.setattr(gate, "tool_digest", lambda spec: spec.name)


@MUTANTS.caught_by("questions")
def an_answer_holds_for_whatever_runs_then(patch: Patch) -> None:
    """A yes is not bound to what was shown."""

    def wrong(self: gate.Gate, call: Call, tool: Any, action: Any) -> bool:
        return call.answer is not None and call.answer.allows

    patch.setattr(gate.Gate, "_answered", wrong)


@MUTANTS.caught_by("again", "questions")
def a_start_is_not_judged(patch: Patch) -> None:
    """What was allowed once may start, whatever it would do now."""

    def wrong(self: gate.Gate, call: Call, grants: Sequence[Grant]) -> ToolStarted:
        tool, _, action, _ = self._verdict(call, grants)
        self._started[call.key] = tool, action
        return ToolStarted(call.key, call.call.id, call.call.name)

    patch.setattr(gate.Gate, "start", wrong)


@MUTANTS.caught_by("turns")
def arguments_are_not_checked(patch: Patch) -> None:
    """Any arguments fit any schema."""
    patch.setattr(gate.Toolbox, "misfit", lambda self, call: None)


@MUTANTS.caught_by("permits")
def nobody_answering_permits(patch: Patch) -> None:
    """A further step is permitted when nobody answers now."""
    real = permits.Permits.settle

    def wrong(self: permits.Permits, question: str, answer: Answer | None) -> None:
        real(self, question, answer or Answer("once"))

    patch.setattr(permits.Permits, "settle", wrong)


# The driver and its activities.


@MUTANTS.caught_by("kill")
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


@MUTANTS.caught_by("cancel")
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


@MUTANTS.caught_by("outcomes", "kill")
def a_conflict_is_written_over(patch: Patch) -> None:
    """The version that is expected is the one that is there."""
    real = driver.Driver._append

    async def wrong(self: driver.Driver, batch: list[Fact]) -> asyncio.CancelledError | None:
        self.version = (await self._world.journal.read(self._session)).version
        return await real(self, batch)

    patch.setattr(driver.Driver, "_append", wrong)


@MUTANTS.caught_by("outcomes")
def a_failed_append_is_ignored(patch: Patch) -> None:
    """The turn goes on though it could not be written down."""
    patch.setattr(driver.Driver, "_lose", lambda *arguments: None)


@MUTANTS.caught_by("cancel")
def a_run_that_never_began_is_silent(patch: Patch) -> None:
    """A task that is cancelled before its first step gives no fact."""
    real = activities.Activities._ended
    patch.setattr(
        activities.Activities, "_ended", lambda self, name, task, otherwise: real(self, name, task, None)
    )


@MUTANTS.caught_by("outcomes")
def each_cancel_is_ours(patch: Patch) -> None:
    """A CancelledError that a part below made up counts as one that the engine wanted."""
    for module in (driver, reading):
        patch.setattr(module, "told_to_end", lambda: True)


@MUTANTS.caught_by("questions")
def nonsense_is_a_yes(patch: Patch) -> None:
    """What an approver says is yes unless it is a no."""
    real = driver.Driver._asked

    async def wrong(self: driver.Driver, question: Question) -> Fact | None:
        fact = await real(self, question)
        if isinstance(fact, Answered) and "not understood" in (fact.answer.feedback or ""):
            return Answered(question.id, Answer("once"))
        return fact

    patch.setattr(driver.Driver, "_asked", wrong)


@MUTANTS.caught_by("turns")
def progress_comes_after_the_end(patch: Patch) -> None:
    """A tool can show lines when it is over."""
    patch.setattr(running._Progress, "close", lambda self: None)


@MUTANTS.caught_by("turns")
def half_a_text_is_lost(patch: Patch) -> None:
    """A reply that breaks off keeps its whole blocks only."""
    patch.setattr(reading, "_unfinished", lambda deltas: [])


@MUTANTS.caught_by("many")
def the_model_is_never_held_back(patch: Patch) -> None:
    """A host that does not read gets all that the model says into memory."""
    patch.setattr(outbox.Outbox, "full", property(lambda self: False))


# The session and its turns.


@MUTANTS.caught_by("leaving", "cancel")
def dropping_a_turn_does_nothing(patch: Patch) -> None:
    """A turn that nobody reads any more goes on."""
    patch.setattr(session.Session, "_drop", lambda self, loop, turn_driver: None)


@MUTANTS.caught_by("leaving", "cancel")
def an_end_is_not_awaited(patch: Patch) -> None:
    """A turn that is left is told to end, and left alone."""
    real = session.Session._end

    async def wrong(self: session.Session, turn_driver: driver.Driver) -> None:
        if turn_driver.state.live:
            turn_driver.post(Interrupted())
        else:
            await real(self, turn_driver)

    patch.setattr(session.Session, "_end", wrong)


@MUTANTS.caught_by("questions")
def a_failed_answer_leaves_an_old_version(patch: Patch) -> None:
    """After an answer that could not be recorded, the session goes on from what it knew."""
    real = session.Session._record

    async def wrong(self: session.Session, fact: Fact) -> bool:
        try:
            return await real(self, fact)
        finally:
            self._stale = False

    patch.setattr(session.Session, "_record", wrong)


@MUTANTS.caught_by("questions")
def every_answer_is_said_to_be_taken(patch: Patch) -> None:
    """A host is not told that its answer came too late."""
    patch.setattr(driver.Driver, "takes", lambda self, fact: True)


@MUTANTS.caught_by("questions")
def what_is_said_at_the_end_is_dropped(patch: Patch) -> None:
    """A fact that comes while the turn's end is written down is taken, and forgotten."""
    real = driver.Driver._append

    async def wrong(self: driver.Driver, batch: list[Fact]) -> asyncio.CancelledError | None:
        cancelled = await real(self, batch)
        if any(isinstance(fact, TurnEnded) for fact in batch):
            self._inbox.clear()
        return cancelled

    patch.setattr(driver.Driver, "_append", wrong)


@MUTANTS.caught_by("questions")
def a_turn_has_two_readers(patch: Patch) -> None:
    """A second reader takes the place of the first, who then waits for ever."""
    real = outbox.Outbox.get_nowait

    def wrong(self: outbox.Outbox) -> Event | None:
        self._reader = None
        return real(self)

    patch.setattr(outbox.Outbox, "get_nowait", wrong)
