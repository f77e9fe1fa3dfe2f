"""Answers of the three wires as their servers give them, for tests that ask the same of each."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.rigs.wire_server import JSON, Scripted


def events(*values: Mapping[str, Any]) -> bytes:
    """Named events, each named by its type."""
    return b"".join(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode() for value in values)


def unnamed(*values: Mapping[str, Any] | str) -> bytes:
    """Events without a name."""
    return b"".join(
        f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode() for value in values
    )


def stream(data: bytes, end: str = "clean") -> Scripted:
    return Scripted([data], end=end)


def whole(value: Mapping[str, Any]) -> Scripted:
    return Scripted([json.dumps(value).encode()], headers=JSON)


# Messages


def message_start(**usage: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"content": [], "stop_reason": None, "usage": usage}}


def block(index: int, start: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = ({"type": "text_delta", "text": piece} for piece in pieces)
    return block(index, {"type": "text", "text": ""}, *deltas)


def call_block(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def message_end(reason: str | None, **usage: Any) -> list[dict[str, Any]]:
    delta = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [delta, {"type": "message_stop"}]


def message(*blocks: Sequence[Mapping[str, Any]], reason: str | None = "end_turn") -> bytes:
    """A whole stream of these blocks."""
    inside = [event for one in blocks for event in one]
    return events(
        message_start(input_tokens=3, output_tokens=1), *inside, *message_end(reason, output_tokens=5)
    )


# Responses


def item(index: int, value: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """An item with all its events; *value* is how it ends."""
    empty = {
        **value,
        **{name: [] for name in ("content", "summary") if name in value},
        **({"arguments": ""} if "arguments" in value else {}),
    }
    named = {"item_id": value.get("id"), "output_index": index}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": empty},
        *({**delta, **named} for delta in deltas),
        {"type": "response.output_item.done", "output_index": index, "item": dict(value)},
    ]


def said(index: int, *pieces: str) -> list[dict[str, Any]]:
    parts = [{"type": "output_text", "text": "".join(pieces), "annotations": []}]
    deltas = ({"type": "response.output_text.delta", "content_index": 0, "delta": piece} for piece in pieces)
    return item(
        index, {"type": "message", "id": f"msg_{index}", "role": "assistant", "content": parts}, *deltas
    )


def called(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    value = {"type": "function_call", "id": f"fc_{index}", "call_id": call_id, "name": name}
    deltas = ({"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces)
    return item(index, {**value, "arguments": "".join(pieces)}, *deltas)


def response(*items: Sequence[Mapping[str, Any]], **fields: Any) -> bytes:
    """A whole stream of these items; *fields* are of the finished response."""
    inside = [event for one in items for event in one]
    output = [event["item"] for event in inside if event["type"] == "response.output_item.done"]
    usage = {"input_tokens": 3, "output_tokens": 5}
    finished = {"status": "completed", "output": output, "usage": usage, **fields}
    return events(
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        *inside,
        {"type": f"response.{finished['status']}", "response": finished},
    )


# Chat


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


FINE: Mapping[str, Scripted] = {
    "anthropic": stream(message(text_block(0, "ok"))),
    "openai-chat": stream(unnamed(chunk(content="ok"), chunk("stop"), "[DONE]")),
    "openai-responses": stream(response(said(0, "ok"))),
}
"""A short answer: the text "ok"."""

BEGUN: Mapping[str, bytes] = {
    "anthropic": events(message_start(input_tokens=3), text_block(0)[0]),
    "openai-chat": unnamed(chunk(role="assistant", content="")),
    "openai-responses": events(
        {"type": "response.created", "response": {"status": "in_progress"}}, said(0)[0]
    ),
}
"""How an answer begins: nothing that could be shown."""

DELTA: Mapping[str, bytes] = {
    "anthropic": events(text_block(0, "x")[1]),
    "openai-chat": unnamed(chunk(content="x")),
    "openai-responses": events(said(0, "x")[1]),
}
"""One piece of text, "x"."""
