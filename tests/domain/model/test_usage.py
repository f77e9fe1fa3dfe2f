"""Sums of what model calls cost (contract M9)."""

from functools import reduce
from operator import add

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.model.usage import NOTHING, Provenance, Usage

COUNTS = [field.name for field in attrs.fields(Usage) if field.name != "provenance"]
counts = st.none() | st.integers(0, 9)
provenances: st.SearchStrategy[Provenance] = st.sampled_from(["reported", "partial", "estimated", "unknown"])
usages = st.builds(Usage, counts, counts, counts, counts, counts, provenances)


@given(usages, usages)
def test_M9_a_count_that_nobody_reported_stays_none_in_a_sum(one: Usage, other: Usage) -> None:
    total = one + other
    for name in COUNTS:
        known = [count for count in (getattr(one, name), getattr(other, name)) if count is not None]
        assert getattr(total, name) == (sum(known) if known else None)


@given(st.lists(usages, max_size=5))
def test_M9_the_order_of_a_sum_makes_no_difference_to_the_counts(parts: list[Usage]) -> None:
    forth, back = reduce(add, parts, NOTHING), reduce(add, reversed(parts), NOTHING)
    assert [getattr(forth, name) for name in COUNTS] == [getattr(back, name) for name in COUNTS]


@given(usages)
def test_M9_no_model_call_adds_nothing(one: Usage) -> None:
    assert one + NOTHING == NOTHING + one == one


@pytest.mark.parametrize(
    ("one", "other", "total"),
    [
        ("reported", "reported", "reported"),
        ("reported", "estimated", "estimated"),
        ("reported", "partial", "partial"),
        ("estimated", "partial", "partial"),
        ("reported", "unknown", "partial"),
        ("unknown", "unknown", "unknown"),
    ],
)
def test_M9_a_sum_is_as_certain_as_its_least_certain_part(
    one: Provenance, other: Provenance, total: str
) -> None:
    first, second = Usage(1, provenance=one), Usage(1, provenance=other)
    assert (first + second).provenance == (second + first).provenance == total


@given(usages, usages)
def test_M9_cumulative_reports_fold_to_the_most_of_each_count(one: Usage, other: Usage) -> None:
    folded = one.at_least(other)
    for name in COUNTS:
        known = [count for count in (getattr(one, name), getattr(other, name)) if count is not None]
        assert getattr(folded, name) == max(known, default=None)
