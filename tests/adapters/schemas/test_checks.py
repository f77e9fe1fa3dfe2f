"""Schema checks as a model would read them."""

import subprocess
import sys
from types import MappingProxyType

import pytest

from norma.adapters.schemas.checks import SchemaChecks

SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "mode": {"enum": ["fast", "slow"]},
        "edits": {"type": "array", "items": {"type": "object", "required": ["old"]}},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["id"]}]},
        "strict": {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False},
        "risky": {"type": "string", "pattern": "^(?=(a+)+$)a*b?$"},
    },
    "required": ["count"],
}


def fault(arguments, schema=SCHEMA):
    return SchemaChecks().compile(schema)(arguments)


@pytest.mark.parametrize("arguments", [{"count": 1}, {"count": 1.0}, {"count": 5, "unknown": {"x": None}}])
def test_what_fits_gives_none(arguments):
    assert fault(arguments) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ['"count" is a required property']),
        ({"count": "x"}, ["count: ", 'is not of type "integer"', 'it is "x"']),
        ({"count": True}, ["count: ", "integer", "it is true"]),
        ({"count": 9}, ["count: ", "maximum of 5", "it is 9"]),
        ({"count": 10**30}, ["maximum of 5"]),
        ({"count": 1, "mode": "quick"}, ["mode: ", '"fast" or "slow"', '"quick"']),
        ({"count": 1, "edits": [{"old": 1}, {}]}, ['edits[1]: "old" is a required property']),
        ({"count": 1, "either": 3}, ['not of type "string"', " or: ", 'not of type "object"']),
        ({"count": 1, "strict": {"c": 1}}, ["strict: ", "'c' was unexpected", "there are: a, b"]),
        ({"count": float("nan")}, ["count: "]),
        ({"count": 1, "risky": "a" * 200 + "c"}, ["risky: "]),
        ({1: 2}, ["no JSON object"]),
    ],
)
def test_a_fault_says_where_what_and_what_would_be_right(arguments, words):
    said = fault(arguments)
    assert said is not None
    for word in words:
        assert word in said


def test_several_faults_are_told_at_once_and_a_flood_is_cut():
    assert fault({"count": 9, "mode": "x"}).count("it is") == 2
    many = fault({"count": 1, "edits": [{}] * 100})
    assert many.count("required") == 5
    assert many.endswith("and more")


def test_a_long_value_is_not_repeated_whole():
    assert len(fault({"count": "x" * 10_000})) < 300


def test_the_arguments_may_be_any_mapping_and_are_not_changed():
    inner = {"count": 1, "edits": ({"old": 1},)}
    assert fault(MappingProxyType(inner)) is None
    assert inner == {"count": 1, "edits": ({"old": 1},)}


def test_the_schema_may_change_afterwards():
    schema = {"type": "object", "required": ["a"]}
    check = SchemaChecks().compile(schema)
    schema["required"] = ["b"]
    assert "a" in str(check({}))


def test_schema_names_its_draft():
    draft_4 = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"n": {"minimum": 1, "exclusiveMinimum": True}},
    }
    assert fault({"n": 1}, draft_4) is not None
    assert fault({"n": 2}, draft_4) is None


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "wrong"}, "type: "),
        ({"properties": {"a": {"pattern": "("}}}, "pattern"),
        ({"$ref": "#/nowhere"}, "nowhere"),
        ({"$ref": "http://127.0.0.1:1/remote"}, "127.0.0.1"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "file:///etc/passwd"),
        ({"$schema": "http://example.com/unknown"}, "unknown"),
    ],
)
def test_an_unusable_schema_says_why_and_nothing_is_fetched(schema, words):
    with pytest.raises(ValueError, match="not a usable JSON schema") as raised:
        SchemaChecks().compile(schema)
    assert words in str(raised.value)


def test_the_library_is_not_imported_before_it_is_used():
    code = (
        "import sys; from norma.adapters.schemas.checks import SchemaChecks; checks = SchemaChecks();"
        "assert 'jsonschema_rs' not in sys.modules; checks.compile({}); assert 'jsonschema_rs' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
