"""Neutral messages as the chat wire's (contract C2-C4, M13, M14, M16). Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from attrs import evolve, frozen

from norma.adapters.wires.arguments import write_arguments, write_invalid
from norma.adapters.wires.ids import WireIds
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.memo import Memo
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.pairs import paired
from norma.adapters.wires.profiles import Profile, Replay
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

PLACEHOLDER = "…"
"""Stands for an assistant message that would be empty, which many servers refuse (C3)."""

_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

Wire: TypeAlias = dict[str, Any]


@frozen
class Known:
    """
    How a message went out: its *wire* messages, the ids of its *calls*, its tools' *names* of both kinds,
    the ids of the *round* that it answers, and what was lost.
    """

    wire: list[Wire]
    calls: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    round: tuple[str, ...]
    losses: tuple[Loss, ...]


class MessageEncoder:
    """
    Encodes the messages of one request, in order.

    *vendor* is who made the thinking that may go back; *replay* when it does, and *replay_all* whether
    other providers' goes too. *memo* is what encoders with the same settings made of messages before.
    """

    def __init__(
        self,
        profile: Profile,
        names: WireNames,
        *,
        vendor: str,
        replay: Replay,
        replay_all: bool = False,
        memo: "Memo[Known] | None" = None,
    ) -> None:
        self.losses: list[Loss] = []
        self._profile = profile
        self._names = names
        self._vendor = vendor
        self._replay = replay
        self._replay_all = replay_all
        self._memo: Memo[Known] = Memo() if memo is None else memo
        self._ids = WireIds(
            re.compile(profile.id_pattern), length=profile.id_length, prefix=profile.id_prefix
        )
        self._round: tuple[str, ...] = ()
        self._where = 0

    def encode(self, messages: Sequence[Message]) -> list[Wire]:
        """The wire's messages."""
        out: list[Wire] = []
        for place, message in enumerate(paired(messages)):
            self._where = place
            known = self._memo.get(message)
            if known is not None and self._still_fits(known, message):
                out += known.wire
                self._round = known.calls
                self.losses += [
                    loss if loss.where == place else evolve(loss, where=place) for loss in known.losses
                ]
            else:
                out += self._encode(message)
        return out

    def _still_fits(self, known: "Known", message: Message) -> bool:
        """Whether a message goes out as it did the last time: that depends on ids and names around it."""
        if message.role == "tool":
            return known.round == self._round
        names = self._names
        return all(names.to_wire(own) == wire for own, wire in known.names) and self._ids.claim(known.calls)

    def _encode(self, message: Message) -> list[Wire]:
        """One message, kept for the next request if its ids went out as they are."""
        before, noted = self._round, len(self.losses)
        match message.role:
            case "assistant":
                wire = [self._assistant(message)]
            case "tool":
                wire = list(self._results(message))
            case "user":
                wire = list(self._user(message.blocks))
            case _:
                assert_never(message.role)
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        if message.role != "assistant":
            self._round = ()
        if self._round == tuple(call.id for call in calls):
            names = tuple((call.name, self._names.to_wire(call.name)) for call in calls)
            losses = tuple(self.losses[noted:])
            self._memo.put(message, Known(wire, self._round, names, before, losses))
        return wire

    def _assistant(self, message: Message) -> Wire:
        text: list[str] = []
        thoughts: list[str] = []
        calls: list[Wire] = []
        has_calls = any(isinstance(block, ToolCall) for block in message.blocks)
        for block in message.blocks:
            match block:
                case Text():
                    text.append(block.text)
                    self._note_citations(block)
                case Thinking():
                    if (thought := self._thought(block, has_calls=has_calls)) is not None:
                        thoughts.append(thought)
                case ToolCall():
                    calls.append(self._call(block))
                case Image() | Audio() | Document():
                    self._lose(block, "an assistant message holds text and calls alone on this wire")
                case Opaque():
                    self._lose(
                        block, f"only {block.vendor or 'its provider'} understands it, on another wire"
                    )
                case ToolResult():
                    raise AssertionError("results stand in tool messages after the pairs were mended")
                case _:
                    assert_never(block)
        self._round = tuple(call["id"] for call in calls)
        return self._assistant_wire("".join(text), "\n\n".join(thoughts), calls)

    def _assistant_wire(self, text: str, thought: str, calls: list[Wire]) -> Wire:
        out: Wire = {"role": "assistant", "content": text or (None if calls else PLACEHOLDER)}
        if not calls and not text.strip():
            out["content"] = PLACEHOLDER
        if calls:
            out["tool_calls"] = calls
            thought = thought or self._profile.reasoning_placeholder or ""
        if thought:
            out[self._profile.reasoning_field] = thought
        return out

    def _thought(self, block: Thinking, *, has_calls: bool) -> str | None:
        """The thinking that goes back, None if it doesn't. What was proof of it has no place here."""
        if self._replay == "never" or (self._replay == "calls" and not has_calls):
            why = "this provider does not want its thinking back"
        elif block.vendor != self._vendor and not self._replay_all:
            why = f"it is the thinking of {block.vendor or 'another provider'}"
        elif not block.text:
            why = "it has no readable text"
        else:
            if block.signature or block.encrypted:
                self._note("thinking", "translated", "its signature has no place on this wire")
            return block.text
        self._lose(block, why)
        return None

    def _call(self, block: ToolCall) -> Wire:
        if block.invalid:
            arguments = write_invalid(block.raw)
            self._note(
                "tool_call", "translated", "its arguments were no JSON object and are shown inside one"
            )
        else:
            arguments = write_arguments(block.arguments)
        function = {"name": self._names.to_wire(block.name), "arguments": arguments}
        out: Wire = {"id": self._ids.for_call(block.id), "type": "function", "function": function}
        if block.extra and block.vendor == self._vendor:
            out.update(block.extra)
        return out

    def _results(self, message: Message) -> Iterable[Wire]:
        """The tool messages of a round, then what of them only a user message can hold."""
        shown: list[Wire] = []
        for call_id, block in zip(self._round, message.blocks, strict=True):
            assert isinstance(block, ToolResult)
            if block.is_error:
                self._note("tool_result", "translated", "that it is an error is not said on this wire")
            yield {"role": "tool", "tool_call_id": call_id, "content": self._result_text(block, shown)}
        if shown:
            yield {"role": "user", "content": [{"type": "text", "text": "From the tool results:"}, *shown]}

    def _result_text(self, result: ToolResult, shown: list[Wire]) -> str:
        texts: list[str] = []
        for block in result.blocks:
            if isinstance(block, Text):
                texts.append(block.text)
                self._note_citations(block)
                continue
            part = self._media(block)
            if isinstance(part, str):
                texts.append(part)
            else:
                texts.append(f"[{_kind(block)} in the next user message]")
                shown.append(part)
                self._note("tool_result", "translated", f"its {_kind(block)} follows in a user message")
        return "\n".join(texts)

    def _user(self, blocks: Sequence[Block]) -> Iterable[Wire]:
        if all(isinstance(block, Text) for block in blocks):
            texts = [block for block in blocks if isinstance(block, Text)]
            for block in texts:
                self._note_citations(block)
            if texts:
                yield {"role": "user", "content": "\n\n".join(block.text for block in texts)}
            return
        parts = [self._part(block) for block in blocks]
        yield {"role": "user", "content": parts}

    def _part(self, block: Block) -> Wire:
        match block:
            case Text():
                self._note_citations(block)
                return {"type": "text", "text": block.text}
            case Image() | Audio() | Document() | Opaque():
                part = self._media(block)
            case Thinking() | ToolCall() | ToolResult():
                part = self._lose(block, "a user message does not hold it")
            case _:
                assert_never(block)
        return {"type": "text", "text": part} if isinstance(part, str) else part

    def _media(self, block: Image | Audio | Document | Opaque) -> Wire | str:
        """A content part, or a note in words where the wire can't carry it."""
        profile = self._profile
        match block:
            case Image() if profile.images and (url := block.url or _data_url(block)):
                return {"type": "image_url", "image_url": {"url": url}}
            case Audio() if profile.audio and block.data and block.media_type in _AUDIO_FORMATS:
                sound = {"data": block.data, "format": _AUDIO_FORMATS[block.media_type]}
                return {"type": "input_audio", "input_audio": sound}
            case Document() if profile.documents and block.data:
                file = {"filename": block.name or "document", "file_data": _data_url(block)}
                return {"type": "file", "file": file}
            case Opaque():
                return self._lose(
                    block, f"only {block.vendor or 'its provider'} understands it, on another wire"
                )
            case _:
                return self._lose(block, f"{profile.name} does not take it in this form")

    def _lose(self, block: Block, why: str) -> str:
        """Report that *block* is left out; what stands there for the model to see."""
        self._note(_kind(block), "dropped", why)
        name = getattr(block, "name", None)
        return f"[{_kind(block)}{f' {name}' if name else ''} left out: it can't be sent to this model]"

    def _note_citations(self, block: Text) -> None:
        if block.citations:
            self._note("text", "translated", "its citations have no place on this wire")

    def _note(self, what: str, fate: Literal["translated", "dropped"], why: str) -> None:
        self.losses.append(Loss(what, fate, why, self._where))


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


def _kind(block: Block) -> str:
    return _KINDS[type(block)]


def _data_url(block: Image | Audio | Document) -> str | None:
    return f"data:{block.media_type};base64,{block.data}" if block.data else None
