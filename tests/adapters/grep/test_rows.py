"""The table of grep cases, on both backends (contract G6 and G7)."""

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from norma.ports.file_search import BadPattern, SearchQuery, SearchResult
from tests.adapters.grep.rigs import BACKENDS, ask, backend, shown, tree_of_cases, write
from tests.rigs.fixtures import fixture_folder, rows_of

WORDS_ONLY = frozenset({"g07", "g13", "g15", "g16", "g17", "g19", "g20", "g21", "g23", "g24", "g25"})
"""Rows whose expectation is a sentence; each has a test of its own below."""


@pytest.fixture(scope="module")
def workspace(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("grep") / "tree"
    return tree_of_cases(fixture_folder(pytestconfig, "grep"), into)


@pytest.fixture(scope="module")
def rows(pytestconfig: pytest.Config) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows_of(pytestconfig, "grep", "expected.json")}


def query_of(row: dict[str, Any], workspace: Path) -> SearchQuery:
    wishes = dict(row["query"])
    return SearchQuery(wishes.pop("pattern"), os.path.normpath(workspace / wishes.pop("path")), **wishes)


def comparable(entry: str) -> str:
    """An expected entry without its remarks; `\\n` and `\\xff` in a name stand for the bytes."""
    path = entry.partition(" (")[0]
    return path.replace("\\n", "\n").replace("\\xff", "\udcff")


async def both(query: SearchQuery) -> list[SearchResult]:
    return [await ask(backend(name), query) for name in BACKENDS]


@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_each_row_with_a_list_gives_exactly_that_list(
    name: str, workspace: Path, rows: dict[str, dict[str, Any]]
) -> None:
    assert {row["id"] for row in rows.values() if isinstance(row["want"], str)} <= WORDS_ONLY
    for row in rows.values():
        if row["id"] in WORDS_ONLY:
            continue
        result = await ask(backend(name), query_of(row, workspace))
        assert result.backend == name, row["id"]
        assert sorted(shown(result, workspace)) == sorted(map(comparable, row["want"])), row["id"]
        size = sum(len(line.path) + len(line.text or "") for line in result.lines)
        assert size <= row.get("limits", {}).get("result_chars_max", 5000), row["id"]


@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_g06_a_long_line_is_cut_around_its_match(name: str, workspace: Path) -> None:
    result = await ask(backend(name), SearchQuery("needle", str(workspace / "lines/long.js"), "content"))
    assert "needle" in (result.lines[0].text or "")
    assert "of 3000016" in (result.lines[0].text or "")


async def test_G6_g07_a_line_also_ends_before_a_carriage_return(workspace: Path) -> None:
    for result in await both(SearchQuery("needle$", str(workspace / "lines/crlf.txt"))):
        assert shown(result, workspace) == ["lines/crlf.txt"]


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g13_a_line_feed_needs_multiline_and_the_error_says_so(name: str, workspace: Path) -> None:
    with pytest.raises(BadPattern, match="multiline"):
        await ask(backend(name), SearchQuery("a\\nb", str(workspace / "multi"), "content"))


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("path", ["links/out_file.txt", "links/out_dir", "links/loop/plain"])
async def test_G7_g15_g16_a_path_that_a_link_leads_through_is_refused(
    name: str, path: str, workspace: Path
) -> None:
    with pytest.raises(OSError, match="link"):
        await ask(backend(name), SearchQuery("needle", str(workspace / path)))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is locked for root")
@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_g19_a_locked_folder_is_named_and_the_rest_is_searched(name: str, workspace: Path) -> None:
    result = await ask(backend(name), SearchQuery("needle", str(workspace)))
    assert result.backend == name
    assert "plain/a.txt" in shown(result, workspace)
    assert any("locked" in note for note in result.notes)


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g20_a_bad_pattern_is_an_error(name: str, workspace: Path) -> None:
    with pytest.raises(BadPattern, match="never closed"):
        await ask(backend(name), SearchQuery("(", str(workspace / "plain")))


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g21_a_missing_path_is_an_error(name: str, workspace: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        await ask(backend(name), SearchQuery("needle", str(workspace / "plain/nothing.txt")))


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g18_a_FIFO_as_the_path_is_refused_without_opening_it(name: str, workspace: Path) -> None:
    with pytest.raises(OSError, match="neither a file nor a folder"):
        await ask(backend(name), SearchQuery("needle", str(workspace / "special/pipe")))


async def test_G6_g23_outside_a_repository_gitignore_does_not_count(workspace: Path) -> None:
    for result in await both(SearchQuery("needle", str(workspace / "norepo"))):
        assert shown(result, workspace) == ["norepo/ignored.txt", "norepo/seen.txt"]


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g24_look_around_is_refused_by_both_in_the_same_words(name: str, workspace: Path) -> None:
    with pytest.raises(BadPattern, match="look-around is not supported"):
        await ask(backend(name), SearchQuery("(?<=n)eedle", str(workspace / "plain")))


@pytest.mark.parametrize("name", BACKENDS)
async def test_G7_g25_a_catastrophic_pattern_ends(name: str, tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text("a" * 40 + "!\n" + "a" * 40 + "\n")
    result = await ask(backend(name, deadline_s=30), SearchQuery("(a+)+$", str(tmp_path), "content"))
    assert [line.line for line in result.lines] == [2]


async def test_G6_g27_the_users_ripgrep_settings_do_not_count(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("--max-columns=5\n--files-with-matches\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    search = backend("ripgrep")
    search.environ = {**search.environ, "RIPGREP_CONFIG_PATH": str(tmp_path / "rc")}
    query = SearchQuery("needle", str(workspace / "plain"), "content")
    assert shown(await ask(search, query), workspace) == ["plain/a.txt:1", "plain/last_line.txt:1"]


@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_rows_are_paged_in_the_order_of_path_then_line(name: str, tmp_path: Path) -> None:
    for number in range(30):
        folder = tmp_path / f"{number % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number:02}.txt").write_text("needle\n" * 100)
    (tmp_path / "0.txt").write_text("needle\n")
    whole = SearchQuery("needle", str(tmp_path), "content", limit=0)
    everything = await ask(backend(name), whole)
    assert (len(everything.lines), everything.more) == (3001, 0)
    paths = list(dict.fromkeys(shown(everything, tmp_path)))
    # A folder comes before a file whose name goes on after the folder's.
    assert paths[0] == "0/00.txt:1"
    assert paths.index("0.txt:1") > paths.index("0/27.txt:100")
    for offset, more in ((0, -1), (1900, -1), (2500, 491), (2995, 0)):
        page = await ask(backend(name), evolve(whole, limit=10, offset=offset))
        assert page.lines == everything.lines[offset : offset + 10], offset
        assert page.more == more, offset


@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_an_excluded_file_is_counted_in_a_note_and_shown_nowhere(name: str, tmp_path: Path) -> None:
    for file in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / file).write_text("needle\n" if file != "c.txt" else "hay\n")
    seen = SearchQuery("needle", str(tmp_path), "content")
    result = await ask(backend(name), seen, excluded=lambda path: not path.endswith("a.txt"))
    assert shown(result, tmp_path) == ["a.txt:1"]
    assert any(note == "permission rules leave 1 matching file out" for note in result.notes)


@pytest.mark.parametrize("name", BACKENDS)
async def test_G6_a_bad_line_in_an_ignore_file_above_is_passed_over(name: str, tmp_path: Path) -> None:
    write(tmp_path, {".ignore": b"{a\nb.txt\n", "sub/a.txt": b"needle\n", "sub/b.txt": b"needle\n"})
    for pattern, found in (("needle", ["sub/a.txt"]), ("hay", [])):
        result = await ask(backend(name), SearchQuery(pattern, str(tmp_path / "sub")))
        assert (result.backend, shown(result, tmp_path)) == (name, found)
        assert not any("glob" in note for note in result.notes)
