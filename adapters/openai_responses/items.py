"""
The output items of one answer: which one an event is about, and how much of each part was shown. Pure.

Providers differ in what names an item. OpenAI gives `item_id` and `output_index`; some leave out the index,
some give each event another id, some leave out the item's own begin event. So an event's item is looked for
by id, then by index, then it is the last open one of its kind.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from norma.adapters.http.json_text import whole_text


class Part:
    """A piece of text within an item, told delta by delta. *citations* counts those that were told."""

    __slots__ = ("citations", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.citations = 0

    def missing(self, text: str) -> str:
        """What of the whole *text* was not told yet; nothing if another text was told."""
        if not self.pieces:
            return text
        told, text = whole_text("".join(self.pieces)), whole_text(text)
        return text[len(told) :] if text.startswith(told) else ""


class Item:
    """
    One output item. *place* is its number in the order of its first event, *index* the one that the server
    gave, *begun* that of its part that began last.
    """

    __slots__ = ("begun", "call_id", "id", "index", "is_done", "kind", "last", "parts", "place")

    def __init__(self, kind: str, place: int) -> None:
        self.kind = kind
        self.place = place
        self.id: str | None = None
        self.index: int | None = None
        self.call_id: str | None = None
        self.is_done = False
        self.begun = -1
        self.parts: dict[tuple[str, int], Part] = {}
        self.last: Part | None = None
        """The part that was told last."""

    def part(self, kind: str, index: object) -> Part:
        """The part of that kind and index; without an index it is the one that began last."""
        at = index if isinstance(index, int) else max(self.begun, 0)
        return self.parts.setdefault((kind, at), Part())

    def has_told(self, kind: str, texts: Sequence[str]) -> bool:
        """Whether just these texts were told, though maybe not cut into the same parts."""
        told = [piece for key, part in self.parts.items() if key[0] == kind for piece in part.pieces]
        return whole_text("".join(told)) == whole_text("".join(texts))


class Items:
    """The items of one answer, in the order of their first events."""

    def __init__(self) -> None:
        self._all: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all)

    def is_latest(self, item: Item) -> bool:
        """Whether no item began after this one."""
        return item is self._all[-1]

    def begin(self, kind: str, item_id: object, index: object) -> tuple[Item, bool]:
        """The item that an event says to begin, and whether it is new: a begin event may be repeated."""
        if isinstance(item_id, str) and item_id in self._by_id and self._by_id[item_id].kind == kind:
            return self._by_id[item_id], False
        found = self._by_index.get(index) if isinstance(index, int) else None
        if found is not None and found.kind == kind and not found.is_done and found.id is None:
            self._name(found, item_id, index)  # its deltas came first, and named no item
            return found, False
        return self._new(kind, item_id, index), True

    def find(self, kind: str, item_id: object, index: object) -> Item | None:
        """The item of that kind that an event is about, None if it is of none that is known."""
        if isinstance(item_id, str):
            found = self._by_id.get(item_id)
            if found is not None and found.kind == kind:
                return found
        if isinstance(index, int):
            found = self._by_index.get(index)
            return found if found is not None and found.kind == kind and not found.is_done else None
        if isinstance(item_id, str) and kind == "function_call":
            return None  # nobody's arguments may go to another call
        return next((item for item in reversed(self._all) if item.kind == kind and not item.is_done), None)

    def for_delta(self, kind: str, item_id: object, index: object) -> tuple[Item, bool]:
        """The item that a delta is about, and whether it is new: its begin event may be left out."""
        found = self.find(kind, item_id, index)
        return (found, False) if found is not None else (self._new(kind, item_id, index), True)

    def matched(self, payloads: Sequence[dict[str, Any]]) -> list[Item | None]:
        """
        For each item that a finished answer lists, the one that was streamed; None if it never was.

        By id, or the id of its call; what is left by place, then in order.
        """
        found: list[Item | None] = [self._same(payload) for payload in payloads]
        left = [item for item in self._all if not any(item is one for one in found)]
        for at, payload in enumerate(payloads):
            if found[at] is not None:
                continue
            fitting = [item for item in left if item.kind == payload.get("type")]
            if fitting:
                there = self._by_index.get(at)
                found[at] = item = next((one for one in fitting if one is there), fitting[0])
                left.remove(item)
        return found

    def _same(self, payload: dict[str, Any]) -> Item | None:
        kind, item_id, call_id = payload.get("type"), payload.get("id"), payload.get("call_id")
        for known in self._all:
            if known.kind == kind and (
                (known.id is not None and known.id == item_id)
                or (known.call_id is not None and known.call_id == call_id)
            ):
                return known
        return None

    def _new(self, kind: str, item_id: object, index: object) -> Item:
        item = Item(kind, len(self._all))
        self._all.append(item)
        self._name(item, item_id, index)
        return item

    def _name(self, item: Item, item_id: object, index: object) -> None:
        if isinstance(item_id, str) and item_id:
            item.id = item_id
            self._by_id[item_id] = item
        if isinstance(index, int):
            item.index = index
            self._by_index[index] = item
