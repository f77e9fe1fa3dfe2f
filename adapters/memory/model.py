"""A model that answers by a script."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import TracebackType
from typing import Any, Self, TypeAlias

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.domain.model.blocks import Block, Text, Thinking, ToolCall
from norma.domain.model.failures import Failure
from norma.domain.model.replies import (
    BlockEnded,
    ReplyEvent,
    ReplyFinished,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
)
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.usage import Attempt, Usage
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel, Reply

Step: TypeAlias = ReplyEvent | Exception | Gate
Script: TypeAlias = "Iterable[Step | Iterable[Step]]"
"""
One reply: events are told, an exception is raised, a gate waits. A script that ends without
`ReplyFinished` is a stream that was dropped there.
"""

_UNKNOWN = Usage()


def say(text: str, pieces: int = 2) -> tuple[ReplyEvent, ...]:
    """A text, in that many deltas at most."""
    return (*map(TextDelta, _cut(text, pieces)), BlockEnded(Text(text)))


def think(text: str, pieces: int = 2, *, signature: str | None = None) -> tuple[ReplyEvent, ...]:
    """A thought, in that many deltas at most."""
    vendor = None if signature is None else "scripted"
    return (*map(ThinkingDelta, _cut(text, pieces)), BlockEnded(Thinking(text, signature, vendor=vendor)))


def call(id: str, name: str, arguments: Mapping[str, Any] | None = None) -> tuple[ReplyEvent, ...]:  # noqa: A002
    """A wish to run a tool."""
    return (BlockEnded(ToolCall(id, name, {} if arguments is None else arguments)),)


def end(reason: StopReason = "end_turn", *, usage: Usage = _UNKNOWN) -> tuple[ReplyEvent, ...]:
    """The end of a reply."""
    return (ReplyFinished(Stop(reason, reason), usage, attempts=(Attempt(1, "ok", usage),)),)


class ScriptedModel(ChatModel):
    """
    Gives *replies* one by one, in the order in which they are first read; a function makes one for
    each request. A request too many is an AssertionError.

    With *alone*, the loop turns once before each event, as if each came in a packet of its own;
    else events come in bursts.
    """

    def __init__(
        self,
        replies: Sequence[Script] | Callable[[ReplyRequest], Script] = (),
        *,
        name: str = "scripted",
        alone: bool = False,
    ) -> None:
        self._scripts: deque[Script] | None = None if callable(replies) else deque(replies)
        self._make = replies if callable(replies) else None
        self._name = name
        self._alone = alone
        self._asked = Counter()
        self.requests: list[ReplyRequest] = []
        """Every request that was sent, in order."""
        self.open = 0
        """How many replies have begun and not ended in any way."""

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    async def asked(self, requests: int = 1) -> None:
        """Return as soon as that many requests were sent."""
        await self._asked.reached(requests)

    def reply(self, request: ReplyRequest) -> Reply:
        """The next reply; nothing is taken from the script before it is read."""
        return ScriptedReply(self, request, alone=self._alone)

    def begin(self, request: ReplyRequest) -> Script:
        """The script for *request*, which counts as sent now."""
        self.requests.append(request)
        self._asked.add()
        if self._make is not None:
            script = self._make(request)
        elif self._scripts:
            script = self._scripts.popleft()
        else:
            last = request.messages[-1] if request.messages else None
            raise AssertionError(f"nobody scripted reply {len(self.requests)}; the last message is {last!r}")
        self.open += 1
        return script


class ScriptedReply(Reply):
    """A reply of `ScriptedModel`."""

    def __init__(self, model: ScriptedModel, request: ReplyRequest, *, alone: bool) -> None:
        self._model = model
        self._request = request
        self._alone = alone
        self._steps: Iterator[Step] | None = None
        self._closed = False
        self._told: list[ReplyEvent] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        if self._closed:
            raise StopAsyncIteration
        try:
            event = await self._next()
        except BaseException:
            self._close()
            raise
        self._told.append(event)
        if isinstance(event, ReplyFinished):
            self._close()
        return event

    def ready(self) -> Iterator[ReplyEvent]:
        while self._steps is not None and not (self._alone or self._closed):
            step = next(self._steps, None)
            if step is None:
                return
            if isinstance(step, Gate | Exception):
                self._steps = chain((step,), self._steps)
                return
            self._told.append(step)
            if isinstance(step, ReplyFinished):
                self._close()
            yield step

    async def _next(self) -> ReplyEvent:
        if self._steps is None:
            # Closed from here on if nobody scripted it: there is nothing open then.
            self._steps = _flat(self._model.begin(self._request))
        if self._alone:
            await asyncio.sleep(0)
        for step in self._steps:
            if isinstance(step, Gate):
                await step
            elif isinstance(step, Exception):
                raise step
            else:
                return step
        raise ModelError(
            Failure("stream_dropped", "the script ended before the reply did", "transport"),
            partial=_partial(self._told),
            attempts=(Attempt(1, "stream_dropped"),),
        )

    async def aclose(self) -> None:
        self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._steps is not None and not self._closed:
            self._model.open -= 1
        self._closed = True


def _flat(script: Script) -> Iterator[Step]:
    for step in script:
        if isinstance(step, Iterable):
            yield from step
        else:
            yield step


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _partial(told: Sequence[ReplyEvent]) -> tuple[Block, ...]:
    """The blocks of a reply that was cut: what has ended, and the text and thinking that has not."""
    blocks: list[Block] = []
    words: list[TextDelta | ThinkingDelta] = []
    for event in told:
        if isinstance(event, BlockEnded):
            blocks.append(event.block)
            words = []
        elif isinstance(event, TextDelta | ThinkingDelta):
            words.append(event)
    if words:
        text = "".join(word.text for word in words)
        blocks.append(Text(text) if isinstance(words[0], TextDelta) else Thinking(text))
    return tuple(blocks)
