"""Neutral messages as the Messages wire's (contract A3, A4, A6, M13, M14, M16). Pure."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from norma.adapters.wires.history import History, Memory, Wire, kind_of
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.pairs import NO_OUTPUT
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

PLACEHOLDER = "…"
"""Stands for a message that must be there and would be empty."""

ThinkingReplay: TypeAlias = Literal["never", "own"]

_LEGAL_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_PLAIN = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class MessageEncoder:
    """
    Encodes the messages of one request, in order.

    *own* are the vendors who made the thinking, the citations and the blocks of its own that go back.
    *memory* is of encoders with the same settings.
    """

    def __init__(
        self, names: WireNames, *, own: frozenset[str], replay: ThinkingReplay, memory: Memory | None = None
    ) -> None:
        self._history = History(names, _LEGAL_ID, memory or Memory(), prefix="toolu_")
        self._own = own
        self._replay = replay

    @property
    def losses(self) -> list[Loss]:
        return self._history.losses

    def encode(self, messages: Sequence[Message]) -> list[Wire]:
        """
        The wire's messages: a user first, roles in turn, no blank text.

        The list is the caller's; what is in it is shared, so it is copied to be changed.
        """
        out = self._history.begin(messages)
        begun = len(out)
        for message, blocks in self._history.walk(self._message):
            if not blocks:
                continue
            role = "assistant" if message.role == "assistant" else "user"
            if role == "user" and len(out) > begun:
                self._end_answer(out, is_last=False)
            if out and out[-1]["role"] == role:
                out[-1] = {"role": role, "content": self._merged(out[-1]["content"], blocks)}
            else:
                out.append({"role": role, "content": list(blocks)})
        if len(out) > begun:
            self._end_answer(out, is_last=True)
        if not out or out[0]["role"] == "assistant":
            out.insert(0, {"role": "user", "content": [{"type": "text", "text": PLACEHOLDER}]})
        self._history.keep(out)
        return out

    def _merged(self, first: list[Wire], second: list[Wire]) -> list[Wire]:
        """
        Two messages of one role as one.

        Signed thinking of two answers in one message is refused, and the older is never needed: had it
        stood before a call, that call's result would stand between.
        """
        if any(_is_thought(block) for block in first) and any(_is_thought(block) for block in second):
            kept = [block for block in first if not _is_thought(block)]
            for _ in range(len(first) - len(kept)):
                self._history.note("thinking", "dropped", "a later answer in the same message has its own")
            first = kept
        return [*first, *second]

    def _end_answer(self, out: list[Wire], *, is_last: bool) -> None:
        """Make the end of *out*, if it is the assistant's, one that is taken; *is_last*: of all."""
        message = out[-1]
        if message["role"] != "assistant":
            return
        self._without_orphans(message, is_last=is_last)
        content: list[Wire] = message["content"]
        while content and _is_thought(content[-1]):
            content.pop()
            self._history.note("thinking", "dropped", "a message that ends with thinking is refused")
        if not content:
            out.pop()
        elif is_last:
            self._trim_end(content)

    def _without_orphans(self, message: Wire, *, is_last: bool) -> None:
        """Leave out calls of provider-run tools without their result, and results without their call."""
        blocks: list[Wire] = message["content"]
        if all(block["type"] in _PLAIN for block in blocks):  # nearly always
            return
        answered = {block.get("tool_use_id") for block in blocks}
        called = {block.get("id") for block in blocks}
        kept = []
        for block in blocks:
            ran = block["type"] in ("server_tool_use", "mcp_tool_use")
            if (ran and block.get("id") not in answered and not is_last) or (
                "tool_use_id" in block and block["tool_use_id"] not in called
            ):
                self._history.note("opaque", "dropped", f"{block['type']}: its other half is missing")
            else:
                kept.append(block)
        message["content"] = kept

    def _trim_end(self, content: list[Wire]) -> None:
        """The last message, if it is the assistant's, must not end in blanks."""
        if content[-1]["type"] == "text":
            text = content[-1]["text"]
            if text != text.rstrip():
                content[-1] = {**content[-1], "text": text.rstrip()}
                self._history.note("text", "translated", "blanks at the very end are refused")

    def _message(self, message: Message) -> list[Wire]:
        match message.role:
            case "assistant":
                return [wire for block in message.blocks if (wire := self._said(block)) is not None]
            case "tool":
                ids = self._history.round
                return [
                    self._result(call_id, block)
                    for call_id, block in zip(ids, message.blocks, strict=True)
                    if isinstance(block, ToolResult)
                ]
            case "user":
                return [wire for block in message.blocks if (wire := self._part(block)) is not None]
            case _:
                assert_never(message.role)

    def _said(self, block: Block) -> Wire | None:
        """A block of the assistant's."""
        match block:
            case Text():
                return self._text(block)
            case Thinking():
                return self._thought(block)
            case ToolCall():
                return self._call(block)
            case Opaque():
                return self._opaque(block)
            case Image() | Audio() | Document():
                self._history.lose(block, "an assistant message does not hold it on this wire")
                return None
            case ToolResult():
                raise AssertionError("results stand in tool messages after the pairs were mended")
            case _:
                assert_never(block)

    def _part(self, block: Block) -> Wire | None:
        """A block of a user's."""
        match block:
            case Text():
                return self._text(block)
            case Image() | Audio() | Document():
                return self._media(block)
            case Opaque():
                return self._opaque(block)
            case Thinking() | ToolCall() | ToolResult():
                self._history.lose(block, "a user message does not hold it")
                return None
            case _:
                assert_never(block)

    def _text(self, block: Text) -> Wire | None:
        if not block.text.strip():
            if block.text:
                self._history.note("text", "dropped", "blank text is refused on this wire")
            return None
        out: Wire = {"type": "text", "text": block.text}
        ours = [thaw(citation) for citation in block.citations if _is_citation(citation)]
        if ours:
            out["citations"] = ours
        if len(ours) < len(block.citations):
            self._history.note("text", "translated", "citations of another provider have no place here")
        return out

    def _thought(self, block: Thinking) -> Wire | None:
        if block.vendor not in self._own:
            why = f"it is the thinking of {block.vendor or 'another provider'}"
        elif self._replay == "never":
            why = "thinking is off for this request"
        elif block.redacted is not None:
            return {"type": "redacted_thinking", "data": block.redacted}
        elif block.signature is None:
            why = "it has no signature"
        else:
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        self._history.note("thinking", "dropped", why)
        return None

    def _call(self, block: ToolCall) -> Wire:
        given = dict(block.arguments)
        if block.invalid:
            given = {"INVALID_JSON": block.raw or ""}
            why = "its arguments were no JSON object and are shown inside one"
            self._history.note("tool_call", "translated", why)
        out: Wire = {
            "type": "tool_use",
            "id": self._history.call_id(block),
            "name": self._history.name(block),
            "input": given,
        }
        if block.extra and block.vendor in self._own:
            out.update(thaw(block.extra))
        return out

    def _result(self, call_id: str, result: ToolResult) -> Wire:
        content = [wire for block in result.blocks if (wire := self._inside(block)) is not None]
        if not content:
            content = [{"type": "text", "text": NO_OUTPUT}]
        out: Wire = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if result.is_error:
            out["is_error"] = True
        return out

    def _inside(self, block: Text | Image | Audio | Document | Opaque) -> Wire | None:
        """A block of a result."""
        match block:
            case Text():
                return self._text(block)
            case Opaque():
                return {"type": "text", "text": self._history.lose(block, "a result does not hold it")}
            case _:
                return self._media(block)

    def _media(self, block: Image | Audio | Document) -> Wire:
        """A picture or a file, or a note in words where the wire can't carry it."""
        match block:
            case Image() if block.data and block.media_type in _IMAGES:
                held = {"type": "base64", "media_type": block.media_type, "data": block.data}
                return {"type": "image", "source": held}
            case Image() if block.url and not block.data:
                return {"type": "image", "source": {"type": "url", "url": block.url}}
            case Document() if (source := _file(block)) is not None:
                out: Wire = {"type": "document", "source": source}
                return {**out, "title": block.name} if block.name else out
            case _:
                why = f"this wire takes no {kind_of(block)} of the type {block.media_type} in this form"
                return {"type": "text", "text": self._history.lose(block, why)}

    def _opaque(self, block: Opaque) -> Wire | None:
        kind = block.payload.get("type")
        if block.vendor in self._own and isinstance(kind, str) and not kind.endswith(("_call", "_output")):
            out: Wire = thaw(block.payload)
            return out
        self._history.lose(block, f"only {block.vendor or 'its provider'} understands it, on its own wire")
        return None


def _is_thought(block: Wire) -> bool:
    return block["type"] in _THOUGHTS


def _is_citation(citation: object) -> bool:
    """Whether a citation is of this wire: they all say a location."""
    kind = citation.get("type") if isinstance(citation, dict) else None
    return isinstance(kind, str) and kind.endswith("_location")


def _file(block: Document) -> Wire | None:
    """The source of a document that the wire takes: a PDF, or plain text."""
    if block.media_type == "application/pdf":
        if block.data:
            return {"type": "base64", "media_type": block.media_type, "data": block.data}
        return {"type": "url", "url": block.url} if block.url else None
    if not block.media_type.startswith("text/") or not block.data:
        return None
    try:
        text = b64decode(block.data, validate=True).decode("utf-8")
    except (NotBase64, UnicodeDecodeError):
        return None
    return {"type": "text", "media_type": "text/plain", "data": text} if text.strip() else None
