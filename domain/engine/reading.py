"""
Reading a reply: from the model's events to the host's, and to the facts about it.

Deltas go past the machine, as the very objects that the model yields; what only the reader
knows (the text so far) it puts into the fact that ends the reply.
"""

import asyncio
from collections.abc import Callable
from itertools import chain

from norma.domain.engine.activities import told_to_end
from norma.domain.engine.gate import describe
from norma.domain.engine.outbox import Outbox
from norma.domain.model.blocks import Block, Text, Thinking, ToolCall
from norma.domain.model.events import ToolCalled
from norma.domain.model.facts import CallOffered, Fact, ReplyCut, ReplyEnded
from norma.domain.model.failures import Failure
from norma.domain.model.replies import BlockEnded, ReplyFinished, TextDelta, ThinkingDelta
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.usage import Usage
from norma.ports.errors import ModelError, PortError
from norma.ports.model import ChatModel


class ReplyReader:
    """Reads one reply, of the round of that number, to its end."""

    def __init__(self, round_: int, outbox: Outbox, post: Callable[[Fact], None]) -> None:
        self._round = round_
        self._outbox = outbox
        self._post = post
        self._blocks: list[Block] = []
        self._open: list[TextDelta | ThinkingDelta] = []
        self._calls = 0

    async def read(self, model: ChatModel, request: ReplyRequest) -> ReplyEnded | ReplyCut:
        """
        Tell the host what comes, offer each call as it is complete, and say how the reply ended.

        Cancelled, it closes the reply and returns what had come.
        """
        try:
            async with model.reply(request) as reply:
                async for first in reply:
                    for event in chain((first,), reply.ready()):
                        if isinstance(event, (TextDelta, ThinkingDelta)):
                            self._open.append(event)
                            self._outbox.put(event)
                        elif isinstance(event, BlockEnded):
                            self._end_block(event.block)
                        else:
                            return self._ended(event)
                        if self._outbox.full:
                            await self._outbox.room()
        except asyncio.CancelledError:
            if told_to_end():
                return self._cut()
            return self._cut(Failure("internal", "The model adapter cancelled itself."))
        except ModelError as error:
            return self._cut(error.failure, error, error.usage)
        except PortError as error:
            return self._cut(error.failure, error)
        except Exception as error:
            # A fault in an adapter must not lose the reply so far: it becomes the turn's outcome.
            return self._cut(Failure("internal", f"The model adapter failed: {describe(error)}"), error)
        return self._cut(Failure("protocol", "The model adapter ended a reply without its end mark."))

    def _end_block(self, block: Block) -> None:
        self._open.clear()
        self._blocks.append(block)
        if isinstance(block, ToolCall):
            self._outbox.put(ToolCalled.of(f"{self._round}.{self._calls}", block))
            self._calls += 1
            self._post(CallOffered(self._taken()))

    def _taken(self) -> tuple[Block, ...]:
        blocks = tuple(self._blocks)
        self._blocks.clear()
        return blocks

    def _ended(self, finished: ReplyFinished) -> ReplyEnded:
        return ReplyEnded(self._taken(), finished.stop, finished.usage)

    def _cut(
        self, failure: Failure | None = None, error: Exception | None = None, usage: Usage | None = None
    ) -> ReplyCut:
        self._blocks += _unfinished(self._open)
        return ReplyCut(self._taken(), failure, usage or Usage(), error)


def _unfinished(deltas: list[TextDelta | ThinkingDelta]) -> list[Block]:
    """The block that was being written when the reply broke off."""
    text = "".join(delta.text for delta in deltas)
    if not text:
        return []
    return [Text(text) if isinstance(deltas[-1], TextDelta) else Thinking(text)]
