"""
Changed copies of values. What `attrs.evolve` does, for a third less: the turn machine makes fifteen a turn.

`attrs.evolve` looks at each field of the class each time. Here that is done once a class.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import fields

__all__ = ["evolve"]

_PLANS: dict[type, tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]] = {}
"""By class: what reads all its fields, in the order in which its `__init__` takes them, and their places."""

if TYPE_CHECKING:
    from attrs import evolve  # a type checker knows which changes this one takes
else:

    def evolve(value, /, **changes):
        """*value* with *changes*. TypeError for a field that is not there, and what its class raises."""
        cls = type(value)
        plan = _PLANS.get(cls)
        if plan is None:
            plan = _PLANS[cls] = _plan(cls)
        read, places = plan
        values = list(read(value))
        for name, changed in changes.items():
            if name not in places:
                raise TypeError(f"{cls.__name__} has no field {name!r}")
            values[places[name]] = changed
        return cls(*values)


def _plan(cls: type) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]:
    names = []
    for one in fields(cls):
        if not one.init or one.kw_only or one.alias != one.name:
            raise TypeError(f"{cls.__name__}.{one.name} is not set by position, use attrs.evolve")
        names.append(one.name)
    if len(names) < 2:
        raise TypeError(f"{cls.__name__} has too few fields to copy, make a new one")
    return attrgetter(*names), {name: place for place, name in enumerate(names)}
