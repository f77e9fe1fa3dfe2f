"""A changed copy is what attrs would make."""

from typing import Any

import attrs
import pytest
from attrs import field, frozen

from norma.domain.engine.state import Call, Phase, Place, State
from norma.domain.model.blocks import ToolCall
from norma.domain.model.changes import evolve


@pytest.mark.parametrize(
    ("value", "changes"),
    [
        (State(), {}),
        (State(turns=3), {"phase": Phase.WORKING, "said": "x"}),
        (Call("1.0", ToolCall("a", "f")), {"place": Place.DONE, "asked": 2}),
    ],
)
def test_a_changed_copy_is_what_attrs_makes(value: Any, changes: dict[str, Any]) -> None:
    before = attrs.asdict(value, recurse=False)
    copy = evolve(value, **changes)
    assert copy == attrs.evolve(value, **changes)
    assert type(copy) is type(value)
    assert attrs.asdict(value, recurse=False) == before


def test_a_field_that_is_not_there_is_refused() -> None:
    with pytest.raises(TypeError, match="State has no field 'phases'"):
        evolve(State(), phases=Phase.WORKING)  # type: ignore[call-arg]


@frozen
class Positive:
    number: int = field()
    name: str = ""

    @number.validator
    def _check(self, _: object, number: int) -> None:
        if number < 1:
            raise ValueError("not positive")


def test_what_a_class_refuses_is_refused_in_a_copy_too() -> None:
    with pytest.raises(ValueError, match="not positive"):
        evolve(Positive(1), number=0)


@frozen
class Named:
    one: int
    two: int = field(kw_only=True)


@frozen
class Private:
    _one: int
    two: int


@pytest.mark.parametrize("value", [Named(1, two=2), Private(1, 2)])
def test_a_class_that_is_made_otherwise_is_named(value: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__}.*attrs.evolve"):
        evolve(value, two=3)
