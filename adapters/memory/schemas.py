"""Schema checks for tests: the common keywords of JSON schema, and nothing unseen."""

from collections.abc import Mapping
from typing import Any

from norma.ports.schemas import SchemaCheck, SchemaCompiler

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {"$schema", "title", "description", "default", "examples"}
_RULES = {"type", "properties", "required", "additionalProperties", "items", "enum"}


class PlainSchemas(SchemaCompiler):
    """
    Knows type, properties, required, additionalProperties (true or false), items and enum.

    A schema with another keyword is a ValueError: this double never says yes to what it did not look at.
    """

    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        """See `SchemaCompiler.compile`."""
        _examine(schema, "schema")
        return lambda arguments: _fault(schema, arguments, "arguments")


def _examine(schema: Any, at: str) -> None:
    if not isinstance(schema, Mapping):
        raise ValueError(f"{at}: a schema is an object, not {type(schema).__name__}")
    unknown = sorted(set(schema) - _WORDS - _RULES)
    if unknown:
        known = ", ".join(sorted(_RULES))
        raise ValueError(f"{at}: this double does not know {', '.join(unknown)}; it knows {known}")
    for name in _types(schema):
        if name not in _TYPES:
            raise ValueError(f"{at}: {name!r} is no type; the types are {', '.join(_TYPES)}")
    if not isinstance(schema.get("additionalProperties", True), bool):
        raise ValueError(f"{at}: this double knows additionalProperties as true or false only")
    for key, part in schema.get("properties", {}).items():
        _examine(part, f"{at}.properties.{key}")
    if "items" in schema:
        _examine(schema["items"], f"{at}.items")


def _types(schema: Mapping[str, Any]) -> list[Any]:
    types = schema.get("type", [])
    return types if isinstance(types, list) else [types]


def _fault(schema: Mapping[str, Any], value: Any, at: str) -> str | None:
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        return f"{at}: expected {' or '.join(types)}, got {type(value).__name__}"
    if "enum" in schema and not any(_same(value, word) for word in schema["enum"]):
        return f"{at}: expected one of {', '.join(map(repr, schema['enum']))}, got {value!r}"
    if isinstance(value, Mapping):
        return _object_fault(schema, value, at)
    if isinstance(value, list | tuple) and "items" in schema:
        faults = (_fault(schema["items"], item, f"{at}[{index}]") for index, item in enumerate(value))
        return next(filter(None, faults), None)
    return None


def _object_fault(schema: Mapping[str, Any], value: Mapping[str, Any], at: str) -> str | None:
    properties = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            return f"{at}: {key!r} is missing"
    for key, item in value.items():
        if key in properties:
            fault = _fault(properties[key], item, f"{at}.{key}")
            if fault:
                return fault
        elif schema.get("additionalProperties") is False:
            return f"{at}: {key!r} is not known; known are {', '.join(properties) or 'none'}"
    return None


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
