"""What is measured: the works, who does them, and what the figures must and should be."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

Line: TypeAlias = Mapping[str, Any]


@frozen
class Work:
    """One work: the peer's *arguments*, on how many *rounds* (of which *quick*), by the *peers* named."""

    arguments: tuple[str, ...]
    rounds: int
    quick: int
    peers: tuple[str, ...] = ("floor", "norma", "sdk")


WORKS: Mapping[str, Work] = {
    "text": Work(("--work", "text", "--n", "2000", "--repeat", "5"), 5, 3),
    "paced": Work(("--work", "text", "--n", "500", "--mode", "paced"), 4, 2, ("floor", "norma")),
    "tool200": Work(("--work", "tool", "--n", "4000", "--size", "204800", "--repeat", "3"), 4, 2),
    "tool800": Work(
        ("--work", "tool", "--n", "16000", "--size", "819200", "--repeat", "3"), 4, 2, ("floor", "norma")
    ),
    "agent50": Work(
        ("--work", "agent", "--n", "50", "--repeat", "3"), 5, 3, ("floor", "norma", "norma:sqlite", "sdk")
    ),
    "agent200": Work(("--work", "agent", "--n", "200", "--repeat", "3"), 3, 2, ("floor", "norma")),
    "many": Work(("--work", "many", "--n", "5"), 4, 2, ("floor", "norma")),
    "first": Work(("--work", "first", "--n", "20"), 6, 3, ("floor", "norma", "norma:app", "sdk")),
}

IMPORTS: Mapping[str, str] = {
    "floor": "import aiohttp, orjson",
    "norma": "from norma.app import Settings, open_norma",
    "openai": "import openai",
    "anthropic": "import anthropic",
}


class Results:
    """All lines of one run, and the least of what was measured more than once: noise only ever adds."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.lines = list(lines)

    def least(self, case: str, peer: str, wire: str, name: str = "cpu_seconds") -> float | None:
        """The least *name*, None if it was not measured."""
        found = [
            float(line[name])
            for line in self.lines
            if (line["case"], line["peer"], line["wire"]) == (case, peer, wire) and name in line
        ]
        return min(found, default=None)

    def ratio(
        self, case: str, wire: str, *, peer: str = "norma", to: str = "floor", name: str = "cpu_seconds"
    ) -> float | None:
        """How many times *to*'s figure *peer*'s is."""
        return quotient(self.least(case, peer, wire, name), self.least(case, to, wire, name))


def quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


Measure: TypeAlias = Callable[[Results, str], float | None]


@frozen
class Goal:
    """A figure of Norma's with its bounds; *sdk* is the vendor's SDK's figure, where that makes sense."""

    name: str
    must: float
    aim: float
    of: Measure
    unit: str = "x"
    sdk: Measure | None = None
    wires: tuple[str, ...] = field(default=("chat", "messages", "responses"))


def _to_floor(case: str, peer: str = "norma", name: str = "cpu_seconds") -> Measure:
    return lambda results, wire: results.ratio(case, wire, peer=peer, name=name)


def _argument_growth(results: Results, wire: str) -> float | None:
    return quotient(results.least("tool800", "norma", wire), results.least("tool200", "norma", wire))


def _turn_growth(results: Results, wire: str) -> float | None:
    """A turn of the long conversation against one of the short."""
    grown = quotient(results.least("agent200", "norma", wire), results.least("agent50", "norma", wire))
    return None if grown is None else grown / 4


def _journal_ms(results: Results, wire: str) -> float | None:
    on_disk = results.least("agent50", "norma:sqlite", wire)
    in_memory = results.least("agent50", "norma", wire)
    return None if on_disk is None or in_memory is None else (on_disk - in_memory) * 1000 / 50


def _many_mb(results: Results, wire: str) -> float | None:
    found = [
        line["max_rss_mb"] - line["idle_rss_mb"]
        for line in results.lines
        if (line["case"], line["peer"], line["wire"]) == ("many", "norma", wire) and "idle_rss_mb" in line
    ]
    return min(found, default=None)


ANY = ("",)
FIRST = ("chat",)

GOALS = (
    Goal("text, CPU a piece", 2.0, 1.4, _to_floor("text"), sdk=_to_floor("text", "sdk")),
    Goal("text, a piece a millisecond, CPU", 1.3, 1.1, _to_floor("paced")),
    Goal("arguments of 200 KB, CPU", 2.0, 1.4, _to_floor("tool200"), sdk=_to_floor("tool200", "sdk")),
    Goal("arguments, 800 KB against 200 KB", 5.0, 4.4, _argument_growth),
    Goal("conversation of 50 turns, CPU", 3.0, 2.0, _to_floor("agent50"), sdk=_to_floor("agent50", "sdk")),
    Goal("a turn, of 200 turns against of 50", 1.3, 1.0, _turn_growth),
    Goal("journal on disk, a turn", 0.3, 0.1, _journal_ms, unit=" ms"),
    Goal("100 conversations at once, CPU", 3.0, 2.0, _to_floor("many")),
    Goal("100 conversations at once, memory", 20.0, 10.0, _many_mb, unit=" MB"),
    Goal(
        "start to first piece, engine, wall",
        1.4,
        1.15,
        _to_floor("first", name="seconds"),
        sdk=_to_floor("first", "sdk", "seconds"),
        wires=FIRST,
    ),
    Goal(
        "start to first piece, engine, CPU",
        1.4,
        1.15,
        _to_floor("first"),
        sdk=_to_floor("first", "sdk"),
        wires=FIRST,
    ),
    Goal(
        "start to first piece, open_norma, wall",
        1.4,
        1.15,
        _to_floor("first", "norma:app", "seconds"),
        wires=FIRST,
    ),
    Goal("start to first piece, open_norma, CPU", 1.4, 1.15, _to_floor("first", "norma:app"), wires=FIRST),
    Goal(
        "memory when ready to send",
        1.4,
        1.2,
        _to_floor("first", name="max_rss_mb"),
        sdk=_to_floor("first", "sdk", "max_rss_mb"),
        wires=FIRST,
    ),
    Goal(
        "import of norma.app",
        0.5,
        0.4,
        _to_floor("imports"),
        sdk=lambda results, wire: results.ratio("imports", wire, peer="openai"),
        wires=ANY,
    ),
)
