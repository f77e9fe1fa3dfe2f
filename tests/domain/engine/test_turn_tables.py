"""E2: the machine is total. Two tables, each cell tried."""

from typing import get_args

import pytest
from attrs import evolve

from norma.domain.engine.commands import CancelTools, Finish
from norma.domain.engine.state import Ending, Phase, Place, State
from norma.domain.engine.turn import step
from norma.domain.model.facts import (
    Answered,
    Deferred,
    Fact,
    Interrupted,
    Judged,
    LimitReached,
    PermitAsked,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from tests.domain.engine.machine import (
    CALL_FACTS,
    CALL_TABLE,
    PHASE_FACTS,
    PHASE_TABLE,
    PHASES,
    SAME,
    call_in,
    replying,
    rows,
)


def settled(state: State, fact: Fact) -> State:
    """The state after *fact*, with the turn's end said as the driver says it."""
    state, commands = step(state, fact)
    for command in commands:
        if isinstance(command, Finish):
            state, _ = step(state, TurnEnded(command.outcome))
    return state


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("fact", PHASE_FACTS)
def test_E2_each_phase_takes_each_fact(phase: str, fact: str) -> None:
    before = PHASES[phase]
    after = settled(before, PHASE_FACTS[fact])
    expected = rows(PHASE_TABLE)[fact][phase]
    if expected == SAME:
        assert after is before
    else:
        assert after is not before
        assert after.phase == (before.phase if expected == "+" else expected)


@pytest.mark.parametrize("place", list(Place))
@pytest.mark.parametrize("fact", CALL_FACTS)
def test_E2_a_call_in_each_place_takes_each_fact(place: Place, fact: str) -> None:
    before = replying(call_in(place))
    after, commands = step(before, CALL_FACTS[fact])
    expected = rows(CALL_TABLE)[fact][place.value]
    call = after.call("1.0")
    if expected == SAME:
        assert after is before
        assert commands == []
    elif expected == "history":
        assert call is None
        assert len(after.history[-1].blocks) == 1
    else:
        assert after is not before
        assert call is not None
        assert call.place == expected


def test_E2_every_phase_has_a_column() -> None:
    assert {state.phase for state in PHASES.values()} == set(Phase)
    assert all(state.phase == column.partition("/")[0] for column, state in PHASES.items())


def test_E2_the_tables_name_every_fact_and_column() -> None:
    assert set(rows(PHASE_TABLE)) == set(PHASE_FACTS)
    assert set(rows(CALL_TABLE)) == set(CALL_FACTS)
    assert all(set(row) == set(PHASES) for row in rows(PHASE_TABLE).values())
    assert all(set(row) == set(Place) for row in rows(CALL_TABLE).values())
    kinds = {type(fact) for fact in (*PHASE_FACTS.values(), *CALL_FACTS.values())}
    assert kinds == set(get_args(Fact))


def test_E2_a_fact_of_another_round_changes_nothing() -> None:
    state = replying(call_in(Place.RUNNING))
    for fact in CALL_FACTS.values():
        if isinstance(fact, Judged | ToolStarted | ToolEnded | PermitAsked):
            assert step(state, evolve(fact, key="0.0"))[0] is state
        elif isinstance(fact, Answered | Deferred):
            assert step(state, evolve(fact, question="s:0.0"))[0] is state


def test_E8_an_ending_that_is_decided_stays() -> None:
    for fact in (Interrupted(), LimitReached("timeout")):
        after, commands = step(PHASES["stopping/failed"], fact)
        assert after.ending == Ending("model_failed")
        assert commands == [CancelTools(("1.0",))]
        assert step(after, fact)[0] is after, "what runs is told to end once"


def test_E2_of_a_waiting_call_only_an_answer_is_kept_and_a_resume_taken() -> None:
    before = PHASES["waiting"]
    taken = {name for name, fact in CALL_FACTS.items() if step(before, fact)[0] is not before}
    assert taken == {"answered once", "answered session", "answered deny", "answered stop", "resumed"}
    for name in taken - {"resumed"}:
        after, commands = step(before, CALL_FACTS[name])
        assert commands == [], "nothing is done before the turn goes on"
        assert step(after, CALL_FACTS["answered deny"])[0] is after, "the first answer holds"
