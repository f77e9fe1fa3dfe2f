"""
Values to plain JSON and back.

Built from the classes' own fields, once per class. A value with a tag becomes an object with
that tag as "type" (see `tags`). Fields that hold their default are left out, save where readers
outside expect them: all fields of a class with `WHOLE = True`, and fields whose metadata says
`{"json": ALWAYS}`. Metadata `{"json": NEVER}` keeps a field out.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, overload

import attrs

from norma.domain.model.tags import ALWAYS, NEVER, class_of, known_tags, tag_of

T = TypeVar("T")


class MalformedJson(ValueError):
    """JSON that is no value of ours; the message says where and what would be right."""


def to_json(value: Any) -> Any:
    """
    Turn a value of the model, or a tuple of such, into plain JSON (dict, list, str, int, float, bool, None).

    Raises TypeError for anything else.
    """
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    if attrs.has(kind):
        return _encoder(kind)(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    raise TypeError(f"{kind.__name__} has no JSON form")


@overload
def from_json(data: Any) -> Any: ...
@overload
def from_json(data: Any, kind: type[T]) -> T: ...
def from_json(data: Any, kind: Any = None) -> Any:
    """
    Turn plain JSON back into the value it came from.

    Without *kind*, *data* is an object whose "type" names a class; with it, "type" may be absent.
    Keys that the class does not know are faults, because a value must never lose a part unseen.

    Raises MalformedJson.
    """
    return _decode_tagged(data, "") if kind is None else _decoder(kind)(data, "")


@cache
def _encoder(kind: type) -> Callable[[Any], dict[str, Any]]:
    whole = getattr(kind, "WHOLE", False)
    rows = [
        (field.name, _default(field), whole or field.metadata.get("json") == ALWAYS)
        for field in attrs.fields(kind)
        if field.metadata.get("json") != NEVER
    ]
    tag = tag_of(kind)

    def encode(value: Any) -> dict[str, Any]:
        out: dict[str, Any] = {} if tag is None else {"type": tag}
        for name, default, always in rows:
            item = getattr(value, name)
            if always or default is _NO_DEFAULT or (item is not default and item != default):
                out[name] = to_json(item)
        return out

    return encode


_NO_DEFAULT: Any = object()


def _default(field: "attrs.Attribute[Any]") -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
        return default.factory()
    return _NO_DEFAULT if default is attrs.NOTHING else default


Decode = Callable[[Any, str], Any]


@cache
def _decoder(kind: Any) -> Decode:
    origin = get_origin(kind)
    if kind is Any:
        return lambda data, at: data
    if kind is NoneType:
        return _exactly(NoneType, "null")
    if kind is float:
        return _number
    if kind in (str, int, bool):
        return _exactly(kind, kind.__name__)
    if origin is Literal:
        return _one_of(get_args(kind))
    if origin is tuple:
        return _sequence(_decoder(get_args(kind)[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_decoder(get_args(kind)[1]))
    if origin in (Union, UnionType):
        return _union(get_args(kind))
    if attrs.has(kind):
        return _object(kind)
    raise TypeError(f"no JSON form for {kind}")


def _fault(at: str, what: str) -> MalformedJson:
    return MalformedJson(f"{at or 'value'}: {what}")


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."


def _exactly(kind: type, name: str) -> Decode:
    def decode(data: Any, at: str) -> Any:
        if type(data) is not kind:
            raise _fault(at, f"expected {name}, got {_shown(data)}")
        return data

    return decode


def _number(data: Any, at: str) -> Any:
    if type(data) not in (int, float):
        raise _fault(at, f"expected a number, got {_shown(data)}")
    return data


def _one_of(words: tuple[Any, ...]) -> Decode:
    def decode(data: Any, at: str) -> Any:
        if data not in words:
            raise _fault(at, f"expected one of {', '.join(map(repr, words))}, got {_shown(data)}")
        return data

    return decode


def _sequence(item: Decode) -> Decode:
    def decode(data: Any, at: str) -> Any:
        if not isinstance(data, list | tuple):
            raise _fault(at, f"expected a list, got {_shown(data)}")
        return tuple(item(part, f"{at}[{index}]") for index, part in enumerate(data))

    return decode


def _mapping(item: Decode) -> Decode:
    def decode(data: Any, at: str) -> Any:
        if not isinstance(data, Mapping):
            raise _fault(at, f"expected an object, got {_shown(data)}")
        return {key: item(part, f"{at}.{key}") for key, part in data.items()}

    return decode


def _union(kinds: tuple[Any, ...]) -> Decode:
    plain = [kind for kind in kinds if not attrs.has(kind)]
    classes = [kind for kind in kinds if attrs.has(kind)]
    by_tag = all(tag_of(kind) for kind in classes) and len(classes) > 1

    def decode(data: Any, at: str) -> Any:
        if by_tag and (isinstance(data, Mapping) or not plain):
            return _decode_tagged(data, at, classes)
        if isinstance(data, Mapping) and classes:
            return _decoder(classes[0])(data, at)
        for kind in plain:
            try:
                return _decoder(kind)(data, at)
            except MalformedJson:
                continue
        raise _fault(at, f"expected {' or '.join(_name(kind) for kind in kinds)}, got {_shown(data)}")

    return decode


def _name(kind: Any) -> str:
    return "null" if kind is NoneType else str(getattr(kind, "__name__", kind))


def _decode_tagged(data: Any, at: str, allowed: list[Any] | None = None) -> Any:
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise _fault(at, f'expected an object with a "type", got {_shown(data)}')
    tag = data["type"]
    kind = class_of(tag, data)
    if allowed is not None and kind not in allowed:
        fitting = [one for one in allowed if tag_of(one) == tag]
        kind = fitting[0] if fitting else None
    if kind is None:
        names = sorted(filter(None, map(tag_of, allowed))) if allowed else known_tags()
        raise _fault(at, f'unknown "type" {tag!r}; known here: {", ".join(names)}')
    return _decoder(kind)(data, at)


def _object(kind: Any) -> Decode:
    hints = get_type_hints(kind)
    fields = {f.name: f for f in attrs.fields(kind) if f.metadata.get("json") != NEVER}
    decoders: dict[str, Decode] = {name: _decoder(hints[name]) for name in fields}
    required = [name for name, field in fields.items() if field.default is attrs.NOTHING]
    tag = tag_of(kind)

    def decode(data: Any, at: str) -> Any:
        if not isinstance(data, Mapping):
            raise _fault(at, f"expected an object ({kind.__name__}), got {_shown(data)}")
        values: dict[str, Any] = {}
        for key, item in data.items():
            if key in decoders:
                values[key] = decoders[key](item, f"{at}.{key}" if at else key)
            elif key != "type":
                raise _fault(at, f"unknown key {key!r} in {kind.__name__}; known: {', '.join(fields)}")
            elif item != tag:
                raise _fault(at, f'"type" is {item!r}, expected {tag!r}')
        missing = [name for name in required if name not in values]
        if missing:
            raise _fault(at, f"{kind.__name__} lacks {', '.join(missing)}")
        return kind(**values)

    return decode
