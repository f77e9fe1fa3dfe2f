"""
Wrong engines are noticed, by the suites that are there for it.

`pytest -s tests/domain/engine/test_kill_table.py` prints who notices and how. `kill_table` beside this module
tries every suite, in some minutes.
"""

import pytest

from tests.domain.engine.kill_table import MUTANTS
from tests.domain.engine.mutants import Mutant
from tests.domain.engine.suites import SUITES, complaint, plain

IDS = [mutant.name.replace(" ", "-") for mutant in MUTANTS]


@pytest.mark.parametrize("suite", SUITES)
def test_the_right_engine_passes_as_mutants_are_tried(suite: str) -> None:
    """Else a suite that always fails would catch everything."""
    assert complaint(SUITES[suite]) is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=IDS)
def test_a_wrong_engine_is_caught(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutant.caught_by
    mutant.install(monkeypatch)
    for suite in mutant.caught_by:
        said = complaint(SUITES[suite])
        assert said is not None, f"{suite} is content with it: {mutant.wrong}"
        print(f"\n{mutant.name:45} {suite:10} {said}", end="")


@pytest.mark.parametrize("mutant", MUTANTS, ids=IDS)
def test_a_wrong_engine_is_not_just_broken(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them carries a plain turn to its end, so it is caught for what is wrong with it."""
    mutant.install(monkeypatch)
    assert complaint([("plain", plain)]) is None
