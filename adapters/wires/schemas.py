"""
Schemas of tools, cleaned of what wires refuse (contract M13). Pure.

The tool's own schema still judges its calls.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from norma.domain.model.blocks import thaw

_COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "enum")


def cleaned(schema: Mapping[str, Any], *, inline_refs: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    *schema* as an object schema with properties and no combinator at the top, and what was left out.

    The properties that a combinator at the top speaks of are kept, so that the model sees them. With
    *inline_refs* local references are replaced by what they name; one at the top always is.

    Raises ValueError for a reference that can't be: recursive, missing, or to another document.
    """
    out: dict[str, Any] = thaw(schema)
    if inline_refs:
        out = _inlined(out, out, ())
        for name in ("$defs", "definitions"):
            out.pop(name, None)
    out = _without_ref(out, out, ())
    properties, required = _told(out, out, ())
    lost = tuple(name for name in _COMBINATORS if out.pop(name, None) is not None)
    out["type"] = "object"
    out["properties"] = properties
    if lost and required:
        out["required"] = required
    return out, lost


_Told: TypeAlias = tuple[dict[str, Any], list[str]]
"""Properties, and the names of those that are required."""


def _told(schema: dict[str, Any], root: dict[str, Any], inside: tuple[str, ...]) -> _Told:
    """What an object schema, with all that it combines at its top, says of properties."""
    own, names = schema.get("properties"), schema.get("required")
    properties = dict(own) if isinstance(own, dict) else {}
    required = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    for word in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(word)
        branches = [
            _branch(part, root, inside)
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict) and part.get("type", "object") == "object"
        ]
        found: dict[str, list[Any]] = {}
        for told, _ in branches:
            for name, value in told.items():
                values = found.setdefault(name, [])
                if value not in values:
                    values.append(value)
        for name, values in found.items():
            joined = {"allOf" if word == "allOf" else "anyOf": values}
            properties.setdefault(name, values[0] if len(values) == 1 else joined)
        if word == "allOf":
            needed = dict.fromkeys(name for _, names in branches for name in names)
            required += [name for name in needed if name not in required]
    return properties, required


def _branch(part: dict[str, Any], root: dict[str, Any], inside: tuple[str, ...]) -> _Told:
    """What one part of a combinator says; nothing, if its reference leads nowhere that can be read."""
    ref = part.get("$ref")
    try:
        named = _without_ref(part, root, inside)
    except ValueError:  # it goes with the combinator, and that is reported
        return {}, []
    return _told(named, root, (*inside, ref) if isinstance(ref, str) else inside)


def _without_ref(value: dict[str, Any], root: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """*value* with what a reference at its top names in its place."""
    while isinstance(ref := value.get("$ref"), str):
        if ref in inside:
            raise ValueError(f"its schema refers to itself ({ref}) at its top")
        inside = (*inside, ref)
        named = _named(ref, root)
        beside = {key: item for key, item in value.items() if key != "$ref"}
        value = {**named, **beside} if isinstance(named, dict) else beside
    return value


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """*schema* in which every object takes no property but its own: what constrained answers need."""
    out: dict[str, Any] = _closed(thaw(schema))
    return out


def is_strict(schema: Any) -> bool:
    """Whether every object in *schema* is closed and requires all its properties."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping) or schema.get("type") == "object":
        names = set(properties) if isinstance(properties, Mapping) else set()
        if schema.get("additionalProperties") is not False or set(schema.get("required") or ()) != names:
            return False
    return all(is_strict(item) for item in schema.values())


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {key: _closed(item) for key, item in value.items()}
    if out.get("type") == "object" and isinstance(out.get("properties", {}), dict):
        out["additionalProperties"] = False
    return out


def _inlined(value: Any, root: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_inlined(item, root, inside) for item in value]
    if not isinstance(value, dict):
        return value
    ref = value.get("$ref")
    if not isinstance(ref, str):
        return {key: _inlined(item, root, inside) for key, item in value.items()}
    if ref in inside:
        raise ValueError(f"its schema refers to itself ({ref}), which this wire can't express")
    beside = {key: _inlined(item, root, inside) for key, item in value.items() if key != "$ref"}
    named = _inlined(_named(ref, root), root, (*inside, ref))
    return {**named, **beside} if isinstance(named, dict) else named


def _named(ref: str, root: dict[str, Any]) -> Any:
    if not ref.startswith("#"):
        raise ValueError(f"its schema refers to another document ({ref}), which is never fetched")
    value: Any = root
    for part in ref[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or name not in value:
            raise ValueError(f"its schema refers to {ref}, which is not there")
        value = value[name]
    return value
