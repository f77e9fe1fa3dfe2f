"""
The places of a message in the making, for `assembly`. Pure.

Each says whether it *is_closed* (what stands there is final), whether it *is_empty*, and its `block`,
which is None if it came to nothing.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from norma.adapters.http.json_text import whole_text
from norma.adapters.wires.arguments import read_arguments
from norma.adapters.wires.words import Words, clean
from norma.domain.model.blocks import Block, Text, Thinking, ToolCall


class WholeSlot:
    """A block that came in one piece."""

    is_closed = True
    is_empty = False

    def __init__(self, block: Block) -> None:
        self._block = block

    def block(self) -> Block | None:
        return self._block


class TextSlot:
    """Text that streams, with its citations."""

    is_closed = False

    def __init__(self) -> None:
        self.words = Words()
        self.citations: list[Mapping[str, Any]] = []

    @property
    def is_empty(self) -> bool:
        return not self.words.text and not self.citations

    def block(self) -> Block | None:
        return None if self.is_empty else Text(self.words.text, tuple(self.citations))


class ThinkingSlot:
    """Thinking that streams, with its proofs."""

    is_closed = False

    def __init__(self, vendor: str | None) -> None:
        self.words = Words()
        self.signature: list[str] = []
        self.encrypted: str | None = None
        self._vendor = vendor

    @property
    def is_empty(self) -> bool:
        return not self.words.text and not self.signature and self.encrypted is None

    def block(self) -> Block | None:
        if self.is_empty:
            return None
        signature = whole_text("".join(self.signature)) or None
        return Thinking(self.words.text, signature, self.encrypted, vendor=self._vendor)


class CallSlot:
    """
    A tool call. *was_tried*: it was once looked at for completeness before its end. *rank* is its place among
    the calls, where the provider says one.
    """

    is_closed = False
    is_empty = False

    def __init__(self, rank: int | None = None) -> None:
        self.rank = rank
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.value: Mapping[str, Any] | None = None
        self.extra: dict[str, Any] = {}
        self.was_tried = False
        self._block: ToolCall | None = None
        self._repeated = 0

    @property
    def raw(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def looks_whole(self) -> bool:
        """A cheap look: whether the arguments end as an object does."""
        last = next((piece.rstrip() for piece in reversed(self.pieces) if piece.strip()), "")
        return last.endswith("}")

    def repeats(self, piece: str) -> bool:
        """Whether a piece that comes after the end says only again what was said before it."""
        if self.raw.startswith(piece, self._repeated):
            self._repeated += len(piece)
            return True
        return not piece.strip()

    def close(self, call_id: str, name: str, vendor: str | None) -> None:
        raw = self.raw
        value = self.value if self.value is not None else read_arguments(raw)
        extra = self.extra or None
        owner = vendor if extra else None
        if value is None:
            self._block = ToolCall(call_id, name, {}, invalid=True, raw=clean(raw), vendor=owner, extra=extra)
        else:
            self._block = ToolCall(call_id, name, value, vendor=owner, extra=extra)
        self.is_closed = True

    def block(self) -> Block | None:
        return self._block


Slot: TypeAlias = WholeSlot | TextSlot | ThinkingSlot | CallSlot
