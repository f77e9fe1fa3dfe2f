"""
What is told of an answer's items: the pieces as they come, and what was missing when an item ends. Pure.

An item's end repeats the whole of it, and so may the end of the answer. Nothing is told twice, and nothing is
left out that only these repeat.
"""

from typing import Any

from norma.adapters.openai_responses.items import Item, Items, Part
from norma.adapters.wires.assembly import Assembly


class Telling:
    """
    Tells *assembly* of *items*.

    *refused*: a refusal was told. *initial* holds the arguments that a call began with, by its place: they
    count if no others come.
    """

    def __init__(self, assembly: Assembly, items: Items) -> None:
        self._assembly = assembly
        self._items = items
        self._latest: Part | None = None
        self.refused = False
        self.initial: dict[int, object] = {}

    def tell(self, part: Part, piece: str) -> None:
        """Tell a piece; each part of a message is a block of its own."""
        if not piece:
            return
        if self._latest is not part:
            self._assembly.end_block()
            self._latest = part
        part.pieces.append(piece)
        self._assembly.text(piece)

    def tell_thought(self, item: Item, part: Part, piece: str) -> None:
        """Tell a piece; the parts of an item are one block, a blank line between them."""
        if not piece:
            return
        if item.last is not part:
            if item.last is not None:
                self._assembly.thinking("\n\n")
            item.last = part
        part.pieces.append(piece)
        self._assembly.thinking(piece)

    def name_call(self, item: Item, payload: dict[str, Any], *, is_new: bool) -> None:
        """A call's id and name; *is_new*: nothing of it was told before."""
        call_id, name = said(payload.get("call_id")), said(payload.get("name"))
        item.call_id = item.call_id or call_id
        if is_new:
            self._assembly.open_call(item.place, call_id, name, item.index)
        else:
            self._assembly.name_call(item.place, call_id, name)

    def all_arguments(self, item: Item, arguments: object) -> None:
        """All of a call's arguments, which beat the pieces of them."""
        if not isinstance(arguments, str) or arguments.strip():
            self._assembly.set_arguments(item.place, arguments)

    def finish(self, item: Item, payload: dict[str, Any], *, is_new: bool) -> None:
        """An item as it ended: what of it was not told is told now."""
        if item.is_done:
            return
        item.is_done = True
        if is_new:
            self._assembly.end_block()
        match item.kind:
            case "message":
                self._finish_message(item, payload)
            case "reasoning":
                self._finish_reasoning(item, payload)
            case "function_call":
                self.name_call(item, payload, is_new=is_new)
                self.all_arguments(item, payload.get("arguments"))
                self.close_call(item)
            case _:
                self._assembly.opaque(payload)

    def _finish_message(self, item: Item, payload: dict[str, Any]) -> None:
        parts = [(kind, at, text, part) for kind, at, text, part in _parts(payload.get("content"))]
        whole = all(
            item.has_told(name, [text for kind, _, text, _ in parts if kind == name])
            for name in ("text", "refusal")
        )
        for kind, at, text, listed in parts:
            if kind == "refusal":
                self.refused = True
            part = item.part(kind, at)
            if not whole:
                self.tell(part, part.missing(text))
            annotations = listed.get("annotations")
            if isinstance(annotations, list):
                for annotation in annotations[part.citations :]:
                    if isinstance(annotation, dict) and annotation:
                        part.citations += 1
                        self._assembly.citation(annotation)
        self._assembly.end_block()

    def _finish_reasoning(self, item: Item, payload: dict[str, Any]) -> None:
        for name in ("summary", "content"):
            parts = [(at, text) for _, at, text, _ in _parts(payload.get(name))]
            if not item.has_told(name, [text for _, text in parts]):
                for at, text in parts:
                    part = item.part(name, at)
                    self.tell_thought(item, part, part.missing(text))
        encrypted = payload.get("encrypted_content")
        # It belongs in front of what followed, so it is of no use when that was told already.
        if isinstance(encrypted, str) and encrypted and self._items.is_latest(item):
            self._assembly.encrypted(encrypted)
        self._assembly.end_block()

    def close_call(self, item: Item) -> None:
        """A call is complete."""
        if not self._assembly.has_arguments(item.place):
            self.all_arguments(item, self.initial.get(item.place))
        self._assembly.end_call(item.place)


def _parts(parts: object) -> list[tuple[str, int, str, dict[str, Any]]]:
    """The parts of a finished item that hold text: the kind of each, its place, and the text."""
    out: list[tuple[str, int, str, dict[str, Any]]] = []
    if isinstance(parts, str):  # the short form, which requests have
        return [("text", 0, parts, {})]
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(part, dict):
            kind = "refusal" if part.get("type") == "refusal" else "text"
            text = part.get("refusal" if kind == "refusal" else "text")
            if isinstance(text, str):
                out.append((kind, at, text, part))
    return out


def said(value: object) -> str | None:
    """A word that a provider gave; None for none."""
    return value if isinstance(value, str) and value else None
