"""
Every wrong engine against every suite, as a table of Markdown; an x where the suite notices.

    python -m tests.domain.engine.kill_table

It takes some minutes. `test_kill_table` tries what must hold: each mutant against the suites that it names.
"""

import pytest

from tests.domain.engine import wrong_drivers, wrong_machines
from tests.domain.engine.mutants import Mutant
from tests.domain.engine.suites import SUITES, complaint

MUTANTS = [*wrong_machines.MUTANTS, *wrong_drivers.MUTANTS]


def row(mutant: Mutant) -> str:
    with pytest.MonkeyPatch.context() as patch:
        mutant.install(patch)
        cells = ["x" if complaint(suite) is not None else " " for suite in SUITES.values()]
    return f"| {mutant.name} | {' | '.join(cells)} |"


def main() -> None:
    print(f"| mutant | {' | '.join(SUITES)} |\n| --- |{' --- |' * len(SUITES)}")
    for mutant in MUTANTS:
        print(row(mutant), flush=True)


if __name__ == "__main__":
    main()
