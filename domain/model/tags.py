"""
The name under which a value stands in JSON.

`@tagged("text")` on a frozen attrs class makes its values turn into `{"type": "text", …}`
and back (see `json`). A tag is for ever: old journals hold it.
"""

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=type)

ALWAYS = "always"
"""Metadata for "json": the field stands in the JSON even when it holds its default."""

NEVER = "never"
"""Metadata for "json": the field is for this process only."""

_BY_TAG: dict[str, list[tuple[str | None, type]]] = {}
_BY_CLASS: dict[type, str] = {}


def tagged(tag: str, *, when: str | None = None) -> Callable[[C], C]:
    """
    Register a class under *tag*.

    Two classes may share a tag if one names a key (*when*) that only its own JSON has.
    """

    def register(kind: C) -> C:
        rows = _BY_TAG.setdefault(tag, [])
        if any(row[0] == when for row in rows):
            raise ValueError(f"two classes want the JSON tag {tag!r}")
        rows.append((when, kind))
        rows.sort(key=lambda row: row[0] is None)  # the ones with a condition are tried first
        _BY_CLASS[kind] = tag
        return kind

    return register


def tag_of(kind: type) -> str | None:
    """The tag of a class, None if it has none."""
    return _BY_CLASS.get(kind)


def class_of(tag: str, keys: object) -> type | None:
    """The class that JSON with this tag and these keys stands for, None if nobody registered it."""
    for when, kind in _BY_TAG.get(tag, ()):
        if when is None or when in keys:  # type: ignore[operator]  # any container of str
            return kind
    return None


def known_tags() -> list[str]:
    """All tags, sorted."""
    return sorted(_BY_TAG)
