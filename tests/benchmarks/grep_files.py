"""
The file search against bare ripgrep, over 20,000 files, both with the same ignore settings.

    python -m tests.benchmarks.grep_files [--tree DIR] [--rounds 10] [--ripgrep PROGRAM]

Without DIR a tree of copies of Python's own files is made for the run and removed again. Prints a line of
JSON for each figure. The peers take turns, each round in the other order.

What Norma adds to ripgrep is told twice: as the time that a search is waited for, by the median of what one
took longer than the other right beside it, and as processor time, children included, by the least of either.
Both are less than another program's noise there, so ask a quiet machine. Bare ripgrep prints all that it
finds, in no order; Norma's rows are sorted, and where there are more than it counts (1,000 behind the page)
it stops ripgrep and asks once more, in order, up to the end of the page: that is the last figure.
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import attrs

from norma.adapters.grep.search import GrepSearch
from norma.ports.file_search import SearchQuery, SearchResult

FILES = 20_000
ENDINGS = (".py", ".pyi", ".txt", ".json", ".md", ".toml", ".c", ".h", ".html", ".so")
WORKS: tuple[tuple[str, str, bool], ...] = (
    ("rare word", "TCPConnector", False),
    ("regex", r"def \w+_stream\(", False),
    ("ignoring case", "content.length", True),
    ("no match", "zzqqy_never_there", False),
)
COMMON = "import"
SLOWEST_PYTHON = 3.5
MOST_OVER_MS = 5.0
PAIRS = 3
"""Searches beside bare ripgrep in each round: so many make a median of small differences."""
FEW_TIMES = 6


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--ripgrep", default=shutil.which("rg", path=os.path.dirname(sys.executable)) or "rg")
    arguments = parser.parse_args()
    # A benchmark run keeps its peers to one processor each; a search has all of them.
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with tree(arguments.tree) as root:
        for line in measured(root, arguments.ripgrep, arguments.rounds):
            print(json.dumps(line), flush=True)


@contextmanager
def tree(given: Path | None) -> Iterator[str]:
    """The tree to search."""
    if given is not None:
        yield str(given)
        return
    with tempfile.TemporaryDirectory(prefix="norma-grep-") as folder:
        grow(Path(folder))
        yield folder


def grow(root: Path) -> None:
    """Copy the text files of the standard library and of what is installed until there are enough."""
    sources = [Path(os.__file__).parent, Path(attrs.__file__).parent.parent]
    count, copy = 0, 0
    while count < FILES:
        for number, source in enumerate(sources):
            for folder, folders, names in os.walk(source):
                folders[:] = sorted(name for name in folders if name != "__pycache__")
                target = root / f"copy{copy}" / str(number) / Path(folder).relative_to(source)
                for name in sorted(names):
                    if name.endswith(ENDINGS) and count < FILES:
                        target.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(Path(folder) / name, target / name)
                        count += 1
        copy += 1


def measured(root: str, program: str, rounds: int) -> Iterator[dict[str, Any]]:
    """A line for each figure."""
    for ignoring in (True, False):
        for name, pattern, any_case in WORKS:
            work = f"grep {name}, {'ignore files on' if ignoring else 'no ignore'}"
            query = SearchQuery(pattern, root, "content", ignore_case=any_case, no_ignore=not ignoring)
            yield from over_bare(work, program, query, PAIRS * rounds)
            took = in_python(program, query, rounds)
            slower = least(took["python"]).wall / least(took["rg"]).wall
            yield line(f"{work}: Python against rg", slower, SLOWEST_PYTHON, 3.0, "x")
    few = SearchQuery("JSONDecoder", few_files(root), "content")
    yield from over_bare("grep in few files", program, few, FEW_TIMES * rounds)
    common = SearchQuery(COMMON, root, "content")
    took = against_bare(program, common, rounds)
    part = least(took["norma"]).wall / least(took["rg"]).wall
    yield line("grep of a common word, stopped at 250 rows", part, 1.0, 0.5, "x")


def over_bare(work: str, program: str, query: SearchQuery, rounds: int) -> Iterator[dict[str, Any]]:
    """What Norma's search takes more than bare ripgrep."""
    took = against_bare(program, query, rounds)
    wall = median(norma.wall - rg.wall for norma, rg in zip(took["norma"], took["rg"], strict=True))
    yield line(f"{work}: over bare rg", 1000 * wall, MOST_OVER_MS, 2.0, "ms")
    cpu = least(took["norma"]).cpu - least(took["rg"]).cpu
    yield line(f"{work}: CPU over bare rg", 1000 * cpu, MOST_OVER_MS, 2.0, "ms")


def few_files(root: str) -> str:
    """A folder in which a search takes so little time that what is beside it shows, whatever else runs."""
    return next(folder for folder, deeper, names in os.walk(root) if not deeper and 5 <= len(names) <= 30)


def line(name: str, value: float, must: float, aim: float, unit: str) -> dict[str, Any]:
    return {"name": name, "value": round(value, 2), "must": must, "aim": aim, "unit": unit}


class Took(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


def against_bare(program: str, query: SearchQuery, rounds: int) -> dict[str, list[Took]]:
    """Bare ripgrep and Norma's search with it."""
    return taking_turns({"rg": lambda: bare(program, query), "norma": lambda: search(program, query)}, rounds)


def in_python(program: str, query: SearchQuery, rounds: int) -> dict[str, list[Took]]:
    """Bare ripgrep and Norma's search in Python."""
    return taking_turns({"rg": lambda: bare(program, query), "python": lambda: search(None, query)}, rounds)


def taking_turns(peers: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[Took]]:
    """What each of *peers* took in each round; their order is turned round from one to the next."""
    took: dict[str, list[Took]] = {name: [] for name in peers}
    order = list(peers)
    for number in range(rounds + 1):
        for name in order:
            began, before = time.perf_counter(), cpu_time()
            peers[name]()
            wall, cpu = time.perf_counter() - began, cpu_time() - before
            if number > 0:  # the first one warms up
                took[name].append(Took(wall, cpu))
        order.reverse()
    return took


def least(took: list[Took]) -> Took:
    """The least of each."""
    return Took(min(one.wall for one in took), min(one.cpu for one in took))


def cpu_time() -> float:
    """Of this process and of the children that have ended, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def bare(program: str, query: SearchQuery) -> None:
    """ripgrep as a person starts it, its output read to the end."""
    words = [program, "--no-config", "--no-heading", "-n", *["--no-ignore"] * query.no_ignore]
    words += [*["-i"] * query.ignore_case, "-e", query.pattern, query.path]
    subprocess.run(words, stdout=subprocess.PIPE, check=False)


_loop = asyncio.new_event_loop()
_searches: dict[str | None, GrepSearch] = {}


def search(program: str | None, query: SearchQuery) -> SearchResult:
    """Norma's search with *program*, or in Python; ripgrep is looked for in the first round alone."""
    if program not in _searches:
        environ = {"NORMA_DISABLE_RIPGREP": ""} if program else {"NORMA_DISABLE_RIPGREP": "1"}
        _searches[program] = GrepSearch(environ=environ, ripgrep=program and os.path.abspath(program))
    work = _searches[program].search(query, progress=lambda _: None, excluded=lambda _: False)
    result = _loop.run_until_complete(work)
    assert result.backend == ("ripgrep" if program else "python"), result.notes
    return result


if __name__ == "__main__":
    main()
