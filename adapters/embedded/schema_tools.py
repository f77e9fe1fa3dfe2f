"""Tool calls for a local model that has none of its own: its replies are held to a JSON schema."""

from collections import deque
from types import TracebackType
from typing import Self

from attrs import evolve

from norma.adapters.embedded.conversation import call_id, next_number
from norma.adapters.embedded.schema_codec import (
    Answered,
    AnswerScanner,
    BrokenStep,
    Called,
    plain_request,
    step_of,
)
from norma.domain.model.blocks import Block, Text, Thinking, ToolCall
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, Stop, TextDelta
from norma.domain.model.requests import ReplyRequest
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel, Reply


class SchemaToolsModel(ChatModel):
    """
    Adds tool calls to *inner*, one a reply.

    A request without tools goes to *inner* as it is. Otherwise *inner* writes JSON under a schema (the
    server must know `response_format`); the text of an answer is passed on as it comes. JSON that the
    token limit cut is, for an answer, the text so far; for a call, an invalid call with the raw text.
    *inner* is not closed by this object.
    """

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    def reply(self, request: ReplyRequest) -> Reply:
        if not request.tools:
            return self._inner.reply(request)
        return _SchemaReply(self._inner.reply(plain_request(request)), next_number(request))


class _SchemaReply(Reply):
    def __init__(self, inner: Reply, number: int) -> None:
        self._inner = inner
        self._number = number
        self._ready: deque[ReplyEvent] = deque()
        self._scanner = AnswerScanner()
        self._shown: list[str] = []
        self._kept: list[Block] = []
        self._written = ""
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        while not self._ready:
            if self._closed:
                raise StopAsyncIteration
            try:
                self._take(await self._inner.__anext__())
            except ModelError as error:
                self._closed = True
                raise self._failed(error) from error
            except BaseException:
                self._closed = True
                raise
        event = self._ready.popleft()
        if isinstance(event, ReplyFinished):
            self._closed = True
        return event

    def _take(self, event: ReplyEvent) -> None:
        match event:
            case TextDelta(piece):
                if shown := self._scanner.feed(piece):
                    self._shown.append(shown)
                    self._ready.append(TextDelta(shown))
            case BlockEnded(Text(text)):
                self._written += text
            case ReplyFinished():
                self._finish(event)
            case BlockEnded(Thinking() as block):
                self._kept.append(block)
                self._ready.append(event)
            case _:
                self._ready.append(event)

    def _finish(self, event: ReplyFinished) -> None:
        shown = "".join(self._shown)
        try:
            step = step_of(self._written)
        except BrokenStep:
            step = None
        match step:
            case Called(name, arguments):
                self._ready.append(BlockEnded(ToolCall(call_id(self._number), name, arguments)))
                event = evolve(event, stop=Stop("tool_use", event.stop.raw))
            case Answered(text):
                if rest := text.removeprefix(shown):
                    self._ready.append(TextDelta(rest))
                self._ready.append(BlockEnded(Text(text)))
            case None if shown:
                self._ready.append(BlockEnded(Text(shown)))
            case None if self._written.strip():
                call = ToolCall(call_id(self._number), "unreadable", {}, invalid=True, raw=self._written)
                self._ready.append(BlockEnded(call))
            case None:
                pass  # nothing was written: an empty reply
        self._ready.append(event)

    def _failed(self, error: ModelError) -> ModelError:
        shown = "".join(self._shown)
        partial = (*self._kept, Text(shown)) if shown else tuple(self._kept)
        return ModelError(error.failure, partial=partial, usage=error.usage, attempts=error.attempts)

    async def aclose(self) -> None:
        self._closed = True
        self._ready.clear()
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
