"""E1, E3, E7: promises that hold in every life of a session, whatever happens in whatever order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from norma.domain.engine.state import Place
from norma.domain.model.facts import TurnEnded
from tests.domain.engine.chance import Chance


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_E1_every_call_has_one_result_at_every_moment(seed: int) -> None:
    life = Chance(seed)
    life.live(60)
    life.finish()


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32), at=st.lists(st.integers(1, 12), min_size=1, max_size=5))
def test_E7_nothing_unsafe_runs_twice_over_crashes(seed: int, at: list[int]) -> None:
    life = Chance(seed)
    for steps in at:
        life.live(steps)
        life.crash()
    life.live(20)
    life.finish()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_E1_E7_over_many_lives() -> None:
    for seed in range(4_000):
        life = Chance(seed)
        life.live(20)
        if seed % 2:
            life.crash()
        life.live(15)
        life.finish()


def test_E1_chance_reaches_every_kind_of_end() -> None:
    """The generator is no good if it is shallow: all outcomes and all places must occur."""
    outcomes, places = set(), set()
    for seed in range(400):
        life = Chance(seed)
        for _ in range(40):
            life.live(1)
            places |= {call.place for call in life.state.calls}
        outcomes |= {fact.outcome for fact in life.journal if isinstance(fact, TurnEnded)}
    assert outcomes >= {"completed", "interrupted", "model_failed", "max_turns", "timeout", "waiting"}
    # Judging and starting last for part of a step only; a verdict "allow" goes through both.
    assert places == set(Place) - {Place.JUDGING, Place.STARTING}
