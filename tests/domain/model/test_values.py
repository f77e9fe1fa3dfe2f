"""A class of values is to its users what `attrs.frozen` would have made of it."""

import copy
import inspect
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier
from typing import Any, ClassVar

import attrs
import pytest
from attrs import field

import norma.adapters
import norma.app
import norma.domain
import norma.ports
from norma.domain.model.values import define, frozen


def stars(value: object) -> str:
    return "***"


def made_by(make: Callable[[type], type]) -> type:
    """One class, made by *make*."""

    class Sample:
        """Says something."""

        plain: Any
        hidden: int = field(default=1, repr=False)
        secret: str = field(default="s", repr=stars)
        beside: Any = field(default=None, eq=False)
        bare: Any = field(factory=list, hash=False)

        def __attrs_post_init__(self) -> None:
            if self.plain == "wrong":
                raise ValueError("wrong")

    return make(Sample)


OURS, THEIRS = made_by(frozen), made_by(attrs.frozen)

VALUES: list[dict[str, Any]] = [
    {"plain": 1},
    {"plain": 1, "hidden": 2},
    {"plain": 1, "secret": "t"},
    {"plain": 1, "beside": 5},
    {"plain": 1, "bare": [1]},
    {"plain": float("nan")},
    {"plain": True},
    {"plain": "text", "bare": {"a": (1, 2)}},
]


@pytest.mark.parametrize("values", VALUES, ids=str)
def test_a_value_is_shown_as_attrs_shows_it(values: dict[str, Any]) -> None:
    assert repr(OURS(**values)) == repr(THEIRS(**values))


@pytest.mark.parametrize("left", VALUES, ids=str)
@pytest.mark.parametrize("right", VALUES, ids=str)
def test_values_are_equal_and_share_a_hash_when_those_of_attrs_are(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    assert (OURS(**left) == OURS(**right)) is (THEIRS(**left) == THEIRS(**right))
    assert (OURS(**left) != OURS(**right)) is (THEIRS(**left) != THEIRS(**right))
    ours, theirs = hash(OURS(**left)) == hash(OURS(**right)), hash(THEIRS(**left)) == hash(THEIRS(**right))
    assert ours is theirs


def test_what_is_not_a_number_is_not_equal_to_itself() -> None:
    value, other = (kind(float("nan")) for kind in (OURS, THEIRS))
    assert (value == value) is (other == other) is False


def test_a_value_of_another_class_is_never_equal() -> None:
    class Also(OURS):  # type: ignore[misc,valid-type]  # the class is made at run time
        pass

    assert OURS(1) != THEIRS(1)
    assert OURS(1) != Also(1)
    assert Also(1) == Also(1)
    assert hash(Also(1)) == hash(Also(1))
    assert OURS(1) != 1


def test_a_field_that_has_no_hash_is_refused() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(OURS([1]))


def test_a_value_that_holds_itself_can_be_shown() -> None:
    holds: list[Any] = []
    value = OURS(holds)
    holds.append(value)
    other = THEIRS(theirs := [])
    theirs.append(other)
    assert repr(value) == repr(other)


def test_a_value_can_be_neither_changed_nor_made_malformed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        OURS(1).plain = 2
    with pytest.raises(ValueError, match="wrong"):
        OURS("wrong")


def test_the_class_is_an_attrs_class_like_any_other() -> None:
    assert attrs.fields_dict(OURS) == attrs.fields_dict(THEIRS)
    assert inspect.signature(OURS) == inspect.signature(THEIRS)
    assert OURS.__match_args__ == THEIRS.__match_args__  # type: ignore[attr-defined]
    assert OURS.__slots__ == THEIRS.__slots__  # type: ignore[attr-defined]
    assert OURS.__doc__ == THEIRS.__doc__
    assert attrs.evolve(OURS(1), plain=2) == copy.copy(OURS(2))


@frozen
class Kept:
    """In a module, as pickle wants it."""

    text: str


def test_a_value_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept("x"))) == Kept("x")


def test_what_a_class_defines_itself_stays() -> None:
    @frozen
    class Own:
        text: str

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 7

    assert (repr(Own("a")), Own("a") == Own("b"), hash(Own("a"))) == ("own", True, 7)


def test_a_class_with_an_equality_of_its_own_and_no_hash_has_none() -> None:
    @frozen
    class Own:  # noqa: PLW1641 - that is the question
        text: str

        def __eq__(self, other: object) -> bool:
            return True

    with pytest.raises(TypeError, match="unhashable"):
        hash(Own("a"))


def test_a_field_can_be_compared_by_a_function() -> None:
    @frozen
    class Folded:
        text: str = field(eq=str.lower)

    assert Folded("a") == Folded("A")
    assert hash(Folded("a")) == hash(Folded("A"))


def test_attrs_is_asked_at_the_first_use_and_not_before() -> None:
    @frozen
    class Wrong:
        first: int = 1
        second: int  # type: ignore[misc]  # that is what is wrong

    for _ in range(2):
        with pytest.raises(ValueError, match="No mandatory attributes allowed"):
            Wrong(1, 2)


@pytest.mark.parametrize(
    "use",
    [attrs.fields, attrs.has, inspect.signature, lambda kind: kind.__match_args__, lambda kind: kind(1)],
)
def test_whatever_is_looked_at_first_is_what_attrs_makes(use: Callable[[type], object]) -> None:
    assert repr(use(made_by(frozen))) == repr(use(made_by(attrs.frozen)))


def test_a_class_that_is_not_frozen_is_what_attrs_define_makes() -> None:
    ours, theirs = made_by(define), made_by(attrs.define)
    value, other = ours(1), theirs(1)
    value.plain = other.plain = 2
    assert repr(value) == repr(other)
    assert value == ours(2)
    assert vars(ours).keys() == {*vars(theirs), "__written__"}
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_an_exception_is_compared_as_attrs_has_it() -> None:
    class Sample(Exception):
        reason: str

    for kind in (define(Sample), attrs.define(Sample)):
        error = kind("why")
        assert (str(error), repr(error)) == ("why", "Sample(reason='why')")
        assert error != kind("why")
        assert hash(error) == object.__hash__(error)


def test_threads_may_use_a_class_first_at_the_same_time() -> None:
    together = Barrier(4)

    def used(kind: type) -> str:
        together.wait(10)
        return repr(kind(1)) + str(kind(1) == kind(1))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(30):
                kind = made_by(frozen)
                assert set(pool.map(used, [kind] * 4)) == {f"{THEIRS(1)!r}True"}
    finally:
        sys.setswitchinterval(usual)


def test_a_class_has_in_the_end_what_attrs_gives_it() -> None:
    ours = made_by(frozen)
    assert repr(ours(1)), hash(ours(1))
    assert vars(ours).keys() == {*vars(THEIRS), "__written__"}


def test_a_value_made_without_its_init_is_frozen_too() -> None:
    value: Any = object.__new__(made_by(frozen))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.plain = 1


def test_a_class_with_a_state_of_its_own_keeps_it() -> None:
    @frozen
    class Own:
        text: str

        def __getstate__(self) -> dict[str, Any]:
            return {"text": "own"}

    assert Own("a").__getstate__() == {"text": "own"}
    assert not hasattr(Own, "__setstate__")


def test_what_belongs_to_the_class_is_no_field() -> None:
    @frozen
    class Marked:
        MARK: ClassVar = True
        QUOTED: "ClassVar[int]" = 3

        text: str

    assert (Marked("a").MARK, Marked.QUOTED) == (True, 3)
    assert [one.name for one in attrs.fields(Marked)] == ["text"]


def test_a_class_whose_method_would_look_above_the_wrong_class_is_refused() -> None:
    class Above:
        def said(self) -> str:
            return "above"

    with pytest.raises(TypeError, match="Below uses super, use attrs itself"):

        @frozen
        class Below(Above):
            text: str

            def said(self) -> str:
                return super().said()


def test_the_fields_of_every_class_of_ours_are_right() -> None:
    for package in (norma.domain, norma.ports, norma.adapters, norma.app):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if "__main__" not in module.name:
                import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("norma.")]
    classes = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    ours = [one for one in classes if "__written__" in vars(one)]
    assert len(ours) > 150
    for one in ours:
        assert attrs.fields(one) is not None
