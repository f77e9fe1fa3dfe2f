"""
The assembly of a reply out of what any wire says (contract M5, M9, M12). Pure.

A codec translates its provider's events into the calls below; the assembly keeps the promises of
`norma.domain.model.replies`: deltas as they come, blocks ended in the order in which they stand in the
message, a tool call told when it is complete, one `ReplyFinished`.

A tool call may be told before the reply ends only if nothing can change it any more. Wires that say where
a call ends use `end_call`. On a wire that doesn't, a call counts as complete when the next one opens and
its arguments are by then a whole, non-empty object (`calls_overlap`); one that isn't waits for the end.
"""

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from norma.adapters.http.json_text import whole, whole_text, write
from norma.adapters.wires.arguments import encodable, read_arguments
from norma.adapters.wires.slots import CallSlot, Slot, TextSlot, ThinkingSlot, WholeSlot
from norma.adapters.wires.words import clean
from norma.domain.model.blocks import Block, Opaque, Thinking
from norma.domain.model.changes import evolve
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, Stop, TextDelta, ThinkingDelta
from norma.domain.model.usage import Usage

Name: TypeAlias = Callable[[str], str]


class LateArguments(ValueError):
    """Arguments came for a call that was told as complete already."""


class Assembly:
    """
    One reply in the making. Events are added to *events*, whose reader takes them away.

    *new_id* makes an id for a call that came without one; *tool_name* turns a name on the wire into the
    tool's own; *vendor* marks what only this provider understands.
    """

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        vendor: str | None = None,
        tool_name: Name = str,
        calls_overlap: bool = False,
    ) -> None:
        self.events: deque[ReplyEvent] = deque()
        self.usage = Usage()
        self._new_id = new_id
        self._vendor = vendor
        self._tool_name = tool_name
        self._calls_overlap = calls_overlap
        self._slots: list[Slot] = []
        self._told = 0
        self._text: TextSlot | None = None
        self._thinking: ThinkingSlot | None = None
        self._calls: dict[Hashable, CallSlot] = {}
        self._ranks: set[int] = set()
        self._next_rank = 0
        """The lowest rank that no call has."""
        self._highest_rank = 0
        self._ids: set[str] = set()

    @property
    def has_content(self) -> bool:
        """Whether there is any block with something in it, or will be."""
        return any(not slot.is_empty for slot in self._slots)

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    def text(self, piece: str) -> None:
        """A piece of text; ends a thinking block that was open."""
        slot = self._text
        if slot is not None and piece and piece.isascii() and "\0" not in piece and not slot.words.half:
            slot.words.pieces.append(piece)  # nearly always; `Words.add` would do the same
            self.events.append(TextDelta(piece))
            return
        if slot is None:
            if not piece:
                return
            self.end_block()
            slot = self._text = TextSlot()
            self._slots.append(slot)
        if shown := slot.words.add(piece):
            self.events.append(TextDelta(shown))

    def citation(self, citation: Mapping[str, Any]) -> None:
        """A citation that belongs to the text block that is open, or to a new one."""
        if self._text is None:
            self.end_block()
            self._text = TextSlot()
            self._slots.append(self._text)
        self._text.citations.append(whole(citation))

    def thinking(self, piece: str) -> None:
        """A piece of thinking; ends a text block that was open."""
        if not piece and self._thinking is None:
            return
        if shown := self._thought().words.add(piece):
            self.events.append(ThinkingDelta(shown))

    def signature(self, piece: str) -> None:
        """A piece of the proof of the thinking block that is open."""
        self._thought().signature.append(piece)

    def encrypted(self, data: str) -> None:
        """The encrypted form of the thinking block that is open."""
        self._thought().encrypted = whole_text(data)

    def redacted(self, data: str) -> None:
        """A thinking block that only its provider can read."""
        self.whole(Thinking(redacted=whole_text(data), vendor=self._vendor))

    def whole(self, block: Block) -> None:
        """A block that comes in one piece."""
        self.end_block()
        slot = WholeSlot(block)
        self._slots.append(slot)
        self._tell_ended()

    def opaque(self, payload: Mapping[str, Any]) -> None:
        """A block that only its provider understands."""
        self.whole(Opaque(self._vendor or "", whole(payload)))

    def end_block(self) -> None:
        """Text or thinking that was open is complete. Calls are not touched."""
        slot: TextSlot | ThinkingSlot | None = self._text or self._thinking
        if slot is None:
            return
        self._text = self._thinking = None
        if rest := slot.words.end():
            self.events.append(TextDelta(rest) if isinstance(slot, TextSlot) else ThinkingDelta(rest))
        slot.is_closed = True
        self._tell_ended()

    def open_call(
        self, key: Hashable, call_id: str | None, name: str | None, rank: int | None = None
    ) -> None:
        """
        A tool call begins; *key* is how later pieces name it. What is not known yet may be said later.

        Calls stand in the order of their ranks, whichever begins first; one without stands where it begins.
        """
        self.end_block()
        if self._calls_overlap:
            self._close_complete_calls()
        slot = CallSlot(rank)
        self._calls[key] = slot
        self._slots.insert(self._place_of(rank), slot)
        self.name_call(key, call_id, name)

    def name_call(self, key: Hashable, call_id: str | None, name: str | None) -> None:
        """Id and name of a call, each set once: a provider may repeat them with every piece."""
        slot = self._calls[key]
        if call_id and not slot.id:
            slot.id = call_id
        if name and not slot.name:
            slot.name = name

    def call_extra(self, key: Hashable, extra: Mapping[str, Any]) -> None:
        """What the provider sent beside the call and wants back."""
        self._calls[key].extra.update(whole(extra))

    def arguments(self, key: Hashable, piece: str) -> None:
        """A piece of a call's arguments. Raises LateArguments."""
        slot = self._calls[key]
        if slot.is_closed:
            if not slot.repeats(piece):
                raise LateArguments(
                    f"arguments came for the call of {slot.name!r}, which was complete already"
                )
            return
        if slot.value is not None and piece.strip():
            if not slot.value:  # an empty object stood there until they came
                slot.pieces = []
            slot.value = None
        slot.pieces.append(piece)

    def set_arguments(self, key: Hashable, value: object) -> None:
        """
        All of a call's arguments at once, instead of the pieces so far: their text, or what it says.

        None says nothing. What is neither text nor an object makes the call an invalid one.
        """
        slot = self._calls[key]
        if slot.is_closed or value is None:
            return
        slot.value = None
        if isinstance(value, str):
            slot.pieces = [value]
        else:
            slot.pieces = [write(value).decode("utf-8")]
            if isinstance(value, dict):
                slot.value = encodable(value, slot.pieces[0])

    def has_arguments(self, key: Hashable) -> bool:
        """Whether any argument text but blanks has come for a call."""
        return any(piece.strip() for piece in self._calls[key].pieces)

    def arguments_are_whole(self, key: Hashable) -> bool:
        """Whether a call's arguments so far are a JSON object."""
        slot = self._calls[key]
        return slot.looks_whole and read_arguments(slot.raw) is not None

    def name_of_call(self, key: Hashable) -> tuple[str, str]:
        """Id and name of a call as far as they were said."""
        slot = self._calls[key]
        return slot.id, slot.name

    def end_call(self, key: Hashable) -> None:
        """A call is complete: the wire says so."""
        slot = self._calls[key]
        if not slot.is_closed:
            self._close_call(slot)
            self._tell_ended()

    def add_usage(self, usage: Usage) -> None:
        """A report of usage; reports are cumulative and fold by maximum (M9)."""
        self.usage = evolve(self.usage.at_least(usage), provenance="reported")

    def finish(self, stop: Stop) -> None:
        """The reply is complete: whatever is open ends."""
        self.end_block()
        for slot in self._slots:
            if isinstance(slot, CallSlot) and not slot.is_closed:
                self._close_call(slot)
        self._tell_ended()
        empty = stop.reason == "end_turn" and not self.has_content
        if stop.raw is not None:
            stop = Stop(stop.reason, whole_text(stop.raw))
        self.events.append(ReplyFinished(stop, self.usage, empty))

    def partial(self) -> tuple[Block, ...]:
        """
        What there is of a reply that will not be finished: text and thinking as they came, calls that were
        complete. A call that was cut is left out.
        """
        blocks = [slot.block() for slot in self._slots if slot.is_closed or not isinstance(slot, CallSlot)]
        return tuple(block for block in blocks if block is not None)

    def partial_usage(self) -> Usage:
        """What was reported of a reply that will not be finished."""
        return self.usage if self.usage.provenance == "unknown" else evolve(self.usage, provenance="partial")

    def _thought(self) -> ThinkingSlot:
        if self._thinking is None:
            self.end_block()
            self._thinking = ThinkingSlot(self._vendor)
            self._slots.append(self._thinking)
        return self._thinking

    def _place_of(self, rank: int | None) -> int:
        """Where a call of that rank belongs: in front of the first of a higher one that was not told yet."""
        if rank is None or rank in self._ranks:
            return len(self._slots)
        self._ranks.add(rank)
        while self._next_rank in self._ranks:
            self._next_rank += 1
        if rank >= self._highest_rank:  # nearly always
            self._highest_rank = rank
            return len(self._slots)
        for place in range(self._told, len(self._slots)):
            slot = self._slots[place]
            if isinstance(slot, CallSlot) and slot.rank is not None and slot.rank > rank:
                return place
        return len(self._slots)

    def _close_complete_calls(self) -> None:
        """
        Close the calls at the head of those still open whose arguments can't be continued.

        One whose rank says that others belong in front of it waits for them.
        """
        for slot in self._slots[self._told :]:
            if not isinstance(slot, CallSlot) or slot.is_closed:
                continue
            if slot.was_tried or not slot.looks_whole:
                return
            if slot.rank is not None and slot.rank > self._next_rank:
                return
            slot.was_tried = True
            if not read_arguments(slot.raw):
                return
            self._close_call(slot)
        self._tell_ended()

    def _close_call(self, slot: CallSlot) -> None:
        slot.close(self._own_id(slot.id), self._tool_name(clean(slot.name)), self._vendor)

    def _own_id(self, call_id: str) -> str:
        """The provider's id, or one made here where it gave none or gave it twice in this reply."""
        found = clean(call_id)
        while not found or found in self._ids:
            found = f"call_{self._new_id().replace('-', '')[-24:]}"
        self._ids.add(found)
        return found

    def _tell_ended(self) -> None:
        slots = self._slots
        while self._told < len(slots) and slots[self._told].is_closed:
            block = slots[self._told].block()
            self._told += 1
            if block is not None:
                self.events.append(BlockEnded(block))
