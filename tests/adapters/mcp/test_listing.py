"""P2: lists in pages, and what of them can be used."""

from typing import Any

import pytest
from hypothesis import given

from norma.adapters.mcp.listing import MOST_PAGES, Pages, prompts_of, resources_of, tools_of
from norma.adapters.mcp.schemas import references_in, usable_schema
from norma.adapters.schemas.checks import SchemaChecks
from norma.adapters.wires.schemas import cleaned
from norma.ports.tool_server import ToolHints
from tests.adapters.mcp.test_content import json_values


def test_P2_pages_end_without_a_cursor() -> None:
    pages = Pages("tools")
    assert pages.take({"tools": [1], "nextCursor": "a"}) == "a"
    assert pages.take({"tools": [2], "nextCursor": ""}) == ""
    assert pages.take({"tools": [3], "nextCursor": None}) is None
    assert pages.items == [1, 2, 3]
    assert pages.notes == []


def test_P2_a_repeated_cursor_and_a_hundred_pages_end_it_with_a_note() -> None:
    pages = Pages("tools")
    assert pages.take({"tools": [], "nextCursor": "a"}) == "a"
    assert pages.take({"tools": [], "nextCursor": "b"}) == "b"
    assert pages.take({"tools": [], "nextCursor": "a"}) is None
    assert "repeats its cursor 'a'" in pages.notes[0]
    endless = Pages("tools")
    asked = 1
    while endless.take({"tools": [asked], "nextCursor": f"c{asked}"}) is not None:
        asked += 1
    assert asked == MOST_PAGES == len(endless.items)
    assert "over 100 pages" in endless.notes[0]


@pytest.mark.parametrize("page", [None, [], {}, {"tools": None}, {"tools": {"a": 1}}, "x"])
def test_P2_a_page_without_a_list_ends_it_with_a_note(page: Any) -> None:
    pages = Pages("tools")
    assert pages.take(page) is None
    assert "without a list" in pages.notes[0]


def test_P2_twins_are_told_and_repeats_are_not() -> None:
    tools, notes = tools_of(
        [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"name": "a", "description": "other"}]
    )
    assert [tool.name for tool in tools] == ["a", "b"]
    assert len(notes) == 1
    assert "'a'" in notes[0]


def test_hints_are_taken_only_when_they_are_true() -> None:
    items = [
        {"name": "a", "annotations": {"readOnlyHint": True, "idempotentHint": True}},
        {"name": "b", "annotations": {"readOnlyHint": "true", "idempotentHint": 1}},
        {"name": "c", "annotations": "x"},
    ]
    tools, _ = tools_of(items)
    assert [tool.hints for tool in tools] == [ToolHints(True, True), ToolHints(), ToolHints()]


def test_a_tool_that_can_only_be_a_task_is_left_out_with_a_reason() -> None:
    tools, notes = tools_of([{"name": "slow", "execution": {"taskSupport": "required"}}])
    assert tools == ()
    assert "as a task" in notes[0]
    tools, _ = tools_of([{"name": "slow", "execution": {"taskSupport": "optional"}}])
    assert len(tools) == 1


@given(json_values)
def test_P2_any_list_is_tools_and_notes(item: Any) -> None:
    tools, notes = tools_of(
        [item, {"name": "x", "inputSchema": item, "annotations": item, "description": item}]
    )
    assert len(tools) + len(notes) >= 2 or tools
    resources_of([item], template=True)
    prompts_of([item, {"name": "p", "arguments": [item]}])


@given(json_values)
def test_P2_a_usable_schema_is_taken_by_compiler_and_wires_or_refused(schema: Any) -> None:
    usable, why = usable_schema(schema)
    if usable is None:
        assert why
        return
    assert usable["type"] == "object"
    cleaned(usable, inline_refs=True)


NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}


def test_P2_a_schema_that_refers_to_itself_is_written_out_once() -> None:
    schema = {"type": "object", "properties": {"root": {"$ref": "#/$defs/N"}}, "$defs": {"N": NODE}}
    usable, _ = usable_schema(schema)
    assert usable is not None
    assert references_in(usable) == []
    check = SchemaChecks().compile(usable)
    assert check({"root": {"kids": [{"kids": [{"kids": []}]}]}}) is None
    assert check({"root": {"kids": 5}}) is not None


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"$ref": "https://elsewhere/schema"}, "another document"),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, "not there"),
        ({"type": "array"}, "array"),
        ({"type": ["object", "null"]}, "object"),
        (False, "no object"),
        ([1], "no object"),
    ],
)
def test_P2_a_schema_that_can_not_be_used_says_why(schema: Any, word: str) -> None:
    usable, why = usable_schema(schema)
    assert usable is None
    assert word in why


def test_P2_a_schema_with_ever_more_references_is_refused_soon() -> None:
    defs: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 8} for n in range(12)}
    defs["d12"] = {"$ref": "#/$defs/d0"}
    usable, why = usable_schema(
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs}
    )
    assert usable is None
    assert "too many" in why
