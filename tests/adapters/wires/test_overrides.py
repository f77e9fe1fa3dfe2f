"""M15: every field of a provider's profile can be set otherwise."""

from typing import Any

import pytest
from attrs import fields

from norma.adapters.wires.overrides import overridden
from norma.adapters.wires.profiles import COMPATIBLE, Profile, profile_for

CHANGES: dict[str, Any] = {
    "vendor": "mine",
    "auth": "api-key",
    "system_role": "developer",
    "token_limit_key": "max_completion_tokens",
    "stream_usage": False,
    "reasons": True,
    "thinking_form": "reasoning",
    "messages_thinking": "adaptive",
    "messages_effort": False,
    "reasoning_field": "reasoning",
    "reasoning_replay": "always",
    "reasoning_placeholder": "-",
    "forbidden": ["stop"],
    "most_stops": 2,
    "id_pattern": "[a-z]+",
    "id_prefix": "x",
    "id_length": 7,
    "inline_refs": True,
    "images": False,
    "audio": True,
    "documents": True,
    "extra_headers": {"X": "y"},
    "extra_body": {"a": 1},
}


def test_M15_every_field_can_be_set_otherwise() -> None:
    assert CHANGES.keys() == {field.name for field in fields(Profile)} - {"name", "hosts", "models"}
    changed = overridden(COMPATIBLE, "m", CHANGES)
    for name, value in CHANGES.items():
        wanted = frozenset(value) if isinstance(value, list) else value
        assert getattr(changed, name) == wanted != getattr(COMPATIBLE, name)


def test_M15_what_is_set_otherwise_beats_the_rules_for_a_model() -> None:
    changed = overridden(profile_for("openai"), "gpt-5.4", {"forbidden": []})
    assert changed.reasons
    assert changed.for_model("gpt-5.4").forbidden == frozenset()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("colour", "red", "no such field"),
        ("hosts", ["h"], "no such field"),
        ("auth", "basic", "bearer, api-key"),
        ("reasons", "yes", "bool"),
        ("id_length", True, "int"),
        ("most_stops", "4", "int"),
        ("forbidden", "stop", "list"),
        ("extra_body", [1], "table"),
    ],
)
def test_M15_a_wrong_value_is_named_with_what_would_be_right(name: str, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.*{says}"):
        overridden(COMPATIBLE, "m", {name: value})
