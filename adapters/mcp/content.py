"""
What a server answers, as neutral blocks (contract P3). Pure.

Nothing is dropped in silence: what can't be a block becomes a short text that names it. Order is kept. What
comes in has whole characters only (see `channel.read_frame`).
"""

import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

from norma.domain.model.blocks import Audio, Document, Image, ResultBlock, Text
from norma.domain.model.messages import Message
from norma.ports.tool import ToolOutput

OCTETS = "application/octet-stream"
_BLANK = re.compile(r"\s+")


def output_of(result: Any) -> ToolOutput:
    """The output that a result of `tools/call` is, whatever its shape."""
    if not isinstance(result, Mapping):
        if result is None:
            return ToolOutput.of("The server answered with nothing.", is_error=True)
        return ToolOutput.of(result if isinstance(result, str) else _json(result))
    blocks = blocks_of(result.get("content"))
    structured = result.get("structuredContent")
    if structured is not None and not _says(blocks, structured):
        blocks.append(Text(_json(structured)))
    if not blocks and "content" not in result and "toolResult" in result:  # before 2024-11-05
        legacy = result["toolResult"]
        blocks.append(Text(legacy if isinstance(legacy, str) else _json(legacy)))
    return ToolOutput(tuple(blocks), bool(result.get("isError")))


def blocks_of(content: Any) -> list[ResultBlock]:
    """The blocks of a list of content, or of one."""
    if content is None:
        return []
    items = content if isinstance(content, list) else [content]
    return [block for item in items if (block := block_of(item)) is not None]


def block_of(item: Any) -> ResultBlock | None:
    """The block of one piece of content; None for an empty text."""
    if isinstance(item, str):
        return _text(item)
    if not isinstance(item, Mapping):
        return None if item is None else Text(f"[left out: content that is no object: {_short(item)}]")
    kind = item.get("type")
    if kind == "text":
        text = item.get("text")
        return _text(text) if isinstance(text, str) else Text("[left out: a text without any text]")
    if kind in ("image", "audio"):
        return _media(kind, item.get("data"), item.get("mimeType"), None)
    if kind == "resource":
        return resource_block(item.get("resource"))
    if kind == "resource_link":
        return Text(_link(item))
    return Text(f"[left out: content of an unknown kind, {_short(kind)}]")


def resource_block(resource: Any) -> ResultBlock:
    """The block of an embedded resource, or of one that was read."""
    if not isinstance(resource, Mapping):
        return Text("[left out: a resource that is no object]")
    uri, media_type = _word(resource.get("uri")), _word(resource.get("mimeType"))
    text = resource.get("text")
    if isinstance(text, str):
        about = ", ".join(part for part in (uri, media_type) if part)
        return Text(f"[resource {about}]\n{text}")
    if "blob" not in resource:
        return Text(f"[left out: the resource {uri} has neither text nor data]")
    kind = media_type.partition("/")[0]
    return _media(kind if kind in ("image", "audio") else "document", resource["blob"], media_type, uri)


def messages_of(result: Any) -> tuple[Message, ...]:
    """The messages of a prompt. Raises ValueError if there are none that can be read."""
    items = result.get("messages") if isinstance(result, Mapping) else None
    if not isinstance(items, list):
        raise ValueError("the server gave no list of messages")
    messages = []
    for item in items:
        if not isinstance(item, Mapping) or item.get("role") not in ("user", "assistant"):
            raise ValueError(f"a message of the prompt has neither role: {_short(item)}")
        messages.append(Message(item["role"], tuple(blocks_of(item.get("content")))))
    return tuple(messages)


def _media(kind: str, data: Any, media_type: Any, name: str | None) -> ResultBlock:
    media_type = _word(media_type) or OCTETS
    if not isinstance(data, str):
        return Text(f"[left out: {kind} of type {media_type} without data]")
    compact = data if data.isascii() and not _BLANK.search(data) else _BLANK.sub("", data)
    try:
        binascii.a2b_base64(compact, strict_mode=True)
    except (binascii.Error, ValueError):
        return Text(f"[left out: {kind} of type {media_type}, whose data is no base64]")
    if not compact:
        return Text(f"[left out: {kind} of type {media_type} without data]")
    match kind:
        case "image":
            return Image(media_type, compact, name=name)
        case "audio":
            return Audio(media_type, compact, name=name)
        case _:
            return Document(media_type, compact, name=name)


def _link(item: Mapping[str, Any]) -> str:
    """A link in words: its address is the server's own, nothing that a model's provider could fetch."""
    uri, name = _word(item.get("uri")), _word(item.get("title")) or _word(item.get("name"))
    about = [part for part in (name, _word(item.get("mimeType")), _word(item.get("description"))) if part]
    return f"[resource link {uri}{': ' if about else ''}{', '.join(about)}]"


def _says(blocks: list[ResultBlock], structured: Any) -> bool:
    """Whether a text among *blocks* already holds the structured content."""
    wanted = [structured]
    if isinstance(structured, Mapping) and len(structured) == 1:  # how a bare value is wrapped
        wanted += structured.values()
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if len(wanted) == 2:
        inner = wanted[1]
        if isinstance(inner, str) and inner in texts:
            return True
        if isinstance(inner, list) and [_json(item) for item in inner] == [_canonical(t) for t in texts]:
            return True
    return any(_parsed(text) == value for text in texts for value in wanted)


def _parsed(text: str) -> Any:
    """The JSON value of a text; an object that equals nothing if it is none."""
    if text[:1] not in '{["0123456789-tfn':
        return object()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return object()


def _canonical(text: str) -> str:
    value = _parsed(text)
    return _json(text) if type(value) is object else _json(value)


def _text(text: str) -> Text | None:
    return Text(text) if text else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _short(value: Any) -> str:
    text = _json(value)
    return text if len(text) <= 100 else text[:99] + "…"
