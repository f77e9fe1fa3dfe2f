"""The promises of the schema port. (The whole of JSON schema is tested beside its adapter.)"""

import copy
from collections.abc import Mapping
from typing import Any

from norma.domain.model.values import frozen
from norma.ports.schemas import SchemaCompiler

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "where"},
        "limit": {"type": "integer"},
        "mode": {"enum": ["a", "b"]},
        "edits": {"type": "array", "items": {"type": "object", "required": ["old"]}},
        "maybe": {"type": ["string", "null"]},
    },
    "required": ["path"],
}
CLOSED: Mapping[str, Any] = {**SCHEMA, "additionalProperties": False}

GOOD: tuple[Mapping[str, Any], ...] = (
    {"path": "a"},
    {"path": "", "limit": 0, "mode": "b", "maybe": None},
    {"path": "a", "limit": 2**70},
    {"path": "a", "limit": 3.0},
    {"path": "a", "edits": []},
    {"path": "a", "edits": [{"old": 1, "new": 2}]},
)
BAD: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({}, "path"),
    ({"path": 1}, "path"),
    ({"path": None}, "path"),
    ({"path": "a", "limit": "3"}, "limit"),
    ({"path": "a", "limit": 3.5}, "limit"),
    ({"path": "a", "limit": True}, "limit"),
    ({"path": "a", "mode": "c"}, "mode"),
    ({"path": "a", "edits": [{"old": 1}, {}]}, "old"),
    ({"path": "a", "edits": {}}, "edits"),
    ({"path": "a", "maybe": 1}, "maybe"),
)
"""Arguments that do not fit, and a word that the message must have in it."""

UNUSABLE: tuple[Mapping[str, Any], ...] = ({"type": "strnig"}, {"properties": {"a": {"type": 7}}})


@frozen
class SchemaRig:
    """A compiler."""

    compiler: SchemaCompiler


async def check_what_fits(rig: SchemaRig) -> None:
    """Good arguments have no fault, and stay as they are."""
    check = rig.compiler.compile(SCHEMA)
    for arguments in GOOD:
        own = copy.deepcopy(arguments)
        assert check(own) is None, f"{arguments} fits, but: {check(own)}"
        assert own == arguments, "a check changes nothing"


async def check_what_does_not_fit(rig: SchemaRig) -> None:
    """The message says where and what."""
    check = rig.compiler.compile(SCHEMA)
    for arguments, word in BAD:
        fault = check(copy.deepcopy(arguments))
        assert fault is not None, f"{arguments} does not fit"
        assert word in fault, f"{arguments}: the message says where: {fault!r}"


async def check_unknown_properties(rig: SchemaRig) -> None:
    """They are accepted unless the schema forbids them."""
    arguments = {"path": "a", "extra": 1}
    assert rig.compiler.compile(SCHEMA)(arguments) is None, "an unknown property is accepted"
    fault = rig.compiler.compile(CLOSED)(arguments)
    assert fault is not None, "an unknown property is a fault where the schema forbids it"
    assert "extra" in fault, f"the message names it: {fault!r}"


async def check_unusable_schemas(rig: SchemaRig) -> None:
    """They are told when they are compiled, not when they are used."""
    for schema in UNUSABLE:
        message: str | None = None
        try:
            rig.compiler.compile(schema)
        except ValueError as error:
            message = str(error)
        assert message is not None, f"{schema} is no usable schema: a ValueError"
        assert message.strip(), "the message says why"


async def check_checks_share_nothing(rig: SchemaRig) -> None:
    """One compiler serves many tools."""
    one, other = rig.compiler.compile({"type": "object", "required": ["a"]}), rig.compiler.compile(SCHEMA)
    assert one({"a": 1}) is None, "each check is of its own schema"
    assert other({"a": 1}) is not None, "each check is of its own schema"


CHECKS = (
    check_what_fits,
    check_what_does_not_fit,
    check_unknown_properties,
    check_unusable_schemas,
    check_checks_share_nothing,
)
