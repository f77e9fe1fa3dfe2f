"""
Wrong engines are noticed, by the suites that are there for it.

`pytest -s tests/domain/engine/test_kill_table.py` prints who notices; with `-m slow` for all suites.
"""

import pytest

from tests.domain.engine import wrong_drivers, wrong_machines
from tests.domain.engine.mutants import Mutant
from tests.domain.engine.suites import SUITES, complaint, plain

MUTANTS = [*wrong_machines.MUTANTS, *wrong_drivers.MUTANTS]
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


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kill_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Every suite against every mutant, printed; no single suite catches all."""
    caught: dict[str, set[str]] = {}
    for mutant in MUTANTS:
        with pytest.MonkeyPatch.context() as patch:
            mutant.install(patch)
            caught[mutant.name] = {name for name, suite in SUITES.items() if complaint(suite) is not None}
    with capsys.disabled():
        print("\n\n| mutant | " + " | ".join(SUITES) + " |\n| --- |" + " --- |" * len(SUITES))
        for name, suites in caught.items():
            print(f"| {name} | " + " | ".join("x" if suite in suites else " " for suite in SUITES) + " |")
    assert all(set(mutant.caught_by) <= caught[mutant.name] for mutant in MUTANTS)
    assert all(any(suite not in suites for suites in caught.values()) for suite in SUITES)
