"""The Grep tool over a scripted search."""

import asyncio
import os

import pytest

from norma.adapters.grep.search import GrepSearch
from norma.adapters.memory.gates import Gate
from norma.adapters.memory.search import ScriptedSearch
from norma.domain.model.actions import ANY_EFFECT, Action
from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.ports.errors import Refused, ToolFailed
from norma.ports.file_search import BadPattern, SearchLine, SearchQuery, SearchResult
from norma.ports.tool import ToolRun
from tests.domain.tools.calling import Host

INSTALL = Action("Bash", ANY_EFFECT, "npm i", "Bash(npm i)", command="npm i")


def host_with(root, answer, **more):
    search = ScriptedSearch(lambda query: answer)
    return Host(root, search=search, **more), search


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({}, {}),
        ({"path": ""}, {}),
        ({"path": "sub"}, {"path": "/sub"}),
        ({"glob": "*.py", "type": "rust"}, {"globs": ("*.py",), "types": ("rust",)}),
        ({"output_mode": "count", "-i": True}, {"mode": "count", "ignore_case": True}),
        ({"output_mode": "content", "-A": 1, "-B": 2.0}, {"mode": "content", "after": 1, "before": 2}),
        ({"output_mode": "content", "-A": 1, "-C": 3}, {"mode": "content", "after": 3, "before": 3}),
        ({"output_mode": "content", "-A": 1, "-C": 0}, {"mode": "content"}),
        ({"-A": 1}, {}),
        ({"multiline": True, "head_limit": 0, "offset": 7}, {"multiline": True, "limit": 0, "offset": 7}),
    ],
)
async def test_every_parameter_reaches_the_search(tmp_path, arguments, query):
    host, search = host_with(tmp_path, [])
    await host.run("Grep", {"pattern": "x", **arguments})
    expected = {"path": "", **query}
    expected["path"] = f"{tmp_path}{expected['path']}"
    assert search.queries == [SearchQuery("x", **expected)]


async def test_paths_are_shown_as_they_can_be_given_back(tmp_path):
    host, _ = host_with(tmp_path, [SearchLine(f"{tmp_path}/src/a.py"), SearchLine("/elsewhere/b\n.py")])
    assert await host.text("Grep", {"pattern": "x"}) == "src/a.py\n/elsewhere/b\\n.py"


async def test_counts(tmp_path):
    host, _ = host_with(tmp_path, [SearchLine(f"{tmp_path}/a:b", count=3)])
    assert await host.text("Grep", {"pattern": "x", "output_mode": "count"}) == "a:b:3"


LINES = [
    SearchLine("/r/a", 1, "before", context=True),
    SearchLine("/r/a", 2, "match"),
    SearchLine("/r/a", 9, "match\udcff"),
    SearchLine("/r/b", 10, "match"),
]


async def test_lines_groups_and_context(tmp_path):
    host, _ = host_with(tmp_path, LINES)
    text = await host.text("Grep", {"pattern": "x", "output_mode": "content", "-B": 1})
    assert text == "/r/a-1-before\n/r/a:2:match\n--\n/r/a:9:match\ufffd\n--\n/r/b:10:match"


async def test_without_context_and_numbers(tmp_path):
    host, _ = host_with(tmp_path, LINES[1:2] + LINES[3:])
    text = await host.text("Grep", {"pattern": "x", "output_mode": "content", "-n": False})
    assert text == "/r/a:match\n/r/b:match"


@pytest.mark.parametrize(
    ("more", "note"),
    [
        (0, ""),
        (1, "\n[1 more row; continue with offset=6]"),
        (9, "\n[9 more rows; continue with offset=6]"),
        (-1, "\n[more rows; continue with offset=6]"),
    ],
)
async def test_more_rows_are_named_with_the_offset_to_go_on(tmp_path, more, note):
    host, _ = host_with(tmp_path, SearchResult("ripgrep", (SearchLine("/a"),), more))
    assert await host.text("Grep", {"pattern": "x", "offset": 5}) == f"/a{note}"


async def test_long_output_is_cut_at_a_row_and_the_offset_goes_on_from_there(tmp_path):
    rows = tuple(SearchLine(f"/{number:04}{'x' * 96}") for number in range(1000))
    host, _ = host_with(tmp_path, SearchResult("ripgrep", rows, 5))
    text = await host.text("Grep", {"pattern": "x", "offset": 10, "head_limit": 0})
    lines = text.split("\n")
    assert len(text) < OUTPUT_CHARACTERS + 200
    shown = len(lines) - 1
    assert lines[-1] == f"[{1005 - shown} more rows; continue with offset={10 + shown}]"


async def test_nothing_found(tmp_path):
    host, _ = host_with(tmp_path, SearchResult("python", (), notes=("the python backend answered: no rg",)))
    assert await host.text("Grep", {"pattern": "x"}) == (
        "[No matches found]\n[the python backend answered: no rg]"
    )
    assert "behind the first 5" in await host.text("Grep", {"pattern": "x", "offset": 5})


async def test_T3_denied_files_are_left_out_by_the_search_and_its_note_is_shown(tmp_path):
    rows = [SearchLine(f"{tmp_path}/secrets/k"), SearchLine(f"{tmp_path}/open")]
    host, _ = host_with(tmp_path, rows, deny=["Read(secrets/**)"])
    text = await host.text("Grep", {"pattern": "x"})
    assert text.startswith("open\n[")
    assert "secrets" not in text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BadPattern("an open group at 3"), "not valid: an open group at 3"),
        (ValueError("no type is called pyy"), "no type is called pyy"),
        (FileNotFoundError(2, "No such file"), "does not exist"),
        (TimeoutError(), "took too long"),
    ],
)
async def test_G7_an_error_of_the_search_is_told_in_words(tmp_path, error, words):
    host, _ = host_with(tmp_path, error)
    with pytest.raises(ToolFailed, match=words):
        await host.run("Grep", {"pattern": "x"})


@pytest.mark.parametrize("disable", ["", "1"])
async def test_G7_real_searches_show_no_byte_from_outside_or_from_denied_files(tmp_path, disable):
    root = tmp_path / "root"
    (root / "secrets").mkdir(parents=True)
    for file in (tmp_path / "outside.txt", root / "secrets/k.txt"):
        file.write_text("needle canary\n")
    (root / "open.txt").write_text("needle mine\n")
    (root / "file_link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "folder_link").symlink_to(tmp_path)
    environ = {"PATH": os.environ["PATH"], "NORMA_DISABLE_RIPGREP": disable, "NORMA_RIPGREP_NO_INSTALL": "1"}
    host = Host(root, search=GrepSearch(environ=environ), deny=["Read(secrets/**)"])
    text = await host.text("Grep", {"pattern": "needle", "output_mode": "content"})
    assert "open.txt:1:needle mine" in text
    assert "canary" not in text
    for path in ("file_link.txt", "folder_link", "../outside.txt"):
        with pytest.raises(Refused, match="outside"):
            await host.run("Grep", {"pattern": "needle", "path": path})


async def test_a_cancel_passes_through_to_the_search(tmp_path):
    gate: Gate = Gate()
    host, search = host_with(tmp_path, gate)
    task = asyncio.create_task(host.run("Grep", {"pattern": "x"}))
    await asyncio.wait_for(search.asked(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert search.running == 0


async def test_G4_what_a_search_needs_besides_goes_through_the_permit_of_the_run(tmp_path):
    asked = []

    class Installing(ScriptedSearch):
        async def search(self, query, *, progress, excluded, permit=None):
            await permit(INSTALL)
            return await super().search(query, progress=progress, excluded=excluded)

    async def permit(action):
        asked.append(action)

    host = Host(tmp_path, search=Installing(lambda query: []))
    action = host.examine("Grep", {"pattern": "x"})
    await host.tools["Grep"].run(ToolRun({"pattern": "x"}, action, host.progress.append, permit))
    assert asked == [INSTALL]
    with pytest.raises(Refused, match=r"Nobody can be asked. The rule Bash\(npm i\) would allow it"):
        await host.run("Grep", {"pattern": "x"})
