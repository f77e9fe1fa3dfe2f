"""The schema port over jsonschema-rs."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from norma.domain.model.blocks import thaw
from norma.ports.schemas import SchemaCheck, SchemaCompiler

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MOST_FAULTS = 5
SHOWN_CHARACTERS = 80
"""Of a value that is wrong: the model knows what it sent, and it may be long."""


class SchemaChecks(SchemaCompiler):
    """
    Compiles with jsonschema-rs, which is imported at the first use.

    Nothing is fetched: a reference that leaves the schema is an error, also to a file. A pattern
    that backtracks without end is stopped by the library and counts as not matched.
    """

    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        from jsonschema_rs import ReferencingError, ValidationError, validator_for

        own = thaw(schema)
        try:
            validator = validator_for(own, offline=True, mask="the value")
        except (ValidationError, ReferencingError) as error:
            raise ValueError(f"not a usable JSON schema: {_place_of(error)}{error.message}") from error
        except ValueError as error:
            raise ValueError(f"not a usable JSON schema: {error}") from error
        return lambda arguments: _faults(validator, own, arguments)


def _faults(validator: "Validator", schema: Any, arguments: Mapping[str, Any]) -> str | None:
    try:
        errors = validator.iter_errors(arguments if type(arguments) is dict else thaw(arguments))
        first = list(islice(errors, MOST_FAULTS + 1))
    except ValueError as error:
        return f"the arguments are no JSON object that can be checked: {error}"
    if not first:
        return None
    lines = [_fault(error, schema) for error in first[:MOST_FAULTS]]
    return "; ".join(lines) + ("; and more" if len(first) > MOST_FAULTS else "")


def _fault(error: "ValidationError", schema: Any) -> str:
    return f"{_place_of(error)}{error.message}{''.join(_remedy(error, schema))}"


def _remedy(error: "ValidationError", schema: Any) -> Iterator[str]:
    """What was there instead, or what would be right where the library's words leave that open."""
    kind = error.kind.name
    if kind in ("anyOf", "oneOf"):
        branches = [branch[0] for branch in getattr(error.kind, "context", []) if branch]
        if branches:
            yield f" ({' or: '.join(_fault(branch, schema) for branch in branches[:3])})"
    elif kind in ("additionalProperties", "unevaluatedProperties"):
        allowed = _at(schema, error.schema_path[:-1]).get("properties")
        if isinstance(allowed, Mapping):
            yield f"; there are: {', '.join(allowed)}"
    elif kind != "required":
        yield f" (it is {_shown(error.instance)})"


def _at(schema: Any, path: list[str | int]) -> Mapping[str, Any]:
    """The part of *schema* that *path* leads to; empty where it goes through a reference."""
    for step in path:
        try:
            schema = schema[step]
        except (LookupError, TypeError):
            return {}
    return schema if isinstance(schema, Mapping) else {}


def _place_of(error: Exception) -> str:
    path = getattr(error, "instance_path", [])
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{steps.lstrip('.')}: " if steps else ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters)"
