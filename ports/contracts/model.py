"""The promises of the model port."""

import gc
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol, TypeAlias

from attrs import evolve

from norma.domain.model.blocks import Text, Thinking, ToolCall, text_of
from norma.domain.model.messages import Message
from norma.domain.model.replies import (
    BlockEnded,
    ReplyEvent,
    ReplyFinished,
    TextDelta,
    ThinkingDelta,
    fold_reply,
)
from norma.domain.model.requests import ReplyRequest, ToolSpec
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import cancel, ended, raises, start, until, within
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel, Reply

Situation: TypeAlias = Literal["words", "calls", "dropped", "refused", "stalled"]
"""
words: thinking where the wire has it, then the text `WORDS` in several deltas, then the end.
calls: the text `BEFORE`, then two calls of Look, with `ARGUMENTS` in order, then the end.
dropped: the text `BEFORE`, then the stream ends without its end mark.
refused: the provider says no before anything is shown, in a way that no retry mends.
stalled: the text `BEFORE`, and then nothing more, for ever.
"""

WORDS = "Norma is an engine, and a reference of ports and adapters."
BEFORE = "I shall look."
ARGUMENTS: tuple[Mapping[str, Any], ...] = ({"path": "a", "deep": {"list": [1, None, True, "x"]}}, {})

LOOK = ToolSpec("Look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
REQUEST = ReplyRequest((Message("user", (Text("Hello"),)),), tools=(LOOK,))


class ModelRig(Protocol):
    """A provider that is in the situation it is told to be in, and a model that talks to it."""

    @abstractmethod
    def model(self, situation: Situation) -> ChatModel:
        """A model whose every reply meets *situation*."""

    @abstractmethod
    def requests(self) -> int:
        """How many requests the provider has got."""

    @abstractmethod
    def open(self) -> int:
        """How many replies are open as the provider sees it."""


async def check_name(rig: ModelRig) -> None:
    """It can be told to a person."""
    name = rig.model("words").name
    assert name.strip(), "a model has a name"
    assert "\n" not in name, "a name is one line"


async def check_nothing_is_sent_before_it_is_read(rig: ModelRig) -> None:
    """Neither by asking for a reply nor by entering it."""
    reply = rig.model("words").reply(REQUEST)
    assert reply.__aiter__() is reply, "a reply is its own iterator"
    async with reply as entered:
        assert entered is reply, "a reply is entered as itself"
        assert rig.requests() == 0, "nothing is sent before the first event is asked for"
    await raises(StopAsyncIteration, reply.__anext__(), "a reply that was left has no events")
    assert rig.requests() == 0, "a reply that was never read sends nothing"


async def check_order_of_words(rig: ModelRig) -> None:
    """Deltas before their block, which is their sum; the end is last, once, and stays the end."""
    reply = rig.model("words").reply(REQUEST)
    events = await within(_all(reply), "a reply comes to its end")
    _ordered(events)
    whole = fold_reply(events)
    assert text_of(whole.blocks) == WORDS, f"the text is the provider's: {text_of(whole.blocks)!r}"
    assert sum(isinstance(event, TextDelta) for event in events) > 1, "deltas are told as they come"
    assert whole.finished.stop.reason == "end_turn", "a normal end is end_turn"
    assert not whole.finished.empty, "a reply with content is not empty"
    for _ in range(2):
        await raises(StopAsyncIteration, reply.__anext__(), "after the end comes StopAsyncIteration, always")
    await until(lambda: rig.open() == 0, "a reply that was read to its end is closed", 1.0)


async def check_ready(rig: ModelRig) -> None:
    """What is ready is the next in order, and is given out once, whoever asks for it."""
    expected = await within(_all(rig.model("calls").reply(REQUEST)), "a reply comes to its end")
    reply = rig.model("calls").reply(REQUEST)
    assert not list(reply.ready()), "nothing is ready before the first event was asked for"
    found: list[ReplyEvent] = []
    while not (found and isinstance(found[-1], ReplyFinished)):
        found.append(await within(reply.__anext__(), "a reply comes to its end"))
        found += reply.ready()
    assert _told(found) == _told(expected), "events are given out once and in order, here or there"
    assert not list(reply.ready()), "after the end nothing is ready"
    await raises(StopAsyncIteration, reply.__anext__(), "after the end comes StopAsyncIteration")
    assert rig.requests() == 2, "what is ready was asked for once"
    stalled = rig.model("stalled").reply(REQUEST)
    await within(stalled.__anext__(), "the first event comes while the reply still runs")
    await stalled.aclose()
    assert not list(stalled.ready()), "a closed reply has no more events"


def _told(events: list[ReplyEvent]) -> list[object]:
    """What events say, however a text was cut into deltas, and whatever ids were made for calls."""
    _ordered(events)
    blocks = [event.block for event in events if isinstance(event, BlockEnded)]
    return [evolve(block, id="") if isinstance(block, ToolCall) else block for block in blocks]


async def check_calls(rig: ModelRig) -> None:
    """A call is told once, when its arguments are complete, in order and without deltas."""
    events = await within(_all(rig.model("calls").reply(REQUEST)), "a reply comes to its end")
    _ordered(events)
    blocks = fold_reply(events).blocks
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    assert [call.name for call in calls] == ["Look", "Look"], "each call is told once"
    assert [dict(call.arguments) for call in calls] == list(ARGUMENTS), "arguments are complete and exact"
    assert len({call.id for call in calls}) == 2, "calls of one reply have ids of their own"
    assert not any(call.invalid for call in calls), "a call with good arguments is valid"
    assert text_of(blocks) == BEFORE, "the text before a call is kept"


async def check_m2_dropped_is_a_failure(rig: ModelRig) -> None:
    """A stream that ends without its end mark is an error that keeps what was shown, never a completion."""
    reply = rig.model("dropped").reply(REQUEST)
    shown: list[ReplyEvent] = []
    error = await raises(ModelError, within(_into(shown, reply), "it ends"), "a dropped stream is a failure")
    assert not any(isinstance(event, ReplyFinished) for event in shown), "a dropped reply is not finished"
    assert _words(shown) == BEFORE, "what came before the failure was told"
    assert text_of(error.partial) == BEFORE, f"the error keeps what was shown: {error.partial!r}"
    assert rig.requests() == 1, "what was shown is never asked for again"
    await raises(StopAsyncIteration, reply.__anext__(), "a failed reply is closed")
    await until(lambda: rig.open() == 0, "a failed reply is closed", 1.0)


async def check_refused(rig: ModelRig) -> None:
    """A failure before anything was shown is told as what it is, with words."""
    reply = rig.model("refused").reply(REQUEST)
    error = await raises(ModelError, within(_all(reply), "it ends"), "a refused request is a ModelError")
    assert error.failure.message.strip(), "a failure says what was wrong"
    assert error.partial == (), "nothing was shown"
    await until(lambda: rig.open() == 0, "a failed reply is closed", 1.0)


async def check_closing(rig: ModelRig) -> None:
    """The connection ends at once; closing twice does nothing; then there are no more events."""
    reply = rig.model("stalled").reply(REQUEST)
    await within(reply.__anext__(), "the first event comes while the reply still runs")
    assert rig.open() == 1, "a reply that is being read is open"
    await reply.aclose()
    await until(lambda: rig.open() == 0, "the provider sees the close within a second", 1.0)
    await reply.aclose()
    await raises(StopAsyncIteration, reply.__anext__(), "a closed reply has no more events")


async def check_leaving(rig: ModelRig) -> None:
    """`async with` closes, whatever ends it."""
    async with rig.model("stalled").reply(REQUEST) as reply:
        await within(reply.__anext__(), "the first event comes while the reply still runs")
    await until(lambda: rig.open() == 0, "leaving a reply closes it", 1.0)
    try:
        async with rig.model("stalled").reply(REQUEST) as reply:
            await within(reply.__anext__(), "the first event comes while the reply still runs")
            raise KeyError("the host's own")
    except KeyError:
        await until(lambda: rig.open() == 0, "leaving a reply by an error closes it", 1.0)


async def check_dropping(rig: ModelRig) -> None:
    """Who lets go of the last reference has closed it."""
    reply = rig.model("stalled").reply(REQUEST)
    await within(reply.__anext__(), "the first event comes while the reply still runs")
    del reply
    gc.collect()
    await until(lambda: rig.open() == 0, "a dropped reply is closed within a second", 1.0)


async def check_cancel_everywhere(rig: ModelRig) -> None:
    """Cancelled at any await, the reply is closed and the cancellation passes."""

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        reply = rig.model("stalled").reply(REQUEST)
        shown: list[ReplyEvent] = []

        async def after() -> None:
            await until(lambda: rig.open() == 0, "a cancelled reply is closed within a second", 1.0)

        yield Scenario(_into(shown, reply), lambda: _words(shown) == BEFORE, after)

    await cancel_everywhere(make, "cancellation passes through a reply", most=60)


async def check_cancelled_is_closed(rig: ModelRig) -> None:
    """Whoever still holds a reply that was cancelled gets no event from it."""
    reply = rig.model("stalled").reply(REQUEST)
    shown: list[ReplyEvent] = []
    task = start(_into(shown, reply))
    await until(lambda: _words(shown) == BEFORE, "events come while the reply still runs")
    await cancel(task, "cancellation passes through a reply")
    await raises(StopAsyncIteration, reply.__anext__(), "a cancelled reply is closed")


async def check_many_at_once(rig: ModelRig) -> None:
    """Replies share nothing: each is whole, while others are closed in the middle."""
    model, stalled = rig.model("words"), rig.model("stalled")
    other = stalled.reply(REQUEST)
    await within(other.__anext__(), "the first event comes while the reply still runs")
    tasks = [start(_all(model.reply(REQUEST))) for _ in range(8)]
    await other.aclose()
    for task in tasks:
        await ended(task, "many replies may run at once")
        assert text_of(fold_reply(task.result()).blocks) == WORDS, "replies do not mix"
    await until(lambda: rig.open() == 0, "all are closed", 1.0)


async def _all(reply: Reply) -> list[ReplyEvent]:
    return [event async for event in reply]


async def _into(shown: list[ReplyEvent], reply: Reply) -> None:
    async for event in reply:
        shown.append(event)  # noqa: PERF401 - one by one, so that others see how far it has come


def _words(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _ordered(events: list[ReplyEvent]) -> None:
    text, thought = "", ""
    for event in events[:-1]:
        assert not isinstance(event, ReplyFinished), "the end is last, and there is one"
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, ThinkingDelta):
            thought += event.text
        elif isinstance(event, BlockEnded):
            if isinstance(event.block, Text):
                assert text == event.block.text, "the deltas of a text come before it and add up to it"
                text = ""
            elif isinstance(event.block, Thinking):
                assert thought == event.block.text, "the deltas of a thought come before it and add up to it"
                thought = ""
    assert isinstance(events[-1], ReplyFinished), "the end is last"
    assert not text, "each text that was told in deltas is told as a block"
    assert not thought, "each thought that was told in deltas is told as a block"


CHECKS = (
    check_name,
    check_nothing_is_sent_before_it_is_read,
    check_order_of_words,
    check_ready,
    check_calls,
    check_m2_dropped_is_a_failure,
    check_refused,
    check_closing,
    check_leaving,
    check_dropping,
    check_cancel_everywhere,
    check_cancelled_is_closed,
    check_many_at_once,
)
