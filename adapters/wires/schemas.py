"""
Schemas of tools, cleaned of what wires refuse (contract M13). Pure.

The tool's own schema still judges its calls.
"""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.blocks import thaw

_COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "enum")


def cleaned(schema: Mapping[str, Any], *, inline_refs: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    *schema* as an object schema with properties and no combinator at the top, and what was left out.

    With *inline_refs* local references are replaced by what they name.

    Raises ValueError for a reference that can't be: recursive, missing, or to another document.
    """
    out: dict[str, Any] = thaw(schema)
    if inline_refs:
        out = _inlined(out, out, ())
        for name in ("$defs", "definitions"):
            out.pop(name, None)
    lost = tuple(name for name in _COMBINATORS if out.pop(name, None) is not None)
    out["type"] = "object"
    if not isinstance(out.get("properties"), dict):
        out["properties"] = {}
    return out, lost


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
