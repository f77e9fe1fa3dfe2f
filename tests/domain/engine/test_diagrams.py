"""E2: the page about the turn machine has the tables that tests hold it to, and diagrams made of them."""

from pathlib import Path

import pytest

from norma.domain.engine.state import Phase, Place
from tests.domain.engine.machine import CALL_TABLE, PHASE_TABLE, SAME, rows
from tools import diagrams


def test_E2_the_page_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    fresh = diagrams.main([]) == 0
    assert fresh, f"mend it with: python tools/diagrams.py --write\n{capsys.readouterr().out}"


def test_E2_a_page_that_says_otherwise_is_found_and_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    right = diagrams.PAGE.read_text(encoding="utf-8")
    page.write_text(
        right.replace("idle --> replying: prompted", "idle --> working: prompted"), encoding="utf-8"
    )
    assert diagrams.main([], page) == 1
    assert "-    idle --> working: prompted" in capsys.readouterr().out
    assert diagrams.main(["--write"], page) == 0
    assert page.read_text(encoding="utf-8") == right


def test_E2_a_page_without_its_marks_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="turn: made by"):
        diagrams.main(["--write"], page)
    assert page.read_text(encoding="utf-8") == "# Nothing\n"


def test_E2_the_diagrams_show_each_phase_and_each_place() -> None:
    for table, states in ((PHASE_TABLE, set(Phase)), (CALL_TABLE, set(Place))):
        edges = diagrams.edges(rows(table))
        assert {state for edge in edges for state in edge} - {"history"} == states
        assert all(before != after for before, after in edges)


def test_E2_an_edge_stands_in_the_table_and_the_table_in_an_edge() -> None:
    table = {"push": {"open": "shut", "open/wide": SAME}, "pull": {"open": "+", "open/wide": "shut"}}
    assert diagrams.edges(table) == {("open", "shut"): ["push", "pull"]}
    assert diagrams.markdown(table).splitlines()[2] == "| push | shut | · |"
    assert "    open --> [*]: push, pull" in diagrams.diagram(table, "open", "made", last="shut")
