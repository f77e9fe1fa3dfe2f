"""
Tool calls and their results, put together again (contract M16). Pure.

Every wire refuses a call without its result, or a result without its call, and then refuses the whole
session for ever. So each history is mended just before it is encoded; the history itself stays as it is.
"""

from collections.abc import Sequence

from attrs import evolve

from norma.domain.model.blocks import Block, Text, ToolCall, ToolResult
from norma.domain.model.messages import Message

NO_RESULT = "There is no result: the call was not run, or its result was lost."


def paired(messages: Sequence[Message]) -> Sequence[Message]:
    """
    *messages* in which exactly the results of its calls follow each assistant message, in their order.

    A call without a result gets an error result; a result without a call is left out; one that comes later
    is moved to its call; of two for one call the first counts. What stands between a call and its result
    comes after the result. Messages that are right already are the very same objects.
    """
    if all(_is_right(messages, place) for place in range(len(messages))):
        return messages
    return _mend(messages)


def _is_right(messages: Sequence[Message], place: int) -> bool:
    """Whether the message at *place* keeps the rule, seen from its call or its results alone."""
    message = messages[place]
    calls = [block.id for block in message.blocks if isinstance(block, ToolCall)]
    results = [block.id for block in message.blocks if isinstance(block, ToolResult)]
    if message.role == "assistant":
        if not calls:
            return not results
        after = messages[place + 1] if place + 1 < len(messages) else None
        return not results and after is not None and after.role == "tool" and _answers(after, calls)
    if message.role == "tool":
        before = messages[place - 1] if place else None
        return before is not None and before.role == "assistant" and _answers(message, _calls(before))
    return not calls and not results


def _answers(message: Message, calls: list[str]) -> bool:
    return [block.id if isinstance(block, ToolResult) else None for block in message.blocks] == calls


def _calls(message: Message) -> list[str]:
    return [block.id for block in message.blocks if isinstance(block, ToolCall)]


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
        if message.role == "tool":
            if others:  # the rule of messages forbids it, but words are never dropped in silence
                mended.append(evolve(message, role="user", blocks=tuple(others)))
            continue
        if message.role == "user":
            others = [block for block in others if not isinstance(block, ToolCall)]
        if others or not message.blocks:
            same = len(others) == len(message.blocks)
            mended.append(message if same else evolve(message, blocks=tuple(others)))
        if message.role == "assistant" and calls:
            this = _Round(calls)
            mended.append(this)
            latest.update(dict.fromkeys((call.id for call in calls), this))
    return [item if isinstance(item, Message) else item.message() for item in mended]
