"""
Compare the tables and diagrams of docs/turn-machine.md with those that the tests hold the turn machine to.

Without an option it prints the difference and fails when there is one; with --write it mends the page.
"""

import difflib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "turn-machine.md"
SAME, INSIDE = "·", "+"

Table: TypeAlias = Mapping[str, Mapping[str, str]]
"""Fact, then column, then what becomes of it."""

# These two say of a turn that it has ended. The driver adds them to the step that ends it, so in a diagram
# they would only double the edge that is there already.
NO_EDGES = ("turn ended", "turn waits")


def markdown(table: Table) -> str:
    """*table* as a table of Markdown."""
    columns = list(next(iter(table.values())))
    rows = [["fact", *columns], ["---"] * (1 + len(columns))]
    rows += [[fact, *cells.values()] for fact, cells in table.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def edges(table: Table) -> dict[tuple[str, str], list[str]]:
    """Which facts lead from one state to another; what is special about a column is left out."""
    found: dict[tuple[str, str], list[str]] = {}
    for fact, cells in table.items():
        for column, after in cells.items():
            before = column.partition("/")[0]
            if after in (SAME, INSIDE, before) or fact in NO_EDGES:
                continue
            facts = found.setdefault((before, after), [])
            if fact not in facts:
                facts.append(fact)
    return found


def diagram(table: Table, first: str, how: str, last: str | None = None) -> str:
    """
    A state diagram of Mermaid that begins in *first*.

    *how* is what makes the thing; *last*, if there is one, is no state but its end.
    """
    lines = ["stateDiagram-v2", f"    [*] --> {first}: {how}"]
    for (before, after), facts in edges(table).items():
        lines.append(f"    {before} --> {'[*]' if after == last else after}: {', '.join(facts)}")
    return "```mermaid\n" + "\n".join(lines) + "\n```\n"


def parts() -> dict[str, str]:
    """What the page has between its marks, by the name of the part."""
    if str(ROOT) not in sys.path:  # run as a program, its own folder is there instead
        sys.path.insert(0, str(ROOT))
    from tests.domain.engine.machine import CALL_TABLE, PHASE_TABLE, rows

    phases, calls = rows(PHASE_TABLE), rows(CALL_TABLE)
    return {
        "turn": diagram(phases, "idle", "session opened") + "\n" + markdown(phases),
        "call": diagram(calls, "judging", "call offered", last="history") + "\n" + markdown(calls),
    }


def mended(page: str) -> str:
    """*page* with each part made anew."""
    for name, text in parts().items():
        begin, end = (f"<!-- {name}: {word} -->\n" for word in ("made by tools/diagrams.py", "end"))
        if page.count(begin) != 1 or page.count(end) != 1:
            raise SystemExit(f"the page must have these two lines once:\n{begin}{end}")
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    return page


def difference(page: str) -> Iterator[str]:
    now, due = page.splitlines(keepends=True), mended(page).splitlines(keepends=True)
    return difflib.unified_diff(now, due, "the page", "the tables")


def main(arguments: list[str], path: Path = PAGE) -> int:
    page = path.read_text(encoding="utf-8")
    if arguments == ["--write"]:
        path.write_text(mended(page), encoding="utf-8")
        return 0
    if arguments:
        raise SystemExit(__doc__)
    lines = list(difference(page))
    print("".join(lines), end="")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
