"""
Blocks: what a message is made of, in no provider's dialect.

A block that holds JSON (arguments, citations, payloads) holds plain dicts and lists. They
are part of a frozen value: whoever needs to change one takes a copy (`thaw`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from attrs import field

from norma.domain.model.tags import ALWAYS, tagged
from norma.domain.model.values import frozen

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list of such, dict of str to such."""


@tagged("text")
@frozen
class Text:
    """Words for a person or a model. *citations* are the provider's own objects, in its order."""

    text: str
    citations: tuple[Mapping[str, Json], ...] = ()


@tagged("thinking")
@frozen
class Thinking:
    """
    A model's reasoning.

    *signature*, *encrypted* and *redacted* are a provider's proofs and are kept byte for byte.
    *vendor* names the provider that made them; absent, they count as another provider's.
    """

    text: str = ""
    signature: str | None = None
    encrypted: str | None = None
    redacted: str | None = None
    vendor: str | None = None


@tagged("tool_call")
@frozen
class ToolCall:
    """
    A model's wish to run a tool.

    *id* is the provider's word and may repeat; the engine keys calls by round and place.
    An *invalid* call (its arguments were no JSON object) keeps what came in *raw*; it is
    never run and is answered with an error result.
    *extra* is what the provider named in *vendor* sent beside the call and wants back.
    """

    id: str
    name: str
    arguments: Mapping[str, Json] = field(factory=dict, metadata={"json": ALWAYS})
    invalid: bool = False
    raw: str | None = None
    vendor: str | None = None
    extra: Mapping[str, Json] | None = None


@tagged("image")
@frozen
class Image:
    """A picture: base64 *data*, or a *url* that the provider fetches."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


@tagged("audio")
@frozen
class Audio:
    """A sound: base64 *data*, or a *url* that the provider fetches."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


@tagged("document")
@frozen
class Document:
    """A file for the model to read: base64 *data*, or a *url* that the provider fetches."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


@tagged("opaque")
@frozen
class Opaque:
    """Something only *vendor* understands (a server tool's block, say), kept to be sent back to it."""

    vendor: str
    payload: Mapping[str, Json]


ResultBlock: TypeAlias = Text | Image | Audio | Document | Opaque
"""What a tool's result may hold."""


@tagged("tool_result")
@frozen
class ToolResult:
    """The answer to the call whose provider id is *id*."""

    WHOLE: ClassVar = True

    id: str
    blocks: tuple[ResultBlock, ...] = ()
    is_error: bool = False


Block: TypeAlias = Text | Thinking | ToolCall | ToolResult | Image | Audio | Document | Opaque


def thaw(value: Json) -> Json:
    """A copy of a JSON value that its new owner may change."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [thaw(item) for item in value]
    return value


def text_of(blocks: Sequence[Block]) -> str:
    """All words in *blocks*, joined; thinking and calls left out."""
    return "".join(block.text for block in blocks if isinstance(block, Text))
