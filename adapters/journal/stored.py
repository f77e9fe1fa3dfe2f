"""
The stored form of an entry: the JSON of its facts. Pure.

Always the standard library's `json`: tool input may hold integers beyond 64 bits, half surrogate
pairs and NaN, and a faster library changes or refuses those.
"""

import json
from collections.abc import Sequence
from typing import Any

from norma.domain.model import MalformedJson, from_json, to_json
from norma.domain.model.facts import Fact

_plain = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
_escaped = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":"))


class Unstorable(ValueError):
    """Facts that have no JSON form, or stored text that is no facts; the message says why."""


def write_entry(facts: Sequence[Fact]) -> str:
    """
    The text of an entry; it can always be encoded as UTF-8.

    Raises Unstorable.
    """
    try:
        data = [to_json(fact) for fact in facts]
        text = _plain.encode(data)
        # Half a surrogate pair can't be encoded; as an escape it can. UTF-8 of ASCII costs nothing.
        return text if text.isascii() or _is_unicode(text) else _escaped.encode(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{type(error).__name__}: {error}") from error


def read_entry(text: str) -> tuple[Fact, ...]:
    """
    The facts that *text* was made of.

    Raises Unstorable.
    """
    try:
        data: Any = json.loads(text)
        if not isinstance(data, list):
            raise Unstorable(f"expected a list of facts, got {type(data).__name__}")
        facts: Any = Fact  # a union is no type to a type checker
        return tuple(from_json(fact, facts) for fact in data)
    except (json.JSONDecodeError, MalformedJson, RecursionError, TypeError, ValueError) as error:
        raise Unstorable(str(error)) from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
