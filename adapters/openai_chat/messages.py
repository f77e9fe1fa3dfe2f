"""Neutral messages as the chat wire's (contract C2-C4, M13, M14, M16). Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from norma.adapters.wires.arguments import write_arguments, write_invalid
from norma.adapters.wires.history import History, Memory, Wire, data_url, kind_of
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.pairs import NO_OUTPUT
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


class MessageEncoder:
    """
    Encodes the messages of one request, in order.

    *vendor* is who made the thinking that may go back; *replay* when it does, and *replay_all* whether
    other providers' goes too. *memory* is of encoders with the same settings.
    """

    def __init__(
        self,
        profile: Profile,
        names: WireNames,
        *,
        vendor: str,
        replay: Replay,
        replay_all: bool = False,
        memory: Memory | None = None,
    ) -> None:
        legal = re.compile(profile.id_pattern)
        self._history = History(
            names, legal, memory or Memory(), prefix=profile.id_prefix, length=profile.id_length
        )
        self._profile = profile
        self._vendor = vendor
        self._replay = replay
        self._replay_all = replay_all

    @property
    def losses(self) -> list[Loss]:
        return self._history.losses

    def encode(self, messages: Sequence[Message]) -> list[Wire]:
        """The wire's messages, shared with the next request: copy to change."""
        out = self._history.begin(messages)
        for _, wire in self._history.walk(self._message):
            out += wire
        self._history.keep(out)
        return out

    def _message(self, message: Message) -> list[Wire]:
        match message.role:
            case "assistant":
                return [self._assistant(message)]
            case "tool":
                return list(self._results(message))
            case "user":
                return list(self._user(message.blocks))
            case _:
                assert_never(message.role)

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
                    self._history.lose(block, "an assistant message holds text and calls alone on this wire")
                case Opaque():
                    self._history.lose(
                        block, f"only {block.vendor or 'its provider'} understands it, on another wire"
                    )
                case ToolResult():
                    raise AssertionError("results stand in tool messages after the pairs were mended")
                case _:
                    assert_never(block)
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
                self._history.note("thinking", "translated", "its signature has no place on this wire")
            return block.text
        self._history.lose(block, why)
        return None

    def _call(self, block: ToolCall) -> Wire:
        if block.invalid:
            arguments = write_invalid(block.raw)
            self._history.note(
                "tool_call", "translated", "its arguments were no JSON object and are shown inside one"
            )
        else:
            arguments = write_arguments(block.arguments)
        function = {"name": self._history.name(block), "arguments": arguments}
        out: Wire = {"id": self._history.call_id(block), "type": "function", "function": function}
        if block.extra and block.vendor == self._vendor:
            out.update(block.extra)
        return out

    def _results(self, message: Message) -> Iterable[Wire]:
        """The tool messages of a round, then what of them only a user message can hold."""
        shown: list[Wire] = []
        for call_id, block in zip(self._history.round, message.blocks, strict=True):
            assert isinstance(block, ToolResult)
            if block.is_error:
                self._history.note(
                    "tool_result", "translated", "that it is an error is not said on this wire"
                )
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
                texts.append(f"[{kind_of(block)} in the next user message]")
                shown.append(part)
                self._history.note(
                    "tool_result", "translated", f"its {kind_of(block)} follows in a user message"
                )
        said = "\n".join(texts)
        return said if said.strip() else NO_OUTPUT

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
                part = self._history.lose(block, "a user message does not hold it")
            case _:
                assert_never(block)
        return {"type": "text", "text": part} if isinstance(part, str) else part

    def _media(self, block: Image | Audio | Document | Opaque) -> Wire | str:
        """A content part, or a note in words where the wire can't carry it."""
        profile = self._profile
        match block:
            case Image() if profile.images and (url := block.url or data_url(block)):
                return {"type": "image_url", "image_url": {"url": url}}
            case Audio() if profile.audio and block.data and block.media_type in _AUDIO_FORMATS:
                sound = {"data": block.data, "format": _AUDIO_FORMATS[block.media_type]}
                return {"type": "input_audio", "input_audio": sound}
            case Document() if profile.documents and block.data:
                file = {"filename": block.name or "document", "file_data": data_url(block)}
                return {"type": "file", "file": file}
            case Opaque():
                return self._history.lose(
                    block, f"only {block.vendor or 'its provider'} understands it, on another wire"
                )
            case _:
                return self._history.lose(block, f"{profile.name} does not take it in this form")

    def _note_citations(self, block: Text) -> None:
        if block.citations:
            self._history.note("text", "translated", "its citations have no place on this wire")
