"""Strategies for any value of the model, made from the types of its fields as the codec is."""

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
from hypothesis import strategies as st

from norma.domain.model.tags import NEVER

text = st.text(max_size=8)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)


@cache
def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values that fit *hint*; a hint that nobody thought of is an error, not a gap."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(text, values_of(arguments[1]), max_size=2)
    if attrs.has(hint):
        return _instances(hint)
    return {
        Any: json_values,
        NoneType: st.none(),
        str: text,
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False),
    }[hint]


def _instances(kind: type[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    fields = [one for one in attrs.fields(kind) if one.metadata.get("json") != NEVER]
    return st.builds(kind, **{one.name: values_of(hints[one.name]) for one in fields})
