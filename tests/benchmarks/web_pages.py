"""
HTML to Markdown against a bare parse of the same pages, and against other extractors that are installed.

    python -m tests.benchmarks.web_pages [--pages DIR] [--rounds 20] [--peers NAME,NAME]

DIR holds NAME/source.html and NAME/expected.html; without it the pages of tests/fixtures/web/corpus are read.
The peers take turns page by page in one process. Of each page the least CPU time of the rounds counts, and
figures are sums over all pages. Prints a line of words for each peer and a line of JSON for each bound.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import define, frozen

from norma.adapters.web_fetch.charsets import decode
from norma.adapters.web_fetch.html import parse, read
from tests.rigs.pages import Kept, Wanted, wanted

CORPUS = Path(__file__).resolve().parent.parent / "fixtures" / "web" / "corpus"
URL = "https://site.example/en/page.html"
OURS, FLOOR = "norma", "lxml parse"
SLOW_ROUNDS = 5
"""Rounds of a peer that takes ten times as long."""

BIG_ROUNDS = 3
MB = 1 << 20

Convert = Callable[[bytes], str]


@frozen
class Page:
    """A page, and what a reader came for."""

    source: bytes
    wanted: Wanted


@define
class Taken:
    """The least CPU time of one peer for one page, and the text that it made."""

    cpu_seconds: float = float("inf")
    text: str = ""


Results = Mapping[str, Sequence[Taken]]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=Path, default=CORPUS)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--peers", default=",".join(PEERS), help="beside the bare parse")
    arguments = parser.parse_args()
    pages = [
        Page((folder / "source.html").read_bytes(), wanted(folder))
        for folder in sorted(arguments.pages.iterdir())
        if (folder / "expected.html").is_file()
    ]
    peers = {FLOOR: bare_parse(), **_installed(arguments.peers.split(","))}
    results = measured(pages, peers, arguments.rounds)
    for name in peers:
        print(summary(name, pages, results))
    if OURS in peers:
        for line in (*figures(pages, results), *big_figures(peers[OURS])):
            print(json.dumps(line), flush=True)


def bare_parse() -> Convert:
    """The floor: one parse, all text taken, no Markdown."""
    from lxml import html

    parser = html.HTMLParser(huge_tree=True, encoding="utf-8")
    return lambda source: " ".join(map(str, html.document_fromstring(source, parser=parser).itertext()))


def norma() -> Convert:
    """Charset, parse and walk, as a fetch has them; without the cap on what is shown."""

    def convert(source: bytes) -> str:
        document = parse(decode(source, "text/html", markup=True).text, URL)
        return read(document, lambda: None).markdown if document else ""

    return convert


def trafilatura() -> Convert:
    extract = import_module("trafilatura").extract  # nothing that Norma's own environment has

    def convert(source: bytes) -> str:
        shown = extract(
            source.decode("utf-8", "replace"),
            output_format="markdown",
            include_links=True,
            include_tables=True,
            include_formatting=True,
        )
        return str(shown or "")

    return convert


def readability() -> Convert:
    from markdownify import markdownify
    from readability import Document

    def convert(source: bytes) -> str:
        article = Document(source.decode("utf-8", "replace")).summary(html_partial=True)
        return str(markdownify(article, heading_style="ATX"))

    return convert


PEERS: Mapping[str, Callable[[], Convert]] = {
    OURS: norma,
    "trafilatura": trafilatura,
    "readability": readability,
}


def _installed(names: Sequence[str]) -> dict[str, Convert]:
    return {name: PEERS[name]() for name in names if name == OURS or find_spec(name) is not None}


def measured(pages: Sequence[Page], peers: Mapping[str, Convert], rounds: int) -> Results:
    """What each peer took for each page, in the order of *pages*."""
    results = {name: [Taken() for _ in pages] for name in peers}
    for number in range(rounds + 1):  # the first one warms up
        for place, page in enumerate(pages):
            for name, convert in peers.items():
                if name in (OURS, FLOOR) or number <= SLOW_ROUNDS:
                    _measure(convert, page.source, results[name][place])
    return results


def _measure(convert: Convert, source: bytes, taken: Taken) -> None:
    began = time.process_time()
    taken.text = convert(source)
    taken.cpu_seconds = min(taken.cpu_seconds, time.process_time() - began)


def summary(name: str, pages: Sequence[Page], results: Results) -> str:
    """One peer in one line."""
    size = sum(len(page.source) for page in pages) / MB
    seconds = _seconds(results[name])
    cost = f"{1000 * seconds / size:7.1f} ms/MB ({seconds / _seconds(results[FLOOR]):5.2f}x)"
    if name == FLOOR:
        return f"{name:12} {cost}"
    kept = _kept(pages, results[name])
    recall, precision = _mean([one.recall for one in kept]), _mean([one.precision for one in kept])
    words = f"recall {recall:.4f} (least {min(one.recall for one in kept):.4f})  precision {precision:.3f}"
    parts = {"headings": "headings", "links": "links", "tables": "tables"}
    counts = (f"{part} {_counted(kept, part)[0]}/{_counted(kept, part)[1]}" for part in parts)
    return f"{name:12} {cost}  {words}  {'  '.join(counts)}"


def figures(pages: Sequence[Page], results: Results) -> Iterator[dict[str, Any]]:
    """The figures of Norma that have a bound; of what is kept, the share that is lost."""
    kept = _kept(pages, results[OURS])
    times = _seconds(results[OURS]) / _seconds(results[FLOOR])
    yield _figure("HTML to Markdown against a bare parse, CPU", times, 3.0, 2.0, "x")
    yield _figure("words lost", _lost(_mean([one.recall for one in kept])), 1.0, 0.2, "%")
    yield _figure("words lost of the worst page", _lost(min(one.recall for one in kept)), 4.0, 1.0, "%")
    yield _figure(
        "words of menus and the like", _lost(_mean([one.precision for one in kept])), 23.0, 15.0, "%"
    )
    for part in ("headings", "links"):
        found, all_of = _counted(kept, part)
        yield _figure(f"{part} lost", _lost(found / max(1, all_of)), 2.0, 0.0, "%")
    found, all_of = _counted(kept, "tables")
    yield _figure("tables lost", _lost(found / max(1, all_of)), 2.0, 0.0, "%")


def big_figures(convert: Convert) -> Iterator[dict[str, Any]]:
    """What large and deep pages cost; the text at the end of each must be there."""
    for name, source in (("2 MB article", _article()), ("2 MB table", _table()), ("20,000 levels", _deep())):
        taken = Taken()
        for _ in range(BIG_ROUNDS):
            _measure(convert, source.encode(), taken)
        assert "the bottom" in taken.text, f"{name} lost its end"
        yield _figure(f"{name}, CPU", taken.cpu_seconds, 0.8, 0.5, "s")


def _article() -> str:
    words = (
        "Some <a href='/x/{0}'>linked</a> words, a <code>call({0})</code> and <b>more</b> text. " + "x " * 40
    )
    parts = (f"<h2>Part {part}</h2>" + f"<p>{words.format(part)}</p>" * 9 for part in range(1200))
    return f"<title>Long</title><article>{''.join(parts)}<p>the bottom</p></article>"


def _table() -> str:
    rows = ("".join(f"<td>cell {row} {column}</td>" for column in range(12)) for row in range(8000))
    return f"<h1>Data</h1><table><tr>{'<tr>'.join(rows)}</table><p>the bottom</p>"


def _deep() -> str:
    return "<div>" * 20_000 + "<p>the bottom</p>" + "</div>" * 20_000


def _kept(pages: Sequence[Page], taken: Sequence[Taken]) -> list[Kept]:
    return [page.wanted.kept_in(one.text) for page, one in zip(pages, taken, strict=True)]


def _counted(kept: Sequence[Kept], part: str) -> tuple[int, int]:
    counts = [getattr(one, part) for one in kept]
    return sum(found for found, _ in counts), sum(all_of for _, all_of in counts)


def _seconds(taken: Sequence[Taken]) -> float:
    return sum(one.cpu_seconds for one in taken)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _lost(share: float) -> float:
    return 100 * (1 - share)


def _figure(name: str, value: float, must: float, aim: float, unit: str) -> dict[str, Any]:
    return {"name": f"web pages: {name}", "value": round(value, 2), "must": must, "aim": aim, "unit": unit}


if __name__ == "__main__":
    main()
