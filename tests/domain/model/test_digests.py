"""What an answer and a grant are bound to (rule T5)."""

from typing import Any

import pytest

from norma.domain.model.actions import call_digest, tool_digest
from norma.domain.model.requests import ToolSpec

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
SPEC = ToolSpec("Write", "Writes.", SCHEMA)


@pytest.mark.parametrize(
    "changed",
    [
        ToolSpec("Edit", "Writes.", SCHEMA),
        ToolSpec("Write", "Writes!", SCHEMA),
        ToolSpec("Write", "Writes.", {**SCHEMA, "required": ["a"]}),
        ToolSpec("Write", "Writes.", {"type": "object", "properties": {"a": {"type": "number"}}}),
    ],
)
def test_T5_a_changed_name_description_or_schema_is_another_tool(changed: ToolSpec) -> None:
    assert tool_digest(changed) != tool_digest(SPEC)
    assert call_digest(changed, {}) != call_digest(SPEC, {})


@pytest.mark.parametrize(
    "changed", [{}, {"a": "1"}, {"a": 1, "b": 2}, {"a": "1", "b": 2.0}, {"a": "1", "b": True}]
)
def test_T5_changed_arguments_are_another_call(changed: dict[str, Any]) -> None:
    assert call_digest(SPEC, changed) != call_digest(SPEC, {"a": "1", "b": 2})


def test_T5_the_order_of_keys_makes_no_difference() -> None:
    properties = dict(reversed(SCHEMA["properties"].items()))
    turned = ToolSpec("Write", "Writes.", {"properties": properties, "type": "object"})
    assert tool_digest(turned) == tool_digest(SPEC)
    assert call_digest(turned, {"b": 2, "a": "\udcff"}) == call_digest(SPEC, {"a": "\udcff", "b": 2})
