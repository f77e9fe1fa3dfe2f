"""The codecs of the three wires, for tests of bytes alone."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from attrs import evolve

from norma.adapters.anthropic.codec import MessagesCodec
from norma.adapters.openai_chat.codec import ChatCodec
from norma.adapters.openai_responses.codec import ResponsesCodec
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.errors import WireError
from norma.adapters.wires.profiles import profile_for
from norma.adapters.wires.wire import Decoding
from norma.domain.model.blocks import Block, Text, ToolResult
from norma.domain.model.messages import Message, Role
from norma.domain.model.replies import ReplyWhole, fold_reply
from norma.domain.model.requests import ReplyOptions, ReplyRequest
from norma.domain.model.secrets import Secret
from tests.rigs.model_fixtures import strict_json

SHORT = {"anthropic": "anthropic", "chat": "openai-chat", "responses": "openai-responses"}
"""The wires by their names in the fixtures."""

CODECS: Mapping[str, type[MessagesCodec | ChatCodec | ResponsesCodec]] = {
    "anthropic": MessagesCodec,
    "openai-chat": ChatCodec,
    "openai-responses": ResponsesCodec,
}
URL = "https://h.test/v1"


def codec(wire: str, profile: str = "compatible", model: str = "m", **changes: Any) -> Any:
    chosen = evolve(profile_for(profile), **changes)
    return CODECS[wire](base_url=URL, model=model, api_key=Secret("k"), profile=chosen)


def decoding(
    wire: str, profile: str = "compatible", *, statuses: frozenset[int] = frozenset({502})
) -> Decoding:
    """A decoder for one answer to "hi"."""
    speaker = codec(wire, profile)
    ids = count()
    encoded: EncodedRequest = speaker.encode(asking())
    found: Decoding = speaker.decoding(encoded, lambda: str(next(ids)), statuses)
    return found


def read(wire: str, stream: bytes, profile: str = "compatible") -> ReplyWhole:
    """The reply that a stream is."""
    decoder = decoding(wire, profile)
    decoder.feed(stream)
    decoder.finish()
    return fold_reply(decoder.events)


def read_whole(wire: str, body: bytes, profile: str = "compatible") -> ReplyWhole:
    """The reply that a JSON body is."""
    decoder = decoding(wire, profile)
    decoder.whole(body)
    return fold_reply(decoder.events)


def failure(wire: str, stream: bytes) -> tuple[WireError, Decoding]:
    """The error that a stream ends with, and the decoder that met it."""
    decoder = decoding(wire)
    try:
        decoder.feed(stream)
        decoder.finish()
    except WireError as error:
        return error, decoder
    raise AssertionError("the stream does not fail")


def body_of(wire: str, request: ReplyRequest, profile: str = "compatible", **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = strict_json(codec(wire, profile, **options).encode(request).body)
    return body


def asking(*messages: Message, **options: Any) -> ReplyRequest:
    return ReplyRequest(messages or (user("hi"),), options=ReplyOptions(**options))


def user(*blocks: Block | str) -> Message:
    return said("user", *blocks)


def said(role: Role, *blocks: Block | str) -> Message:
    return Message(role, tuple(Text(block) if isinstance(block, str) else block for block in blocks))


def result(call_id: str, text: str) -> ToolResult:
    return ToolResult(call_id, (Text(text),))
