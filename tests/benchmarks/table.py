"""The table at the end of a run."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from tests.benchmarks.works import GOALS, Line, Results


@frozen
class Row:
    """One figure and what it must and should be at most."""

    name: str
    value: float
    must: float
    aim: float
    unit: str = "x"
    sdk: float | None = None

    @property
    def verdict(self) -> str:
        if self.value <= self.aim:
            return "aim"
        return "must" if self.value <= self.must else "MISSED"


def rows(results: Results, parts: Sequence[Line] = ()) -> Iterator[Row]:
    """The figures that *results* allow, and those that the further *parts* told."""
    for goal in GOALS:
        for wire in goal.wires:
            value = goal.of(results, wire)
            if value is not None:
                name = f"{goal.name} ({wire})" if wire else goal.name
                sdk = None if goal.sdk is None else goal.sdk(results, wire)
                yield Row(name, value, goal.must, goal.aim, goal.unit, sdk)
    for line in parts:
        yield Row(line["name"], line["value"], line["must"], line["aim"], line.get("unit", "x"))


def shown(found: Sequence[Row]) -> str:
    """The table as text."""
    width = max((len(row.name) for row in found), default=0)
    head = f"{'':{width}}  {'Norma':>9}  {'must':>9}  {'aim':>9}  {'SDK':>9}"
    return "\n".join([head, *(_line(row, width) for row in found)])


def _line(row: Row, width: int) -> str:
    cells = [f"{value:.2f}{row.unit}" for value in (row.value, row.must, row.aim)]
    sdk = "" if row.sdk is None else f"{row.sdk:.1f}{row.unit}"
    return f"{row.name:{width}}  " + "  ".join(f"{cell:>9}" for cell in [*cells, sdk]) + f"  {row.verdict}"
