"""Fields of a profile that somebody sets otherwise (contract M15). Pure."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from attrs import evolve, fields

from norma.adapters.wires.profiles import Profile

_FIXED = frozenset({"name", "hosts", "models"})
"""What says when a profile is taken; whoever names one has taken it."""


def overridden(profile: Profile, model: str, changes: Mapping[str, Any]) -> Profile:
    """
    *profile* as it is for *model*, with *changes*, which are plain values by the names of its fields.

    Raises ValueError that names a field and says what would be right.
    """
    hints = get_type_hints(Profile)
    known = [field.name for field in fields(Profile) if field.name not in _FIXED]
    made: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"{name}: no such field of a profile; there are {', '.join(known)}")
        made[name] = _made(name, value, hints[name])
    return evolve(profile.for_model(model), models=(), **made)


def _made(name: str, value: Any, kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType and NoneType in inner:
        return _made(name, value, inner[0])
    if origin is Literal:
        if value not in inner:
            raise ValueError(f"{name}: expected one of {', '.join(map(str, inner))}, got {value!r}")
        return value
    if origin is frozenset:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ValueError(f"{name}: expected a list of words, got {value!r}")
        return frozenset(value)
    if origin is not None:
        if not isinstance(value, Mapping):
            raise ValueError(f"{name}: expected a table, got {value!r}")
        return dict(value)
    if type(value) is not kind:
        raise ValueError(f"{name}: expected {kind.__name__}, got {value!r}")
    return value
