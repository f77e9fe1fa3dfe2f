"""
Measure Norma beside the floor and the official SDKs, interleaved in one run, and print how they compare.

    python -m tests.benchmarks.run [--quick] [--works text,agent50] [--wires chat] [--out FILE]
    python -m tests.benchmarks.run --yardstick DIR [the yardstick's own arguments]

Ratios inside one run count; seconds of two runs do not compare. CPU time is judged and not wall time, since
machines are shared; of several rounds the least counts. Ends with status 1 if a figure misses its bound.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks import environment, table, yardstick
from tests.benchmarks.norma_peer import MODELS
from tests.benchmarks.processes import Bench, model_server
from tests.benchmarks.works import IMPORTS, WORKS, Line, Results

PARTS = ("web_pages", "grep_files")
"""Further benchmarks, each a module of this folder where it is there (see docs/benchmarks.md)."""


def main(words: Sequence[str]) -> int:
    """The command."""
    if len(words) > 1 and words[0] == "--yardstick":  # the other words are the yardstick's
        return yardstick.run(Path(words[1]), words[2:])
    arguments = _parser().parse_args(words)
    python, others, variables = environment.norma(), environment.others(), environment.variables()
    with model_server(python, variables) as base:
        bench = Bench(python, others, variables, base)
        lines = list(_kept(_measured(bench, arguments), arguments.out))
        parts = [line for name in _parts(arguments) for line in bench.part(name)]
    found = list(table.rows(Results(lines), parts))
    print(table.shown(found))
    failed = [line for line in lines if "error" in line]
    for line in failed:
        print(f"failed: {line['case']} by {line['peer']} on {line['wire']}: {line['error']}")
    return 1 if failed or any(row.verdict == "MISSED" for row in found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--quick", action="store_true", help="one wire, fewer works and rounds, under three minutes"
    )
    parser.add_argument("--works", help=f"all by default; with --quick, without {', '.join(PARTS)}")
    parser.add_argument("--wires", help="all by default; with --quick, chat")
    parser.add_argument("--rounds", type=int, help="instead of each work's own")
    parser.add_argument("--out", type=Path, help="a file that gets each measurement as a line of JSON")
    parser.add_argument(
        "--yardstick", metavar="DIR", help="first of all words: run another folder's benchmarks, with Norma"
    )
    return parser


def _works(arguments: argparse.Namespace) -> list[str]:
    """The works that are wanted."""
    if arguments.works:
        wanted: list[str] = arguments.works.split(",")
        return wanted
    return [*WORKS, "imports", *(() if arguments.quick else PARTS)]


def _wires() -> list[str]:
    """The wires that this Norma speaks."""
    return [wire for wire, (module, _) in MODELS.items() if _there(module)]


def _there(module: str) -> bool:
    """Whether a wire's adapter is part of this Norma."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _parts(arguments: argparse.Namespace) -> list[str]:
    wanted = _works(arguments)
    return [name for name in PARTS if name in wanted and find_spec(f"tests.benchmarks.{name}") is not None]


def _measured(bench: Bench, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every run of every work, round by round, so that a slow while of the machine hits all alike."""
    wanted = _works(arguments)
    wires = arguments.wires.split(",") if arguments.wires else _wires()[: 1 if arguments.quick else None]
    for case, work in WORKS.items():
        if case not in wanted:
            continue
        runs = [(peer, wire) for wire in (wires[:1] if case == "first" else wires) for peer in work.peers]
        for index in range(arguments.rounds or (work.quick if arguments.quick else work.rounds)):
            at = index * 3 % len(runs)
            for peer, wire in runs[at:] + runs[:at]:
                yield {**bench.peer(peer, wire, work.arguments), "case": case, "round": index}
    if "imports" in wanted:
        for index in range(arguments.rounds or (3 if arguments.quick else 6)):
            for peer, code in IMPORTS.items():
                yield {**bench.importing(peer, code), "case": "imports", "round": index}


def _kept(lines: Iterator[dict[str, Any]], out: Path | None) -> Iterator[Line]:
    """Show each line as it comes, and write it down."""
    for line in lines:
        took = f"cpu {line.get('cpu_seconds', 0):8.4f} s  wall {line.get('seconds', 0):8.4f} s"
        said = f"{line['case']:9} {line['round']} {line['peer']:13} {line['wire']:10} {took}"
        print(f"{said} {line.get('error', '')}", flush=True)
        if out is not None:
            with out.open("a") as file:
                file.write(json.dumps(line) + "\n")
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
