"""
Tool calls and their results, put together again (contract M16). Pure.

Every wire refuses a call without its result, or a result without its call, and then refuses the whole
session for ever. So each history is mended just before it is encoded; the history itself stays as it is.
"""

from collections.abc import Sequence

from norma.domain.model.blocks import Block, Text, ToolCall, ToolResult
from norma.domain.model.changes import evolve
from norma.domain.model.messages import Message

NO_OUTPUT = "(no output)"
"""Stands for a result that holds nothing: some servers refuse an empty one."""

NO_RESULT = "There is no result: the call was not run, or its result was lost."


def paired(messages: Sequence[Message]) -> Sequence[Message]:
    """
    *messages* in which exactly the results of its calls follow each assistant message, in their order.

    A call without a result gets an error result; a result without a call is left out; one that comes later
    is moved to its call; of two for one call the first counts. What stands between a call and its result
    comes after the result. Messages that are right already are the very same objects.
    """
    return messages if _are_right(messages) else _mend(messages)


def _are_right(messages: Sequence[Message]) -> bool:
    """Whether nothing has to be mended; asked of every history before every request, so it is quick."""
    waiting: list[str] = []
    for message in messages:
        kinds = [type(block) for block in message.blocks]
        if message.role == "tool":
            ids = [block.id for block in message.blocks if isinstance(block, ToolResult)]
            if not waiting or ids != waiting or len(ids) != len(kinds):
                return False
            waiting = []
            continue
        if waiting or ToolResult in kinds:
            return False
        if ToolCall in kinds:
            if message.role != "assistant":
                return False
            waiting = [block.id for block in message.blocks if isinstance(block, ToolCall)]
    return not waiting


class _Round:
    """An assistant message with calls, and the results that were found for them."""

    def __init__(self, calls: list[ToolCall]) -> None:
        self.calls = calls
        self.results: list[ToolResult | None] = [None] * len(calls)

    def take(self, result: ToolResult) -> bool:
        """Keep *result* if a call here still waits for it."""
        for place, call in enumerate(self.calls):
            if call.id == result.id and self.results[place] is None:
                self.results[place] = result
                return True
        return False

    def message(self) -> Message:
        pairs = zip(self.calls, self.results, strict=True)
        blocks = [
            ToolResult(call.id, (Text(NO_RESULT),), is_error=True) if result is None else result
            for call, result in pairs
        ]
        return Message("tool", tuple(blocks))


def _mend(messages: Sequence[Message]) -> list[Message]:
    mended: list[Message | _Round] = []
    latest: dict[str, _Round] = {}
    for message in messages:
        others: list[Block] = []
        for block in message.blocks:
            if not isinstance(block, ToolResult):
                others.append(block)
            elif block.id in latest:
                latest[block.id].take(block)
        calls = [block for block in others if isinstance(block, ToolCall)]
        if message.role != "assistant":  # nobody else makes calls
            others = [block for block in others if not isinstance(block, ToolCall)]
        if message.role == "tool":
            if others:  # the rule of messages forbids it, but words are never dropped in silence
                mended.append(evolve(message, role="user", blocks=tuple(others)))
            continue
        if others or not message.blocks:
            same = len(others) == len(message.blocks)
            mended.append(message if same else evolve(message, blocks=tuple(others)))
        if message.role == "assistant" and calls:
            this = _Round(calls)
            mended.append(this)
            latest.update(dict.fromkeys((call.id for call in calls), this))
    return [item if isinstance(item, Message) else item.message() for item in mended]
