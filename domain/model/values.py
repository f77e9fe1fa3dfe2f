"""
Classes of values: what `attrs.frozen` and `attrs.define` make, made when it is first needed.

For each class attrs writes some methods and compiles them, which takes longer than all else that happens
while a module is imported. Norma has some 200 such classes, and a turn uses a few dozen. So a class
starts with its slots and its own methods, and with a `_Later` in the place of each thing that attrs
would add. Whoever looks one up, Python itself to make or to compare a value, has attrs make the class
once more, and what this other class has more is moved over. From then on the class is like any other of
attrs'. What shows and compares values is apart, since most values never are.

What is wrong with the fields of a class, such as one without a default behind one with, is told then,
too.
"""

from collections.abc import Callable
from contextlib import suppress
from inspect import get_annotations
from typing import TYPE_CHECKING, Any

import attrs

__all__ = ["define", "frozen"]

if TYPE_CHECKING:
    from attrs import define, frozen  # a type checker knows what they make of a class
else:

    def frozen(cls):
        """*cls* as `attrs.frozen` makes it. TypeError if a method of it uses `super`, and so this class."""
        return _waiting(cls, attrs.frozen)

    def define(cls):
        """*cls* as `attrs.define` makes it. TypeError if a method of it uses `super`, and so this class."""
        return _waiting(cls, attrs.define)


def _waiting(cls: type, decorator: Callable[..., Any]) -> type:
    own = {name: one for name, one in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    if any(map(_uses_super, own.values())):
        raise TypeError(f"a method of {cls.__name__} uses super, use attrs itself")
    own["__qualname__"] = cls.__qualname__
    fields = [name for name, hint in get_annotations(cls).items() if not _is_of_class(hint)]
    body = _LATER | {name: one for name, one in own.items() if name not in fields}
    body |= {"__slots__": (*fields, "__weakref__"), _WRITTEN: (own, decorator)}
    return type(cls)(cls.__name__, cls.__bases__, body)


class _Later:
    """Stands in all classes for what attrs makes of them under *name*, until it is looked up."""

    def __init__(self, name: str, *, compares: bool) -> None:
        self._name = name
        self.compares = compares

    def __get__(self, value: object, kind: type | None = None) -> Any:
        if isinstance(value, type):  # as `inspect.signature` asks, which takes the class for a value
            return getattr(value, self._name).__get__(value)
        kind = type(value) if kind is None else kind
        for one in kind.__mro__:
            if vars(one).get(self._name) is self:  # else another thread has made it by now
                _make(one, compares=self.compares)
        return getattr(kind if value is None else value, self._name)


_WRITTEN = "__written__"
"""Where a class keeps its body as it stands in its module, and the decorator of attrs that is meant."""

_COMPARING = ("__repr__", "__eq__", "__ne__", "__hash__")
_USING = (
    "__init__",
    "__setattr__",
    "__delattr__",
    "__getstate__",
    "__setstate__",
    "__match_args__",
    "__attrs_attrs__",
    "__attrs_props__",
)
_LATER = {name: _Later(name, compares=name in _COMPARING) for name in (*_USING, *_COMPARING)}


def _make(kind: type, *, compares: bool) -> None:
    """
    Give *kind* what attrs makes of it: what shows and compares its values, or all the rest.

    Threads that do so at the same time are not in each other's way: what they make is the same.
    """
    body, decorator = vars(kind)[_WRITTEN]
    written = type(kind)(kind.__name__, kind.__bases__, dict(body))
    made = vars(decorator(written) if compares else decorator(repr=False, eq=False)(written))
    own = vars(kind).copy()
    waiting = {name for name, one in own.items() if isinstance(one, _Later) and one.compares is compares}
    more = set() if compares else made.keys() - own.keys()
    for name in (waiting | more) & made.keys():
        setattr(kind, name, made[name])
    for name in waiting - made.keys():  # the class has its own of the same kind
        with suppress(AttributeError):  # another thread has taken it away
            delattr(kind, name)


def _is_of_class(hint: object) -> bool:
    return str(hint).strip("'\"").startswith(("ClassVar", "typing.ClassVar"))


def _uses_super(method: Any) -> bool:
    function = getattr(method, "fget", None) or getattr(method, "__func__", method)
    return "__class__" in getattr(getattr(function, "__code__", None), "co_freevars", ())
