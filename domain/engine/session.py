"""
Sessions: what a host holds.

A session is its journal; this object is the fold of it, and the owner of the one task that may
carry a turn. `prompt` and `proceed` give a `Turn`, an iterator that is an object and not an async
generator: no scope of ours spans a hand-over to the host, so nothing of ours can cancel the
host's own code, and dropping the turn is noticed.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from norma.domain.engine.driver import Driver
from norma.domain.engine.state import Call, State
from norma.domain.engine.turn import fold, step
from norma.domain.engine.world import World
from norma.domain.model.blocks import Block, Text
from norma.domain.model.events import Event
from norma.domain.model.facts import (
    Answered,
    Deferred,
    Fact,
    Interrupted,
    Limits,
    Prompted,
    Resumed,
    SessionOpened,
    Steered,
    TurnEnded,
)
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Later
from norma.domain.model.usage import Usage
from norma.ports.tool import ToolOutput


class SessionBusy(RuntimeError):
    """A turn of this session is going on. Read it to its end, or close it, before the next."""


class NoTurn(RuntimeError):
    """There is no turn to act on."""


_WORDS = ("once", "session", "deny", "stop", "later")


class Session:
    """
    One conversation, in the journal under `id`.

    Not for several tasks at once, except for `interrupt`, `steer` and `answer`, which may come from
    wherever the host likes on the same event loop.
    """

    def __init__(self, world: World, session_id: str) -> None:
        self.id = session_id
        self._world = world
        self._state = State()
        self._version = 0
        self._driver: Driver | None = None
        self._task: asyncio.Task[None] | None = None
        self._abandoned = False
        self._stale = False
        self._left: set[asyncio.Task[ToolOutput]] = set()
        self._recording = asyncio.Lock()

    async def load(self) -> None:
        """Read the journal and fold it. Raises JournalFailed."""
        record = await self._world.journal.read(self.id)
        self._state = fold(fact for entry in record.entries for fact in entry)
        self._version = record.version
        self._stale = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history: closed rounds only, so every tool call in it has exactly one result."""
        return self._now.history

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls of the round that is still open: running, waiting for an answer, or done."""
        return self._now.calls

    @property
    def usage(self) -> Usage:
        """What all turns of the session have cost."""
        return self._now.usage

    @property
    def busy(self) -> bool:
        """Whether a turn is going on."""
        return self._live is not None

    def prompt(self, content: str | Sequence[Block], *, limits: Limits | None = None) -> "Turn":
        """
        Begin a turn. Nothing happens, and nothing is journalled, before its first event is asked for.

        A round that an earlier process or an unanswered question left open is closed first.

        Raises:
            SessionBusy: here, or at the first event, if a turn is going on.
            ValueError: *content* is empty.
        """
        blocks = _blocks(content)
        self._refuse_if_busy()
        return Turn(self, lambda: self._first(Prompted(blocks, limits or self._world.limits)))

    def proceed(self) -> "Turn":
        """
        Carry on a turn that waits for answers, or that a dead process left open.

        With nothing open the turn has no events at all. Raises SessionBusy as `prompt` does.
        """
        self._refuse_if_busy()
        return Turn(self, lambda: (Resumed(),))

    def interrupt(self) -> None:
        """End the turn that is going on, if any: its remaining events come, the last being TurnEnded."""
        if self._live is not None:
            self._live.post(Interrupted())

    def steer(self, content: str | Sequence[Block]) -> None:
        """
        Add a message while a turn runs; the model sees it at its next call.

        Raises NoTurn if none is going on, ValueError if *content* is empty.
        """
        blocks = _blocks(content)
        if self._live is None or self._live.over:
            raise NoTurn("no turn is going on in this session; use prompt()")
        self._live.post(Steered(blocks))

    async def answer(self, question: str, answer: Answer | Later | str) -> bool:
        """
        Answer a permission question: an `Answer`, or "once", "session", "deny", "stop", "later".

        Wakes a live turn; with none, the answer is journalled and `proceed` acts on it. False
        means that the question is not open (any more): nothing was done.

        Raises:
            ValueError: the word is none of the five.
            JournalConflict, JournalFailed: it could not be recorded.
        """
        fact = _answer_fact(question, answer)
        async with self._recording:
            if self._live is not None and not self._live.over:
                taken = self._live.takes(fact)
                self._live.post(fact)
                return taken
            if self._task is not None and not self._task.done():
                await asyncio.wait((self._task,))
            return await self._record(fact)

    async def _record(self, fact: Fact) -> bool:
        """Write down a fact of a session without a live turn; False if it changes nothing."""
        self._take_over()
        if self._stale:
            await self.load()
        state, _ = step(self._state, fact)
        if state is self._state:
            return False
        try:
            self._version = await self._world.journal.append(self.id, self._version, (fact,))
        except BaseException:
            self._stale = True  # also after a cancel: the journal knows what it holds
            raise
        self._state = state
        return True

    async def aclose(self) -> None:
        """End what is going on and wait; a tool left behind is cancelled again and gets the grace period."""
        if self._task is not None and not self._task.done():
            self.interrupt()
            await asyncio.wait((self._task,))
        self._take_over()
        for task in self._left:
            task.cancel()
        if self._left:
            await asyncio.wait(self._left, timeout=self._world.grace_s)

    @property
    def _live(self) -> Driver | None:
        running = self._task is not None and not self._task.done()
        return self._driver if running else None

    @property
    def _now(self) -> State:
        return self._state if self._driver is None else self._driver.state

    def _refuse_if_busy(self) -> None:
        if self._live is not None and not self._abandoned:
            raise SessionBusy(f"session {self.id}: a turn is going on; read it to its end or close it first")

    def _first(self, fact: Fact) -> tuple[Fact, ...]:
        if self._state.opened:
            return (fact,)
        return SessionOpened(self._world.clock.now(), self._world.workspace), fact

    async def _begin(self, first: Callable[[], tuple[Fact, ...]]) -> Driver:
        """Start the driver of a turn, after the end of one that its host has dropped."""
        async with self._recording:
            while True:
                self._refuse_if_busy()
                if self._live is not None and self._task is not None:
                    await asyncio.wait((self._task,))
                    continue
                self._take_over()
                if not self._stale:
                    return self._start(first)
                await self.load()

    def _start(self, first: Callable[[], tuple[Fact, ...]]) -> Driver:
        driver = Driver(self._world, self.id, self._state, self._version, first(), self._keep)
        task = asyncio.get_running_loop().create_task(driver.run(), name=f"norma turn {self.id}")
        # A task that is cancelled before its first step runs no line of its own: close the outbox here, too.
        task.add_done_callback(lambda _: driver.outbox.close())
        self._driver, self._task, self._abandoned = driver, task, False
        return driver

    def _take_over(self) -> None:
        """The state and version that the last driver left."""
        if self._driver is None:
            return
        self._state, self._version = self._driver.state, self._driver.version
        self._stale = self._driver.lost or self._state.live
        self._driver = None

    def _keep(self, task: "asyncio.Task[ToolOutput]") -> None:
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def _end(self, driver: Driver) -> None:
        """End the turn of *driver* and wait. A cancel meanwhile leaves at once, and the turn ends soon."""
        task = self._task
        if task is None or driver is not self._driver:
            return
        if not task.done():
            driver.post(Interrupted())
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            self._abandoned = True
            driver.outbox.discard()
            raise

    def _drop(self, loop: asyncio.AbstractEventLoop, driver: Driver) -> None:
        """The host has dropped the turn: end it soon. From any thread, even after the loop's end."""
        if driver is self._driver:
            self._abandoned = True
        with suppress(RuntimeError):  # the loop is closed, and with it everything that ran on it
            loop.call_soon_threadsafe(_give_up, driver)


def _give_up(driver: Driver) -> None:
    driver.post(Interrupted())
    driver.outbox.discard()


class Turn:
    """
    The events of one turn: an async iterator and an async context manager. The last is `TurnEnded`.

    Ending it early: `session.interrupt()` (the remaining events still come); leaving `async with`
    or `aclose()` (awaited); cancelling the task that reads (awaited; a second cancel leaves at once, and
    the turn ends soon); dropping the turn (soon). A turn that ends soon keeps no next one from being
    asked for: that waits for its end.
    """

    def __init__(self, session: Session, first: Callable[[], tuple[Fact, ...]]) -> None:
        self._session = session
        self._first = first
        self._driver: Driver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """
        The next event.

        Raises:
            SessionBusy: at the first one, if another turn of the session is going on.
            JournalFailed: at the first one, if the session can't be read.
        """
        if self._over:
            raise StopAsyncIteration
        driver = self._driver
        if driver is None:
            driver = await self._session._begin(self._first)
            self._driver, self._loop = driver, asyncio.get_running_loop()
        event = driver.outbox.get_nowait()
        if event is None:
            try:
                event = await driver.outbox.get()
            except asyncio.CancelledError:
                self._over = True
                await self._session._end(driver)
                raise
        if event is None or isinstance(event, TurnEnded):
            await self._finish(driver)
        if event is None:
            raise StopAsyncIteration
        return event

    async def _finish(self, driver: Driver) -> None:
        """The last event is out: wait until nothing of the turn is left. A fault of ours is raised here."""
        self._over = True
        task = self._session._task
        if task is None or driver is not self._session._driver:
            return
        await self._session._end(driver)
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def aclose(self) -> None:
        """End the turn and wait for it. Twice does nothing."""
        self._over = True
        if self._driver is not None:
            self._driver.outbox.discard()
            await self._session._end(self._driver)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._driver is not None and self._loop is not None and not self._over:
            self._session._drop(self._loop, self._driver)


def _blocks(content: str | Sequence[Block]) -> tuple[Block, ...]:
    blocks = (Text(content),) if isinstance(content, str) else tuple(content)
    if not blocks or all(isinstance(b, Text) and not b.text.strip() for b in blocks):
        raise ValueError("the message is empty")
    return blocks


def _answer_fact(question: str, answer: Answer | Later | str) -> Fact:
    if isinstance(answer, Later) or answer == "later":
        return Deferred(question)
    if isinstance(answer, Answer):
        return Answered(question, answer)
    match answer:
        case "once" | "session" | "deny" | "stop":
            return Answered(question, Answer(answer))
        case _:
            raise ValueError(f"{answer!r} is no answer; the answers are {', '.join(_WORDS)}")
