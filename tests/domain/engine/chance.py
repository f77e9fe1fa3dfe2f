"""
A simulated driver that lets chance choose the facts, most of them fitting the state.

Uniform random facts are shallow: guided by the state they reach what a real run reaches, and one in
five is still anything at all. After each fact the promises of the machine are checked.
"""

import random
from collections import Counter
from typing import Literal

from norma.domain.engine.commands import CancelTools, Finish, Judge, Permit, RunTool, StartTool, Tell
from norma.domain.engine.state import Call, Phase, Place, State
from norma.domain.engine.turn import fold, step
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
    Limits,
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
from norma.domain.model.questions import Answer, AnswerWord, Question
from norma.domain.model.replies import Stop

WORDS: tuple[AnswerWord, ...] = ("once", "session", "deny", "stop")
YES_MORE_OFTEN: tuple[AnswerWord, ...] = ("once", "once", "session", "deny")
VERDICTS: tuple[Literal["allow", "ask", "deny"], ...] = ("allow", "allow", "ask", "deny")


class Chance:
    """One random life of a session; every broken promise is an AssertionError."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.state = State()
        self.journal: list[Fact] = []
        self.told: Counter[str] = Counter()
        self.results: dict[str, ToolResult] = {}
        self.runs: Counter[str] = Counter()
        self.running: dict[str, Call] = {}
        self.allowed: set[str] = set()
        self.answers: dict[str, str] = {}
        self.permits: Counter[str] = Counter()
        self.questions = 0

    def live(self, facts: int, strange: float = 0.2) -> None:
        """Take this many facts; *strange* is the share of those that need not fit the state."""
        for _ in range(facts):
            self.take(self.any_fact() if self.random.random() < strange else self.fitting_fact())

    def take(self, fact: Fact) -> None:
        """One fact, and at once those that answer commands, as the driver does it."""
        inbox = [fact]
        while inbox:
            fact = inbox.pop(0)
            new, commands = step(self.state, fact)
            if new is self.state:
                assert commands == [], f"{fact} changed nothing and yet asks for {commands}"
                continue
            self.state = new
            self.journal.append(fact)
            if isinstance(fact, Answered):
                self.answers[fact.question] = fact.answer.word
            answers: list[Fact] = []
            for command in commands:
                match command:
                    case Judge(key) | StartTool(key):
                        call = self.state.call(key)
                        if call is not None:
                            starting = isinstance(command, StartTool)
                            answers.append(self.started(call) if starting else self.judged(call))
                    case Finish(outcome):
                        answers.append(TurnEnded(outcome))
                    case RunTool(key):
                        self.run(key)
                    case CancelTools(keys):
                        assert set(keys) <= set(self.running), "only what runs is cancelled"
                    case Permit(question, answer):
                        self.permits[question] += 1
                        assert (answer and answer.word) == self.answers.get(question), "permitted as answered"
                    case Tell(ToolEnded() as ended):
                        self.told[ended.key] += 1
                        self.results[ended.key] = ToolResult(ended.id, ended.blocks, ended.is_error)
                        self.running.pop(ended.key, None)
                    case _:
                        pass
            inbox = answers + inbox
            self.check()
        self.check_goes_on()

    def run(self, key: str) -> None:
        call = self.state.call(key)
        assert call is not None
        assert key in self.allowed, "nothing runs that was not allowed"
        self.runs[key] += 1
        repeatable = call.traits is not None and call.traits.repeatable
        assert self.runs[key] == 1 or repeatable, "what is not repeatable runs once"
        self.running[key] = call
        if not call.parallel:
            assert set(self.running) == {key}, "a call that is not parallel runs alone"

    def check(self) -> None:
        """The promises, at every moment."""
        state = self.state
        check_history(state.history)
        assert all(count == 1 for count in self.told.values()), "each result is told once"
        for call in state.calls:
            if call.place is Place.DONE:
                assert self.results[call.key] == call.result, "what is told is what is stored"
        running = [call for call in state.calls if call.place is Place.RUNNING]
        assert {call.key for call in running} == set(self.running), "the machine knows what runs"
        assert len(running) <= 10
        assert all(not call.permits for call in state.calls if call.place is not Place.RUNNING)
        assert all(count == 1 for count in self.permits.values()), "a tool that asks is answered once"
        if state.phase is Phase.STOPPING:
            places = {call.place for call in state.calls}
            assert places <= {Place.RUNNING, Place.DONE}, "of a turn that stops, what does not run is closed"
        if not state.live and state.phase is not Phase.WAITING:
            assert state.calls == ()
            assert not state.reply_open

    def check_goes_on(self) -> None:
        """Between steps a live turn waits for the model, a tool or a person; else it would wait for ever."""
        state = self.state
        if state.live and not state.reply_open:
            assert {call.place for call in state.calls} & {Place.RUNNING, Place.ASKING}

    def finish(self) -> None:
        """At the end of a life: the fold of the journal is the live state."""
        assert fold(self.journal) == self.state

    def crash(self) -> None:
        """The process dies; another one folds the journal and goes on."""
        self.state = fold(self.journal)
        for key in list(self.running):
            call = self.running.pop(key)
            if call.traits is None or not call.traits.repeatable:
                self.allowed.discard(key)  # from now on `run` would object
        self.take(Resumed())

    def judged(self, call: Call) -> Judged:
        word = self.random.choice(VERDICTS)
        traits = Traits(self.random.random() < 0.6, self.random.random() < 0.5)
        traits = call.traits or traits
        if word == "ask":
            return Judged(call.key, "ask", "", None, traits, self.question(call.key))
        if word == "allow":
            self.allowed.add(call.key)
        return Judged(call.key, word, "because", None, traits)

    def question(self, key: str) -> Question:
        """A question that was never put before."""
        self.questions += 1
        action = Action("tool", Effects(), "shows", f"rule {self.random.randrange(3)}")
        return Question(f"q{self.questions}", key, action, "d", "t", "why")

    def started(self, call: Call) -> Fact:
        if self.random.random() < 0.1:
            again = self.judged(call)
            return Judged(call.key, "deny", "no more") if again.decision == "allow" else again
        if call.question is not None and self.answers.get(call.question.id) in ("once", "session"):
            self.allowed.add(call.key)
        return ToolStarted(call.key, call.call.id, call.call.name)

    def fitting_fact(self) -> Fact:
        """A fact that may well come in this state."""
        state, choices = self.state, list[Fact]()
        if state.phase in (Phase.IDLE, Phase.WAITING):
            choices += [self.prompt(), self.prompt()]
        if state.phase is Phase.WAITING:
            choices += [Resumed(), Resumed()]
        if state.reply_open:
            choices += [self.offer(), self.offer(), ReplyEnded(self.words(), Stop("tool_use")), ReplyCut(())]
        for call in state.calls:
            if call.place in (Place.ASKING, Place.PARKED) and call.question is not None:
                word = self.random.choice(YES_MORE_OFTEN)
                choices += [Answered(call.question.id, Answer(word)), Deferred(call.question.id)]
            if call.place is Place.RUNNING:
                choices += [self.ended(call.key)] * 2 + [PermitAsked(call.key, self.question(call.key))]
            if call.place is Place.DONE:
                choices += [self.ended(call.key)]  # late, as after a grace period
            for question in call.permits:
                word = self.random.choice(YES_MORE_OFTEN)
                choices += [Answered(question.id, Answer(word)), Deferred(question.id)]
        return self.random.choice(choices or [self.prompt()])

    def any_fact(self) -> Fact:
        """Any fact at all, with keys and questions that exist, existed or never did."""
        key = f"{self.random.randrange(self.state.rounds + 2)}.{self.random.randrange(3)}"
        question = f"q{self.random.randrange(self.questions + 2)}"
        failure = Failure("server", "broken", "http", 500)
        return self.random.choice(
            [
                SessionOpened("now"),
                self.prompt() if not self.state.live else Interrupted(),
                Steered(self.words()),
                self.offer(),
                ReplyEnded(self.words(), Stop("end_turn")),
                ReplyCut(self.words(), failure),
                Answered(question, Answer(self.random.choice(WORDS))),
                Deferred(question),
                PermitAsked(key, self.question(key)),
                self.ended(key),
                Interrupted(),
                LimitReached("timeout"),
            ]
        )

    def prompt(self) -> Prompted:
        return Prompted(self.words(), Limits(max_turns=self.random.choice((1, 3, None))))

    def offer(self) -> CallOffered:
        name = self.random.choice(("read", "write"))
        id_ = f"call_{self.random.randrange(3)}"  # ids repeat, as local servers do
        return CallOffered((*self.words(), ToolCall(id_, name, {})))

    def ended(self, key: str) -> ToolEnded:
        call = self.state.call(key)
        id_ = "call_0" if call is None else call.call.id
        return ToolEnded(key, id_, "read", self.words(), self.random.random() < 0.2)

    def words(self) -> tuple[Text, ...]:
        return (Text(str(self.random.random())),)


def check_history(history: tuple[Message, ...]) -> None:
    """E1: every call has exactly one result, in the message after it, in the order of the calls."""
    for at, message in enumerate(history):
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        following = history[at + 1] if at + 1 < len(history) else None
        if calls:
            assert following is not None
            assert following.role == "tool"
            assert len(following.blocks) == len(calls)
            for call, result in zip(calls, following.blocks, strict=True):
                assert isinstance(result, ToolResult)
                assert result.id == call.id
        if message.role == "tool":
            before = history[at - 1]
            assert before.role == "assistant"
            assert any(isinstance(block, ToolCall) for block in before.blocks)
