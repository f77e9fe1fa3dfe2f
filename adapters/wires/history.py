"""
The walk over a history that is put on a wire: pairs mended, ids and names mapped, losses noted (contract
M13, M14, M16). Pure.

What was made of a message is kept, so that a long history costs little to send again.
"""

from collections.abc import Callable, Iterator, Sequence
from re import Pattern
from typing import Any, Literal, TypeAlias

from attrs import evolve, frozen

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
from norma.domain.model.messages import Message

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


class History:
    """
    One request's messages, in order.

    *legal* is what the wire takes as the id of a call; *memo* is what walks with the same settings made of
    messages before. While a message is encoded, *round* has the wire's ids of the calls before it.
    """

    def __init__(self, names: WireNames, legal: Pattern[str], memo: Memo[Known], *, prefix: str) -> None:
        self.losses: list[Loss] = []
        self.round: tuple[str, ...] = ()
        self._names = names
        self._ids = WireIds(legal, prefix=prefix)
        self._memo = memo
        self._calls: list[str] = []
        self._where = 0

    def walk(
        self, messages: Sequence[Message], encode: Callable[[Message], list[Wire]]
    ) -> Iterator[tuple[Message, list[Wire]]]:
        """Each message of the mended history and what *encode* makes, or made, of it."""
        for place, message in enumerate(paired(messages)):
            self._where = place
            known = self._memo.get(message)
            if known is not None and self._still_fits(known, message):
                self.round = known.calls
                self.losses += [
                    loss if loss.where == place else evolve(loss, where=place) for loss in known.losses
                ]
                yield message, known.wire
            else:
                yield message, self._new(message, encode)

    def call_id(self, call: ToolCall) -> str:
        """The wire's id of a call of the message that is being encoded."""
        found = self._ids.for_call(call.id)
        self._calls.append(found)
        return found

    def name(self, call: ToolCall) -> str:
        """The wire's name of the tool that is called."""
        return self._names.to_wire(call.name)

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
            self._memo.put(message, Known(wire, self.round, names, before, tuple(self.losses[noted:])))
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
