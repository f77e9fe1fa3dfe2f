"""
A model's reply: the events in which it arrives, and the whole that they fold to.

Order, promised by every `ChatModel`: the deltas of a block come before its `BlockEnded`;
blocks end in the order in which they stand in the message; one `ReplyFinished` is last.
A tool call has no deltas: it is told when its arguments are complete.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal, TypeAlias

from norma.domain.model.blocks import Block
from norma.domain.model.tags import tagged
from norma.domain.model.usage import Attempt, Usage
from norma.domain.model.values import frozen

StopReason: TypeAlias = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "content_filter",
    "pause",
    "context_overflow",
    "other",
]


@frozen
class Stop:
    """Why a reply ended. *raw* is the provider's word; an unknown word is "other", never "end_turn"."""

    WHOLE: ClassVar = True

    reason: StopReason
    raw: str | None = None


@tagged("text_delta")
@frozen
class TextDelta:
    """A piece of the text that is being written."""

    text: str


@tagged("thinking_delta")
@frozen
class ThinkingDelta:
    """A piece of the thinking that is being written."""

    text: str


@tagged("block_ended")
@frozen
class BlockEnded:
    """A block is complete."""

    block: Block


@tagged("reply_finished")
@frozen
class ReplyFinished:
    """The reply is complete. *empty*: a normal stop with no content at all."""

    WHOLE: ClassVar = True

    stop: Stop
    usage: Usage = Usage()
    empty: bool = False
    attempts: tuple[Attempt, ...] = ()


ReplyEvent: TypeAlias = TextDelta | ThinkingDelta | BlockEnded | ReplyFinished


@frozen
class ReplyWhole:
    """A reply, folded."""

    blocks: tuple[Block, ...]
    finished: ReplyFinished


def fold_reply(events: Iterable[ReplyEvent]) -> ReplyWhole:
    """
    Fold a complete stream of events.

    Raises ValueError if the events have no `ReplyFinished` at their end.
    """
    blocks: list[Block] = []
    finished: ReplyFinished | None = None
    for event in events:
        if finished is not None:
            raise ValueError(f"{type(event).__name__} after the end of the reply")
        if isinstance(event, BlockEnded):
            blocks.append(event.block)
        elif isinstance(event, ReplyFinished):
            finished = event
    if finished is None:
        raise ValueError("the reply has no end")
    return ReplyWhole(tuple(blocks), finished)
