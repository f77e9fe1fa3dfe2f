"""
Answers by chance: whatever comes, a decoder gives events in their order or a WireError, and what it gives
can be encoded. `python -m tests.adapters.wires.fuzz` does the same for ever, where atheris is installed.
"""

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.wires.codecs import CODECS, decoding
from tests.adapters.wires.fuzz import SEEDS, decode_events, same_however_cut, survive, survive_whole

_WORDS = st.sampled_from(
    [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_start",
        "message_delta",
        "message_stop",
        "text_delta",
        "input_json_delta",
        "signature_delta",
        "tool_use",
        "text",
        "thinking",
        "server_tool_use",
        "error",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.reasoning_summary_text.delta",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "message",
        "function_call",
        "reasoning",
        "stop",
        "tool_calls",
        "{}",
        '{"a":',
        "\ud83d",
        "",
    ]
)
_KEYS = st.sampled_from(
    [
        "type",
        "index",
        "content_block",
        "delta",
        "message",
        "usage",
        "text",
        "thinking",
        "input",
        "partial_json",
        "id",
        "name",
        "stop_reason",
        "error",
        "choices",
        "finish_reason",
        "tool_calls",
        "function",
        "arguments",
        "content",
        "item",
        "item_id",
        "output_index",
        "content_index",
        "response",
        "output",
        "summary",
        "encrypted_content",
        "status",
        "annotations",
        "citation",
        "input_tokens",
        "code",
    ]
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats(allow_nan=False) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)
_EVENTS = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=6), max_size=8)


@given(
    st.lists(st.sampled_from([b"data:", b" x", b"\r", b"\n", b"event: e", b"\xef\xbb\xbf", b"\xbb"])),
    st.integers(1, 9),
)
def test_M11_lines_in_any_order_are_the_same_events_however_they_are_cut(
    words: list[bytes], size: int
) -> None:
    decode_events(b"".join(words), size)


@pytest.mark.parametrize("wire", CODECS)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_are_survived(wire: str, data: bytes, size: int) -> None:
    same_however_cut(wire, data, size)
    survive_whole(wire, data)


@pytest.mark.parametrize("wire", CODECS)
@settings(max_examples=100)
@given(_EVENTS)
def test_any_events_are_survived(wire: str, values: list[dict[str, Any]]) -> None:
    survive(wire, b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values), 4096)
    for value in values[:1]:
        survive_whole(wire, json.dumps(value).encode())


@pytest.mark.parametrize("wire", CODECS)
@settings(max_examples=100)
@given(st.data())
def test_M11_damaged_streams_say_the_same_however_they_are_cut(wire: str, data: st.DataObject) -> None:
    parts = data.draw(st.sampled_from(SEEDS[wire])).split(b"\n\n")
    order = data.draw(st.lists(st.integers(0, len(parts) - 1), max_size=len(parts) + 3))
    stream = bytearray(b"\n\n".join(parts[at] for at in order))
    for _ in range(data.draw(st.integers(0, 4))):
        if stream:
            stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    same_however_cut(wire, bytes(stream), data.draw(st.integers(1, 80)))


@pytest.mark.parametrize("wire", CODECS)
@settings(max_examples=100)
@given(st.data())
def test_events_with_a_wrong_part_are_survived(wire: str, data: st.DataObject) -> None:
    events = [
        part.partition(b"data: ")[2]
        for part in data.draw(st.sampled_from(SEEDS[wire])).split(b"\n\n")
        if part
    ]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(events) - 1))
        if events[at] != b"[DONE]":
            events[at] = json.dumps(_spoilt(json.loads(events[at]), data)).encode()
    survive(wire, b"".join(b"data: " + event + b"\n\n" for event in events), 4096)
    value = json.loads(events[-1] if events[-1] != b"[DONE]" else events[0])
    inside = (value.get("response"), value.get("message")) if isinstance(value, dict) else ()
    for body in (value, *inside):
        survive_whole(wire, json.dumps(body).encode())


def _spoilt(value: Any, data: st.DataObject) -> Any:
    """*value* with one part of it, however deep, replaced or left out."""
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not isinstance(value, dict | list) or not keys or data.draw(st.integers(0, 9)) == 0:
        return data.draw(_VALUES)
    key = data.draw(st.sampled_from(keys))
    if isinstance(value, dict) and data.draw(st.integers(0, 5)) == 0:
        return {name: item for name, item in value.items() if name != key}
    value[key] = _spoilt(value[key], data)
    return value


@pytest.mark.parametrize("wire", CODECS)
def test_work_is_linear_in_the_events(wire: str) -> None:
    calls = [_calls_for(wire, count) for count in (400, 1600)]
    assert calls[1] < 4.4 * calls[0]


def _calls_for(wire: str, count: int) -> int:
    """How many Python functions are called to read a stream of *count* pieces of text and of arguments."""
    stream = SEEDS[wire][0].split(b"\n\n")
    deltas = [part for part in stream if b"_delta" in part or b".delta" in part or b'"content"' in part]
    assert deltas
    decoder = decoding(wire)
    decoder.feed(b"\n\n".join(stream[:2]) + b"\n\n")
    calls = 0

    def count_one(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_one)
    try:
        for _ in range(count):
            decoder.feed(deltas[0] + b"\n\n")
    finally:
        sys.setprofile(None)
    return calls
