"""
The walk over a history that is put on a wire: pairs mended, ids and names mapped, losses noted (contract
M13, M14, M16). Pure.

What was made of a message is kept, so that a long history costs little to send again. What was made of a
whole history is kept, too: the next request of a conversation goes on where the last one ended, and costs
what is new in it.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from re import Pattern
from typing import Any, Literal, TypeAlias
from weakref import ref

from attrs import field

from norma.adapters.wires.ids import WireIds
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.memo import Memo
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.pairs import paired
from norma.domain.model.blocks import (
    Audio,
    Block,
    Document,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from norma.domain.model.changes import evolve
from norma.domain.model.messages import Message
from norma.domain.model.values import frozen

Wire: TypeAlias = dict[str, Any]
"""A piece of JSON for a wire. One that came out of `History.walk` is shared with the next: copy to change."""


@frozen
class Known:
    """
    How a message went out: its *wire*, the ids of its *calls*, its tools' *names* of both kinds, the ids of
    the *round* that it answers, and what was lost.
    """

    wire: list[Wire]
    calls: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    round: tuple[str, ...]
    losses: tuple[Loss, ...]


@frozen
class Sent:
    """
    A history that went out whole: its *messages*, its *wire*, and what a walk must know to go on behind it.

    The messages are held weakly, since this is kept for as long as the last of them lives. The walk that goes
    on takes all the rest, to add to it.
    """

    messages: tuple[ref[Message], ...]
    wire: list[Wire]
    ids: WireIds
    names: dict[str, str]
    losses: list[Loss]

    def begins(self, messages: Sequence[Message]) -> bool:
        """Whether *messages* begin with these."""
        count = len(self.messages)
        return tuple(map(operator.call, self.messages)) == tuple(messages[:count])


@frozen
class Memory:
    """What walks with the same settings have made of messages, and of whole histories."""

    messages: Memo[Known] = field(factory=Memo)
    histories: Memo[Sent] = field(factory=Memo)


FURTHEST_BACK = 8
"""How many messages from the end a history that was sent may end: an answer, its results, a few words."""


class History:
    """
    One request's messages, in order: `begin`, then `walk`, then `keep`.

    *legal* is what the wire takes as the id of a call; *memory* is of walks with the same settings. While a
    message is encoded, *round* has the wire's ids of the calls before it.
    """

    def __init__(
        self, names: WireNames, legal: Pattern[str], memory: Memory, *, prefix: str, length: int = 24
    ) -> None:
        self.losses: list[Loss] = []
        self.round: tuple[str, ...] = ()
        self._names = names
        self._ids = WireIds(legal, prefix=prefix, length=length)
        self._memory = memory
        self._used: dict[str, str] = {}
        self._calls: list[str] = []
        self._where = 0
        self._messages: Sequence[Message] = ()
        self._is_right = True
        self._before: tuple[ref[Message], ...] = ()

    def begin(self, messages: Sequence[Message]) -> list[Wire]:
        """
        Take *messages*; what went out for the longest known beginning of them, which the walk leaves out.

        The list is the caller's; what is in it is shared: copy to change.
        """
        sent = self._sent(messages)
        if sent is None:
            self._messages = paired(messages)
            self._is_right = self._messages is messages
            return []
        self._messages, self._where, self._before = messages, len(sent.messages), sent.messages
        self._ids, self._used, self.losses = sent.ids, sent.names, sent.losses
        # It is this walk's now; a conversation would also keep a list of itself for each turn.
        self._memory.histories.drop(messages[self._where - 1])
        return sent.wire

    def walk(self, encode: Callable[[Message], list[Wire]]) -> Iterator[tuple[Message, list[Wire]]]:
        """Each further message of the mended history and what *encode* makes, or made, of it."""
        for place in range(self._where, len(self._messages)):
            message = self._messages[place]
            self._where = place
            known = self._memory.messages.get(message)
            if known is not None and self._still_fits(known, message):
                self.round = known.calls
                self._used.update(known.names)
                self.losses += [
                    loss if loss.where == place else evolve(loss, where=place) for loss in known.losses
                ]
                yield message, known.wire
            else:
                yield message, self._new(message, encode)

    def keep(self, wire: Sequence[Wire]) -> None:
        """
        Remember that the whole history went out as *wire*, if another can go on behind it.

        One that ends with the assistant may be changed by what follows, so it can't.
        """
        messages = self._messages
        if not self._is_right or not messages or messages[-1].role == "assistant":
            return
        if not wire or wire[-1].get("role") == "assistant":
            return
        known = (*self._before, *map(ref, messages[len(self._before) :]))
        sent = Sent(known, list(wire), self._ids, self._used, list(self.losses))
        self._memory.histories.put(messages[-1], sent)

    def _sent(self, messages: Sequence[Message]) -> Sent | None:
        """The longest beginning of *messages* that was sent and that the rest can follow."""
        for count in range(len(messages), max(0, len(messages) - FURTHEST_BACK), -1):
            sent = self._memory.histories.get(messages[count - 1])
            if sent is None or len(sent.messages) != count or not sent.begins(messages):
                continue
            rest = messages[count:]
            same_names = all(self._names.to_wire(own) == wire for own, wire in sent.names.items())
            return sent if same_names and paired(rest) is rest else None
        return None

    def call_id(self, call: ToolCall) -> str:
        """The wire's id of a call of the message that is being encoded."""
        found = self._ids.for_call(call.id)
        self._calls.append(found)
        return found

    def name(self, call: ToolCall) -> str:
        """The wire's name of the tool that is called."""
        found = self._used[call.name] = self._names.to_wire(call.name)
        return found

    def note(self, what: str, fate: Literal["translated", "dropped"], why: str) -> None:
        """Report a loss in the message that is being encoded."""
        self.losses.append(Loss(what, fate, why, self._where))

    def lose(self, block: Block, why: str) -> str:
        """Report that *block* is left out; what stands there for the model to see."""
        self.note(kind_of(block), "dropped", why)
        name = getattr(block, "name", None)
        return f"[{kind_of(block)}{f' {name}' if name else ''} left out: it can't be sent to this model]"

    def _new(self, message: Message, encode: Callable[[Message], list[Wire]]) -> list[Wire]:
        """Encode a message, and keep it for the next request if its ids went out as they are."""
        before, noted = self.round, len(self.losses)
        self._calls = []
        wire = encode(message)
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        self.round = tuple(self._calls)
        if self.round == tuple(call.id for call in calls):
            names = tuple((call.name, self._names.to_wire(call.name)) for call in calls)
            self._memory.messages.put(
                message, Known(wire, self.round, names, before, tuple(self.losses[noted:]))
            )
        return wire

    def _still_fits(self, known: Known, message: Message) -> bool:
        """Whether a message goes out as it did the last time: that depends on ids and names around it."""
        if message.role == "tool":
            return known.round == self.round
        names = self._names
        return all(names.to_wire(own) == wire for own, wire in known.names) and self._ids.claim(known.calls)


_KINDS: dict[type, str] = {
    Text: "text",
    Thinking: "thinking",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    Image: "image",
    Audio: "audio",
    Document: "document",
    Opaque: "opaque",
}


def kind_of(block: Block) -> str:
    """A block's kind, as the table of losses calls it."""
    return _KINDS[type(block)]


def data_url(block: Image | Audio | Document) -> str | None:
    """What a block holds, as a URL; None if it holds no data."""
    return f"data:{block.media_type};base64,{block.data}" if block.data else None
