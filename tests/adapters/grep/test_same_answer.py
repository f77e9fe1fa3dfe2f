r"""
ripgrep and Python compared on random folders, patterns and queries (contract G6).

The rows, their order and the count of those behind the page must be equal. What is known to differ,
and why, and is therefore not generated:

- A NUL behind the first 64 KB of a file. ripgrep stops in front of the buffer that holds the first one;
  how large its buffers are depends on the files that the same thread has read before. Python leaves out
  the block of 64 KB.
- `\B` beside a byte that is no UTF-8, in ripgrep 13 alone, whose engine reads it otherwise than newer ones.
- `**` of a glob and a name with a line feed, in ripgrep 13 alone, where it doesn't match that.
- A `[` that is never closed in an ignore file, where ripgrep before 15 drops the line. Python takes it for
  itself, as ripgrep 15 does.
- `\b` beside a combining mark, which Rust counts as part of a word and Python does not; and characters
  that are newer than the Unicode tables of the one or the other.
- Nested repetitions of what can match nothing, where a match may span lines: whether the loop goes round
  once more decides how far the match reaches.
- A file over 1 GiB, which Python does not search and names in a note; and lines with a hundred thousand
  matches, which ripgrep leaves to Python with a note.
- ripgrep's JSON printer panics at times where a match spans lines (15.2, crates/printer/src/json.rs). Python
  answers then, with a note.
"""

import asyncio
import os
import subprocess
from functools import cache
from pathlib import Path
from random import Random

import pytest
from attrs import evolve

from norma.adapters.grep.search import GrepSearch
from norma.ports.file_search import SearchQuery
from tests.adapters.grep.rigs import ask, backend, real_ripgrep
from tests.adapters.grep.trees import grow, query

QUERIES = 3


def programs(config: pytest.Config) -> list[str]:
    """ripgrep as it is installed, or the ones that the command line names."""
    return [os.path.abspath(program) for program in config.getoption("--ripgrep") or [real_ripgrep()]]


@cache
def version(program: str) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, check=True, text=True).stdout
    return int(said.removeprefix("ripgrep ").partition(".")[0])


async def answer(search: GrepSearch, wanted: SearchQuery, name: str) -> tuple[object, ...]:
    result = await ask(search, wanted)
    assert result.backend == name or any("panicked" in note for note in result.notes), result.notes
    return result.lines, result.more


def planted(random: Random, folder: Path, *, line_feeds: bool, open_classes: bool) -> None:
    folder.mkdir()
    grow(random, os.fsencode(folder))
    for path in [] if line_feeds else list(folder.rglob("*\n*")):
        path.unlink()
    for path in [] if open_classes else list(folder.rglob(".*ignore")):
        path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(True) if not is_open(line)))


def is_open(line: bytes) -> bool:
    """Whether a line of an ignore file has a `[` that is never closed."""
    return b"[" in line and b"]" not in line.rpartition(b"[")[2][2:]


async def compare(seed: int, folder: Path, program: str) -> int:
    """Compare on the tree that *seed* grows in *folder*; the number of rows that were found."""
    random = Random(seed)
    planted(random, folder, line_feeds=version(program) >= 14, open_classes=version(program) >= 15)
    rows = 0
    for _ in range(QUERIES):
        wanted = query(random, str(folder))
        if r"\B" in wanted.pattern and version(program) < 14:
            continue
        ripgrep, python = await asyncio.gather(
            answer(backend("ripgrep", program=program), wanted, "ripgrep"),
            answer(backend("python"), wanted, "python"),
        )
        assert ripgrep == python, f"seed {seed}: {evolve(wanted, path=wanted.path.removeprefix(str(folder)))}"
        rows += len(ripgrep[0]) if isinstance(ripgrep[0], tuple) else 0
    return rows


@pytest.mark.timeout(0)
async def test_G6_both_backends_give_the_same_answer_on_random_trees(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    trees = pytestconfig.getoption("--grep-trees")
    for number, program in enumerate(programs(pytestconfig)):
        rows = 0
        for seed in range(trees):
            rows += await compare(seed, tmp_path / f"{number}-{seed}", program)
        assert rows > trees, "hardly anything was found, so hardly anything was compared"


@pytest.mark.parametrize(
    "data", [b"ab\n\ncd\n", b"aa\n\ncd\n", b"a\n\n\nab", b"\n", b"ab c\n\n\xc3\xa9a\n\nx"]
)
@pytest.mark.parametrize(
    "pattern",
    [r"^\w\n*", r"\ba\n*", r"\Ba\n*", "^", r"\b", r"\B", "^$", "x?^", r"(^|b)\n?", r"\W?^\S*?\b\W+"],
)
async def test_G6_where_matches_may_span_lines_both_go_on_behind_one_as_if_the_text_began_there(
    tmp_path: Path, pattern: str, data: bytes
) -> None:
    (tmp_path / "f").write_bytes(data)
    for mode in ("content", "count"):
        wanted = SearchQuery(pattern, str(tmp_path), mode, multiline=True)
        ripgrep, python = [await answer(backend(name), wanted, name) for name in ("ripgrep", "python")]
        assert ripgrep == python


ODD_RULES = (
    "/**",
    "!",
    "! ",
    "/",
    "a[",
    "[",
    "[]",
    "[!",
    "a[/b",
    "{[a,b}",
    "{[a,b",
    "[b-a",
    "a[]",
    "***",
    "!/",
    "//a",
)


@pytest.mark.parametrize("before", ["", "*\n", "*\n!"])
async def test_G6_odd_lines_of_ignore_files_say_the_same_to_both(tmp_path: Path, before: str) -> None:
    for name in ("a", "b", "[", "[a", "a[", "[a,b", "!", "#x", "src/a", "src/a[/b", "]", "*"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    wanted = SearchQuery("needle", str(tmp_path), "files", hidden=True)
    for rule in ODD_RULES:
        (tmp_path / ".ignore").write_text(f"{before}{rule}\n")
        ripgrep, python = [await answer(backend(name), wanted, name) for name in ("ripgrep", "python")]
        assert ripgrep == python, f"the line {rule!r} behind {before!r}"
