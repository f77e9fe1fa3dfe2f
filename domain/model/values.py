"""
Classes of values. What `attrs.frozen` does, for less than half: a start of Norma makes some 150 of them.

attrs writes `__init__`, `__repr__`, `__eq__` and `__hash__` anew for each class and compiles them. Here it
does so for `__init__` alone: the other three are the same functions for all classes, and read the fields when
they are called.
"""

from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

import attrs

__all__ = ["frozen"]

if TYPE_CHECKING:
    from attrs import frozen  # a type checker knows what it makes of a class
else:

    def frozen(cls):
        """*cls* as `attrs.frozen` makes it. What it defines itself of the three stays."""
        own = vars(cls)
        if "__repr__" not in own:
            cls.__repr__ = _shown
        if "__eq__" not in own:
            cls.__eq__ = _equal
            if "__hash__" not in own:
                cls.__hash__ = _hashed
        return attrs.frozen(cls)  # writes none that is there


@recursive_repr("...")
def _shown(self: Any) -> str:
    kind = self.__class__
    fields = ", ".join(f"{name}={show(getattr(self, name))}" for name, show in _fields_shown(kind))
    return f"{kind.__qualname__.rsplit('>.', 1)[-1]}({fields})"


def _equal(self: Any, other: Any) -> Any:
    kind = self.__class__
    if other.__class__ is not kind:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in _fields_compared(kind))


def _hashed(self: Any) -> int:
    kind = self.__class__
    return hash((kind, *[getattr(self, name) for name in _fields_hashed(kind)]))


@cache
def _fields_shown(kind: type) -> tuple[tuple[str, Any], ...]:
    """The fields that stand in a repr, and what shows each."""
    return tuple((one.name, repr if one.repr is True else one.repr) for one in attrs.fields(kind) if one.repr)


@cache
def _fields_compared(kind: type) -> tuple[str, ...]:
    """The fields that make two values differ. TypeError if one is compared by a function."""
    for one in attrs.fields(kind):
        if one.eq_key is not None:
            raise TypeError(f"{kind.__name__}.{one.name} is compared by a function, use attrs.frozen")
    return tuple(one.name for one in attrs.fields(kind) if one.eq)


@cache
def _fields_hashed(kind: type) -> tuple[str, ...]:
    fields = attrs.fields(kind)
    return tuple(one.name for one in fields if (one.eq if one.hash is None else one.hash))
