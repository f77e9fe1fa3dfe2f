"""What a model is asked."""

from collections.abc import Mapping
from typing import Any

from attrs import field

from norma.domain.model.messages import Message
from norma.domain.model.values import frozen


@frozen
class SystemSegment:
    """A part of the system prompt. *cache*: the provider may keep everything up to here."""

    text: str
    cache: bool = False


@frozen
class ToolSpec:
    """A tool as the model sees it; *input_schema* is a JSON schema of an object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@frozen
class ThinkingWish:
    """Whether to think before answering, and with how many tokens at most."""

    enabled: bool = True
    budget_tokens: int | None = None


@frozen
class ReplyOptions:
    """
    Wishes for one reply. None means: as the adapter or the provider has it.

    What a wire or a model can't take is left out or mapped by its adapter (contract M7).
    *response_schema* is a JSON schema of the answer; a wire without such a thing leaves it out (E16).
    *extra_headers* and *extra_body* win over what the adapter would send (M8).
    """

    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    thinking: ThinkingWish | None = None
    reasoning_effort: str | None = None
    reasoning_replay: bool | None = None
    response_schema: Mapping[str, Any] | None = None
    stream: bool = True
    extra_headers: Mapping[str, str] = field(factory=dict)
    extra_body: Mapping[str, Any] = field(factory=dict)


@frozen
class ReplyRequest:
    """One logical request of a model."""

    messages: tuple[Message, ...]
    system: tuple[SystemSegment, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    options: ReplyOptions = ReplyOptions()
