"""Neutral messages as the Responses wire's input items (contract R1, R3, M13, M14, M16). Pure."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from norma.adapters.wires.arguments import write_arguments, write_invalid
from norma.adapters.wires.history import History, Memory, Wire, data_url
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.pairs import NO_OUTPUT
from norma.adapters.wires.profiles import Profile
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
    thaw,
)
from norma.domain.model.messages import Message

ReasoningReplay: TypeAlias = Literal["never", "own"]

_SERVERS_OWN = frozenset({"id", "status"})
"""What names an item at the server, which keeps none: `store` is false."""


class ItemEncoder:
    """
    Encodes the messages of one request, in order.

    *own* are the vendors who made the reasoning and the items of its own that go back. *memory*
    is of encoders with the same settings.
    """

    def __init__(
        self,
        profile: Profile,
        names: WireNames,
        *,
        own: frozenset[str],
        replay: ReasoningReplay,
        memory: Memory | None = None,
    ) -> None:
        legal = re.compile(profile.id_pattern)
        self._history = History(names, legal, memory or Memory(), prefix="call_")
        self._profile = profile
        self._own = own
        self._replay = replay

    @property
    def losses(self) -> list[Loss]:
        return self._history.losses

    def encode(self, messages: Sequence[Message]) -> list[Wire]:
        """The wire's input items, shared with the next request: copy to change."""
        out = self._history.begin(messages)
        for _, items in self._history.walk(self._message):
            out += items
        self._history.keep(out)
        return out

    def _message(self, message: Message) -> list[Wire]:
        match message.role:
            case "assistant":
                return self._said(message.blocks)
            case "tool":
                ids = self._history.round
                return [
                    self._result(call_id, block)
                    for call_id, block in zip(ids, message.blocks, strict=True)
                    if isinstance(block, ToolResult)
                ]
            case "user":
                return self._asked(message.blocks)
            case _:
                assert_never(message.role)

    def _said(self, blocks: Sequence[Block]) -> list[Wire]:
        """An assistant message: reasoning in front of what followed it, or not at all."""
        out: list[Wire] = []
        waiting: list[Wire] = []
        for block in blocks:
            if isinstance(block, Thinking):
                if (thought := self._thought(block)) is not None:
                    waiting.append(thought)
                continue
            item = self._item(block)
            if item is None:
                continue
            last = out[-1] if out and not waiting else None
            if item.get("role") == "assistant" and last is not None and last.get("role") == "assistant":
                out[-1] = {**last, "content": last["content"] + item["content"]}
                continue
            out += waiting
            waiting = []
            out.append(item)
        for _ in waiting:
            self._history.note("thinking", "dropped", "reasoning that nothing follows is refused")
        return out

    def _item(self, block: Block) -> Wire | None:
        """One block of the assistant's, as an item."""
        match block:
            case Text():
                self._note_citations(block)
                return _said_text(block.text) if block.text else None
            case ToolCall():
                return self._call(block)
            case Opaque():
                return self._opaque(block)
            case Image() | Audio() | Document():
                self._history.lose(block, "an assistant message holds text and calls alone on this wire")
                return None
            case Thinking() | ToolResult():
                raise AssertionError("thinking is handled before, results stand in tool messages")
            case _:
                assert_never(block)

    def _thought(self, block: Thinking) -> Wire | None:
        if block.vendor not in self._own:
            why = f"it is the thinking of {block.vendor or 'another provider'}"
        elif self._replay == "never":
            why = "reasoning is not sent back to this model"
        elif block.encrypted is None:
            why = "it has no encrypted form"
        else:
            summary = [{"type": "summary_text", "text": block.text}] if block.text else []
            return {"type": "reasoning", "summary": summary, "encrypted_content": block.encrypted}
        self._history.note("thinking", "dropped", why)
        return None

    def _opaque(self, block: Opaque) -> Wire | None:
        """An item that the provider ran itself. It may refer to reasoning, so both go back or neither."""
        kind = block.payload.get("type")
        is_of_this_wire = isinstance(kind, str) and kind.endswith(("_call", "_call_output"))
        if block.vendor not in self._own or not is_of_this_wire:
            why = f"only {block.vendor or 'its provider'} understands it, on its own wire"
        elif self._replay == "never":
            why = "it may refer to reasoning, which is not sent back to this model"
        else:
            return {key: thaw(value) for key, value in block.payload.items() if key not in _SERVERS_OWN}
        self._history.lose(block, why)
        return None

    def _call(self, block: ToolCall) -> Wire:
        if block.invalid:
            arguments = write_invalid(block.raw)
            why = "its arguments were no JSON object and are shown inside one"
            self._history.note("tool_call", "translated", why)
        else:
            arguments = write_arguments(block.arguments)
        return {
            "type": "function_call",
            "call_id": self._history.call_id(block),
            "name": self._history.name(block),
            "arguments": arguments,
        }

    def _result(self, call_id: str, result: ToolResult) -> Wire:
        if result.is_error:
            self._history.note("tool_result", "translated", "that it is an error is not said on this wire")
        parts = [self._part(block) for block in result.blocks]
        output = _joined(parts, "\n")
        if isinstance(output, str) and not output.strip():
            output = NO_OUTPUT
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def _asked(self, blocks: Sequence[Block]) -> list[Wire]:
        parts = [self._part(block) for block in blocks]
        return [{"role": "user", "content": _joined(parts, "\n\n")}] if parts else []

    def _part(self, block: Block) -> Wire:
        """A block of a user's, or of a result."""
        match block:
            case Text():
                self._note_citations(block)
                return {"type": "input_text", "text": block.text}
            case Image() if self._profile.images and (url := block.url or data_url(block)):
                return {"type": "input_image", "image_url": url}
            case Document() if self._profile.documents and block.data:
                name = block.name or "document"
                return {"type": "input_file", "filename": name, "file_data": data_url(block)}
            case Document() if self._profile.documents and block.url:
                return {"type": "input_file", "file_url": block.url}
            case Image() | Audio() | Document():
                why = f"{self._profile.name} does not take it in this form"
            case Opaque():
                why = f"only {block.vendor or 'its provider'} understands it, as the assistant's"
            case Thinking() | ToolCall() | ToolResult():
                why = "a user message does not hold it"
            case _:
                assert_never(block)
        return {"type": "input_text", "text": self._history.lose(block, why)}

    def _note_citations(self, block: Text) -> None:
        if block.citations:
            self._history.note("text", "translated", "its citations have no place on this wire")


def _said_text(text: str) -> Wire:
    """Words of the assistant's, in the long form: llama.cpp's server takes no other for them."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _joined(parts: list[Wire], between: str) -> str | list[Wire]:
    """Text alone as a plain string, which more servers take."""
    if all(part["type"] == "input_text" for part in parts):
        return between.join(part["text"] for part in parts)
    return parts
