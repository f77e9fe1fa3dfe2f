"""P3: what servers answer, as neutral blocks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.mcp.content import block_of, messages_of, output_of
from norma.domain.model import to_json
from norma.domain.model.blocks import Audio, Document, Image, Text, text_of

PIXEL = "iVBORw0KGgo="
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("item", "block"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ({"type": "text", "text": ""}, None),
        ({"type": "image", "data": PIXEL, "mimeType": "image/webp"}, Image("image/webp", PIXEL)),
        ({"type": "image", "data": "iVBO\nRw0K\nGgo=", "mimeType": "image/png"}, Image("image/png", PIXEL)),
        ({"type": "image", "data": PIXEL}, Image("application/octet-stream", PIXEL)),
        ({"type": "audio", "data": PIXEL, "mimeType": "audio/mpeg"}, Audio("audio/mpeg", PIXEL)),
        (
            {"type": "resource", "resource": {"uri": "x:1", "mimeType": "image/png", "blob": PIXEL}},
            Image("image/png", PIXEL, name="x:1"),
        ),
        (
            {"type": "resource", "resource": {"uri": "x:1", "mimeType": "audio/wav", "blob": PIXEL}},
            Audio("audio/wav", PIXEL, name="x:1"),
        ),
        (
            {"type": "resource", "resource": {"uri": "x:1", "mimeType": "application/gzip", "blob": PIXEL}},
            Document("application/gzip", PIXEL, name="x:1"),
        ),
        (
            {"type": "resource", "resource": {"uri": "x:1", "mimeType": "text/plain", "text": "t"}},
            Text("[resource x:1, text/plain]\nt"),
        ),
        (
            {"type": "resource_link", "uri": "x:1", "name": "one", "mimeType": "a/b", "description": "d"},
            Text("[resource link x:1: one, a/b, d]"),
        ),
        ("bare", Text("bare")),
    ],
)
def test_P3_each_kind(item: Any, block: Any) -> None:
    assert block_of(item) == block


@pytest.mark.parametrize(
    "item",
    [
        {"type": "image", "mimeType": "image/png"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "image", "data": "%%%", "mimeType": "image/png"},
        {"type": "image", "data": "abc", "mimeType": "image/png"},
        {"type": "image", "data": "é", "mimeType": "image/png"},
        {"type": "audio", "data": 5},
        {"type": "hologram"},
        {"type": None},
        {},
        5,
        [1],
        {"type": "resource"},
        {"type": "resource", "resource": {"uri": "x:1"}},
    ],
)
def test_P3_what_can_not_be_a_block_is_named(item: Any) -> None:
    block = block_of(item)
    assert isinstance(block, Text)
    assert block.text.startswith("[left out: ")


@pytest.mark.parametrize(
    ("content", "structured", "texts"),
    [
        ([], {"a": 1}, ['{"a": 1}']),
        (["see"], {"a": 1}, ["see", '{"a": 1}']),
        (['{ "a":1 }'], {"a": 1}, ['{ "a":1 }']),
        (["5"], {"result": 5}, ["5"]),
        (["hi"], {"result": "hi"}, ["hi"]),
        (["hi"], {"content": "hi"}, ["hi"]),
        (["hi"], {"content": "ho"}, ["hi", '{"content": "ho"}']),
        (["a", "b"], {"result": ["a", "b"]}, ["a", "b"]),
        (["1", "2"], {"result": [1, 2]}, ["1", "2"]),
        (["6"], {"result": 5}, ["6", '{"result": 5}']),
        ([], {}, ["{}"]),
        ([], [1], ["[1]"]),
    ],
)
def test_P3_structure_is_told_once(content: list[str], structured: Any, texts: list[str]) -> None:
    items = [{"type": "text", "text": text} for text in content]
    output = output_of({"content": items, "structuredContent": structured})
    assert [block.text for block in output.blocks if isinstance(block, Text)] == texts


@given(json_values)
def test_P3_any_result_is_an_output_that_can_be_stored(result: Any) -> None:
    json.dumps(to_json(output_of(result).blocks)).encode()


@given(json_values)
def test_P3_any_content_is_an_output_that_can_be_stored(content: Any) -> None:
    json.dumps(to_json(output_of({"content": content}).blocks)).encode()


def test_P3_is_error_is_kept() -> None:
    assert output_of({"content": [], "isError": True}).is_error
    assert not output_of({"content": [], "isError": False}).is_error
    assert not output_of({"content": []}).is_error


def test_prompts_become_messages() -> None:
    (message,) = messages_of({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]})
    assert (message.role, text_of(message.blocks)) == ("user", "hi")
    for odd in (None, {}, {"messages": 5}, {"messages": [5]}, {"messages": [{"role": "robot"}]}):
        with pytest.raises(ValueError):
            messages_of(odd)
