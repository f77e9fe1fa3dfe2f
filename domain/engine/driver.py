"""
The driver: carries one turn from its first fact to its end.

One loop (take facts, step, append, act) and one kind of child (an activity, which returns one
fact). The machine decides; the driver waits. Facts are in the journal before their commands are
carried out, and the live state moves only then.

Above: `session`. Below: the ports in `world`.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from norma.domain.engine.activities import Activities, told_to_end
from norma.domain.engine.commands import (
    AskModel,
    AskPerson,
    CancelReply,
    CancelTools,
    Command,
    Finish,
    Judge,
    Permit,
    RunTool,
    StartTool,
    Tell,
    Withdraw,
)
from norma.domain.engine.gate import Gate, describe
from norma.domain.engine.outbox import Outbox, Passed
from norma.domain.engine.permits import Permits
from norma.domain.engine.reading import ReplyReader
from norma.domain.engine.running import ToolRunner, never_begun
from norma.domain.engine.state import State
from norma.domain.engine.turn import step
from norma.domain.engine.world import World
from norma.domain.model.facts import (
    Answered,
    Deferred,
    Fact,
    Interrupted,
    LimitReached,
    Outcome,
    ReplyCut,
    TurnEnded,
)
from norma.domain.model.failures import Failure
from norma.domain.model.questions import Answer, Later, Question
from norma.domain.model.requests import ReplyRequest
from norma.ports.errors import JournalConflict, PortError
from norma.ports.tool import ToolOutput


class Driver:
    """
    One turn at work. `run` is the task; the session owns it.

    *lost*: the journal would not take what came. *over*: no fact is taken any more.
    """

    def __init__(
        self,
        world: World,
        session: str,
        state: State,
        version: int,
        first: Sequence[Fact],
        left: Callable[["asyncio.Task[ToolOutput]"], None],
    ) -> None:
        self.outbox = Outbox()
        self.state = state
        self.version = version
        self.lost = False
        self.over = False
        self._ahead = state
        self._world = world
        self._session = session
        self._gate = Gate(world.toolbox, world.policy, session)
        self._tools = ToolRunner(
            self.outbox,
            world.clock,
            session=session,
            timeout_s=world.tool_timeout_s,
            grace_s=world.grace_s,
            left=left,
        )
        self._inbox: deque[Fact] = deque(first)
        self._wake = asyncio.Event()
        self._fault: BaseException | None = None
        self._timed = False
        self._permits = Permits(self._gate, self.post)
        self._activities = Activities(self.post, self._broken)

    def post(self, fact: Fact) -> None:
        """Add a fact to what will be taken next."""
        self._inbox.append(fact)
        self._wake.set()

    def takes(self, fact: Fact) -> bool:
        """Whether *fact* would change something, if it were posted now, after all that was posted before."""
        state = self._ahead
        for posted in self._inbox:
            state, _ = step(state, posted)
        return not self.over and step(state, fact)[0] is not state

    async def run(self) -> None:
        """
        Carry the turn to its end; the last event put out is its `TurnEnded`.

        Cancelled once, it ends the turn as interrupted and raises CancelledError when that is
        done; cancelled twice, it leaves at once, with a valid journal.
        """
        cancelled: asyncio.CancelledError | None = None
        try:
            while True:
                try:
                    await self._crank()
                    if self.lost or not (self.state.live or self._inbox):
                        break
                    if not self.state.live:
                        continue  # something was said while the turn's end was written down
                    self._set_deadline()
                    await self._wake.wait()
                    self._wake.clear()
                except asyncio.CancelledError as error:
                    if cancelled is not None:
                        raise
                    cancelled = error
                    _uncancel()
                    self.post(Interrupted())
        finally:
            self.over = True
            await self._activities.close()
            self.outbox.close()
        if cancelled is not None:
            raise cancelled

    async def _crank(self) -> None:
        """Take all facts there are: step through them, append what changed something, act."""
        if self._fault is not None:
            raise self._fault
        state, batch, effects = self.state, list[Fact](), list[Command]()
        while self._inbox:
            fact = self._inbox.popleft()
            new, commands = step(state, fact)
            if new is state:
                continue
            state = new
            batch.append(fact)
            for command in reversed(commands):
                answer = self._at_once(command, state)
                if answer is not None:
                    self._inbox.appendleft(answer)
            effects += commands
        if not batch:
            return
        self._ahead = state
        cancelled = await self._append(batch)
        if self.lost:
            return
        self.state = state
        for command in effects:
            self._carry_out(command)
        if cancelled is not None:
            raise cancelled

    async def _append(self, batch: list[Fact]) -> asyncio.CancelledError | None:
        """Write *batch* down. A cancel during it is given back; by the port's promise it is written then."""
        try:
            self.version = await self._world.journal.append(self._session, self.version, batch)
        except asyncio.CancelledError as error:
            self.version += 1
            return error
        except JournalConflict as error:
            self._lose("conflict", error.failure, error)
        except PortError as error:
            self._lose("journal_failed", error.failure, error)
        except Exception as error:
            # A fault in an adapter counts as the journal's failure: what it wrote is not known.
            failure = Failure("journal", f"The journal adapter failed: {describe(error)}")
            self._lose("journal_failed", failure, error)
        return None

    def _lose(self, outcome: Outcome, failure: Failure, error: Exception) -> None:
        """The journal is not ours to write: nothing of this step is carried out, the turn is over here."""
        self.lost = True
        state = self.state
        self.outbox.put(
            TurnEnded(outcome, self._session, state.said, state.turn_usage, state.turns, failure, error)
        )

    def _at_once(self, command: Command, state: State) -> Fact | None:
        """The answer to a command that needs no port."""
        match command:
            case Judge(key) | StartTool(key):
                call = state.call(key)
                if call is None:
                    return None
                decide = self._gate.judge if isinstance(command, Judge) else self._gate.start
                return decide(call, state.grants)
            case Finish(outcome, failure, exception):
                text, usage, turns = state.said, state.turn_usage, state.turns
                return TurnEnded(outcome, self._session, text, usage, turns, failure, exception)
            case _:
                return None

    def _carry_out(self, command: Command) -> None:
        """Begin an effect; never waits."""
        match command:
            case AskModel():
                self._ask_model()
            case CancelReply():
                self._activities.cancel("reply")
            case RunTool(key):
                self._run_tool(key)
            case CancelTools(keys):
                for key in keys:
                    self._activities.cancel(f"tool {key}")
            case AskPerson(question):
                self._ask_person(question)
            case Permit(question_id, answer):
                self._permits.settle(question_id, answer)
            case Withdraw(questions):
                for question_id in questions:
                    self._activities.cancel(f"question {question_id}")
            case Tell(event):
                self.outbox.put(event)
            case Judge() | StartTool() | Finish():
                pass  # answered in the step

    def _ask_model(self) -> None:
        state, world = self.state, self._world
        request = ReplyRequest(state.history, world.system, world.toolbox.specs, world.options)
        reader = ReplyReader(state.rounds, self.outbox, self.post)
        self._activities.start("reply", reader.read(world.model, request), ReplyCut(()))

    def _run_tool(self, key: str) -> None:
        call = self.state.call(key)
        if call is None:
            return
        tool, action = self._gate.running(call)
        permit = partial(self._permits.ask, call, lambda: self.state.grants)
        self._activities.start(f"tool {key}", self._tools.run(call, tool, action, permit), never_begun(call))

    def _ask_person(self, question: Question) -> None:
        if self._world.approver is None:
            # The host was told. Until it comes for the next event it may answer at once.
            self.outbox.put(Passed(lambda: self.post(Deferred(question.id))))
        else:
            self._activities.start(f"question {question.id}", self._asked(question))

    async def _asked(self, question: Question) -> Fact | None:
        assert self._world.approver is not None
        try:
            answer = await self._world.approver.ask(question)
        except asyncio.CancelledError:
            if told_to_end():
                return None
            return Answered(question.id, Answer("deny", "The question could not be put: it was cancelled."))
        except Exception as error:
            # A broken gate is a closed gate (rule T6).
            return Answered(question.id, Answer("deny", f"The question could not be put: {describe(error)}"))
        if isinstance(answer, Later):
            return Deferred(question.id)
        if isinstance(answer, Answer):
            return Answered(question.id, answer)
        return Answered(question.id, Answer("deny", "The answer to the question was not understood."))

    def _set_deadline(self) -> None:
        seconds = self.state.limits.timeout_s
        if seconds is not None and not self._timed:
            self._timed = True
            self._activities.start("deadline", self._deadline(seconds))

    async def _deadline(self, seconds: float) -> Fact | None:
        try:
            await self._world.clock.sleep(seconds)
        except asyncio.CancelledError:
            return None
        return LimitReached("timeout")

    def _broken(self, error: BaseException) -> None:
        """A fault of ours in an activity: the driver raises it, and the host gets it."""
        self._fault = error
        self._wake.set()


def _uncancel() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()
