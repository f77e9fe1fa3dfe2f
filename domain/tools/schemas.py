"""Shorthand for the tools' input schemas."""

from collections.abc import Mapping
from typing import Any


def inputs(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object with these properties. Others are let through, as models add some."""
    schema: dict[str, Any] = {"type": "object", "properties": {**required, **(optional or {})}}
    if required:
        schema["required"] = list(required)
    return schema


def text(description: str, **more: Any) -> dict[str, Any]:
    """A string."""
    return {"type": "string", "description": description, **more}


def words(description: str) -> dict[str, Any]:
    """A string that must not be empty."""
    return text(description, minLength=1)


def whole(description: str, *, minimum: int, **more: Any) -> dict[str, Any]:
    """A whole number. It may arrive as a float such as 3.0, so a tool takes `int(…)` of it."""
    return {"type": "integer", "description": description, "minimum": minimum, **more}


def flag(description: str) -> dict[str, Any]:
    """True or false."""
    return {"type": "boolean", "description": description}
