"""
Schemas of strangers' tools, mended so that one of them does not spoil the request that offers them all. Pure.

A missing type is added. References within the schema stay, but one that leads back to itself is written out
once and then left open, since not every model wire takes it; the server checks its calls anyway.
"""

from collections.abc import Mapping
from typing import Any

from norma.domain.model.blocks import thaw

MOST_PARTS = 20_000


class Unusable(Exception):
    """A schema that can't be mended, and why."""


def usable_schema(schema: Any) -> tuple[dict[str, Any] | None, str]:
    """The schema as an object's, or None and the reason."""
    if schema is None or schema is True:
        return {"type": "object", "properties": {}}, ""
    if not isinstance(schema, Mapping):
        return None, "it is no object"
    kind = schema.get("type", "object")
    if kind != "object":
        return None, f"it describes {str(kind)[:50]!r} where an object is needed"
    try:
        own: dict[str, Any] = thaw(schema)
        own["type"] = "object"
        if not isinstance(own.get("properties"), dict):
            own["properties"] = {}
        if _References(own).any_leads_back():
            own = _unrolled(own)
    except Unusable as error:
        return None, str(error)
    except RecursionError:
        return None, "it is nested too deeply"
    return own, ""


class _References:
    """Which references a schema has, and where they lead."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._leads: dict[str, set[str]] = {}
        pending = [*references_in(root)]
        while pending:
            ref = pending.pop()
            if ref not in self._leads:
                self._leads[ref] = set(references_in(named(ref, root)))
                pending += self._leads[ref]

    def any_leads_back(self) -> bool:
        """Whether a reference can be reached from what it names."""
        return any(ref in self._reached(ref) for ref in self._leads)

    def _reached(self, start: str) -> set[str]:
        reached: set[str] = set()
        pending = list(self._leads[start])
        while pending:
            ref = pending.pop()
            if ref not in reached:
                reached.add(ref)
                pending += self._leads[ref]
        return reached


def references_in(value: Any) -> list[str]:
    """Every `$ref` inside *value*."""
    found: list[str] = []
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if isinstance(one.get("$ref"), str):
                found.append(one["$ref"])
            pending += one.values()
        elif isinstance(one, list):
            pending += one
    return found


def named(ref: str, root: dict[str, Any]) -> Any:
    """What a reference names. Raises Unusable."""
    if not ref.startswith("#"):
        raise Unusable(f"it refers to another document, {ref[:100]!r}, which is never fetched")
    value: Any = root
    for part in ref[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            raise Unusable(f"it refers to {ref[:100]!r}, which is not there")
    return value


def _unrolled(root: dict[str, Any]) -> dict[str, Any]:
    """*root* without references; one inside what it names itself is open to anything."""
    parts = 0

    def unroll(value: Any, inside: tuple[str, ...]) -> Any:
        nonlocal parts
        parts += 1
        if parts > MOST_PARTS:
            raise Unusable("it has too many references")
        if isinstance(value, list):
            return [unroll(item, inside) for item in value]
        if not isinstance(value, dict):
            return value
        beside = {key: unroll(item, inside) for key, item in value.items() if key != "$ref"}
        ref = value.get("$ref")
        if not isinstance(ref, str):
            return {**beside, **({"$ref": ref} if ref is not None else {})}
        if ref in inside:
            return beside
        target = unroll(named(ref, root), (*inside, ref))
        return {**target, **beside} if isinstance(target, dict) else target

    kept = {key: value for key, value in root.items() if key not in ("$defs", "definitions")}
    out: dict[str, Any] = unroll(kept, ())
    return out
