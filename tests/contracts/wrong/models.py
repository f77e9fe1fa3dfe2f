"""Models that break one promise each."""

import asyncio
from collections.abc import Iterator
from types import TracebackType

from attrs import evolve

from norma.adapters.memory.model import ScriptedModel, ScriptedReply
from norma.domain.model.blocks import Text, ToolCall
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, Stop, TextDelta
from norma.domain.model.requests import ReplyRequest
from norma.ports.errors import ModelError
from norma.ports.model import Reply


class WrongModel(ScriptedModel):
    """Gives replies of its own kind."""

    kind: type[ScriptedReply] = ScriptedReply

    def reply(self, request: ReplyRequest) -> Reply:
        return self.kind(self, request, alone=True)


class DropsDeltas(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            event = await super().__anext__()
            return await super().__anext__() if isinstance(event, TextDelta) else event


class EndsADroppedStream(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            try:
                return await super().__anext__()
            except ModelError as error:
                if error.failure.kind != "stream_dropped":
                    raise
                return ReplyFinished(Stop("end_turn"))


class ForgetsWhatWasShown(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            try:
                return await super().__anext__()
            except ModelError as error:
                raise ModelError(error.failure) from error


class SendsAtOnce(WrongModel):
    def reply(self, request: ReplyRequest) -> Reply:
        self.requests.append(request)
        return super().reply(request)


class SwallowsCancel(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            try:
                return await super().__anext__()
            except asyncio.CancelledError:
                raise StopAsyncIteration from None


class StaysOpenWhenCancelled(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        cancelled = False

        async def __anext__(self) -> ReplyEvent:
            if self.cancelled:
                return TextDelta("more")
            try:
                return await super().__anext__()
            except asyncio.CancelledError:
                self.cancelled = True
                raise


class IgnoresClose(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def aclose(self) -> None:
            """Forgotten."""


class StaysOpenWhenLeft(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __aexit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            """Forgotten."""


class HoldsItsReplies(WrongModel):
    def reply(self, request: ReplyRequest) -> Reply:
        made = super().reply(request)
        self.held = [*getattr(self, "held", ()), made]
        return made


class TellsTheEndTwice(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        ended: ReplyEvent | None = None

        async def __anext__(self) -> ReplyEvent:
            if self.ended is not None:
                ended, self.ended = self.ended, None
                return ended
            event = await super().__anext__()
            self.ended = event if isinstance(event, ReplyFinished) else None
            return event


class MergesCalls(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        seen = False

        async def __anext__(self) -> ReplyEvent:
            event = await super().__anext__()
            if isinstance(event, BlockEnded) and isinstance(event.block, ToolCall):
                if self.seen:
                    return await super().__anext__()
                self.seen = True
            return event


class RenamesNoIds(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            event = await super().__anext__()
            if isinstance(event, BlockEnded) and isinstance(event.block, ToolCall):
                return BlockEnded(evolve(event.block, id="call_0"))
            return event


class ChangesText(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            event = await super().__anext__()
            if isinstance(event, BlockEnded) and isinstance(event.block, Text):
                return BlockEnded(Text(event.block.text.strip(".")))
            return event


class AsksAgainAfterItWasShown(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            try:
                return await super().__anext__()
            except ModelError:
                self._model.requests.append(self._request)
                raise


class LeaksATask(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        async def __anext__(self) -> ReplyEvent:
            self.reader = asyncio.create_task(asyncio.sleep(3600))
            return await super().__anext__()


class GivesWhatWasReadOnceMore(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        def ready(self) -> Iterator[ReplyEvent]:
            return (event for event in self._told[-1:] if not isinstance(event, ReplyFinished))


class IsReadyWhenClosed(WrongModel):
    class kind(ScriptedReply):  # noqa: N801
        def ready(self) -> Iterator[ReplyEvent]:
            return iter(self._told[-1:] if self._closed else ())


WRONG = (
    (DropsDeltas, "order_of_words"),
    (EndsADroppedStream, "m2_dropped_is_a_failure"),
    (ForgetsWhatWasShown, "m2_dropped_is_a_failure"),
    (SendsAtOnce, "nothing_is_sent_before_it_is_read"),
    (SwallowsCancel, "cancel_everywhere"),
    (StaysOpenWhenCancelled, "cancelled_is_closed"),
    (IgnoresClose, "closing"),
    (StaysOpenWhenLeft, "leaving"),
    (HoldsItsReplies, "dropping"),
    (TellsTheEndTwice, "order_of_words"),
    (MergesCalls, "calls"),
    (RenamesNoIds, "calls"),
    (ChangesText, "order_of_words"),
    (AsksAgainAfterItWasShown, "m2_dropped_is_a_failure"),
    (LeaksATask, "order_of_words"),
    (GivesWhatWasReadOnceMore, "ready"),
    (IsReadyWhenClosed, "ready"),
)
