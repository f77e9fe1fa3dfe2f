"""A request, read as the guided model needs it: the last prompt, and what was done about it since. Pure."""

import re

from norma.domain.model.blocks import Text, ToolCall, ToolResult, text_of
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.values import frozen

_ID = re.compile(r"guided_(\d+)")


@frozen
class Done:
    """A call and its result."""

    call: ToolCall
    result: ToolResult

    @property
    def text(self) -> str:
        """The words of the result."""
        return "\n".join(block.text for block in self.result.blocks if isinstance(block, Text))


@frozen
class Exchange:
    """The last prompt and the rounds of calls since, each as its calls with their results."""

    prompt: str
    rounds: tuple[tuple[Done, ...], ...]

    def done(self, tool: str) -> tuple[Done, ...]:
        """All calls of *tool* that were answered, in order."""
        return tuple(done for one in self.rounds for done in one if done.call.name == tool)


def last_exchange(request: ReplyRequest) -> Exchange:
    """
    The part of *request* from its last user message with words on.

    Calls are paired with the results in the message behind theirs, by id.
    """
    messages = request.messages
    start = max((at for at, message in enumerate(messages) if _is_prompt(message)), default=0)
    rounds = []
    for message, following in zip(messages[start:], messages[start + 1 :], strict=False):
        results = {block.id: block for block in following.blocks if isinstance(block, ToolResult)}
        done = [
            Done(block, results[block.id])
            for block in message.blocks
            if isinstance(block, ToolCall) and block.id in results
        ]
        if done:
            rounds.append(tuple(done))
    prompt = text_of(messages[start].blocks) if messages else ""
    return Exchange(prompt, tuple(rounds))


def next_number(request: ReplyRequest) -> int:
    """A number for the next call id, higher than those of all calls in *request*."""
    ids = (
        block.id for message in request.messages for block in message.blocks if isinstance(block, ToolCall)
    )
    return max((int(match[1]) for match in map(_ID.fullmatch, ids) if match), default=0) + 1


def call_id(number: int) -> str:
    """The id of the guided model's call with this number."""
    return f"guided_{number}"


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and bool(text_of(message.blocks).strip())
