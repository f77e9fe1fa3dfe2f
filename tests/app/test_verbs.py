"""`norma grep`, `norma doctor` and the words of `--help`."""

import pytest

from tests.rigs.chat_server import ChatServer
from tests.rigs.command import Bench


@pytest.fixture
def tree(bench: Bench) -> Bench:
    (bench.workspace / "src").mkdir()
    (bench.workspace / "src" / "a.py").write_text("one\nneedle here\nthree\nneedle\n")
    (bench.workspace / "src" / "b.txt").write_text("Needle\n")
    (bench.workspace / "secret.txt").write_text("needle in secret\n")
    return bench


def test_grep_tells_paths_lines_and_counts(tree: Bench) -> None:
    files = tree.run("grep", "--json", "needle", "src").last
    assert set(files) == {"type", "backend", "lines", "more", "notes"}
    assert files["lines"] == [{"path": "src/a.py"}]
    content = tree.run("grep", "--json", "needle", "src", "--grep-mode", "content", "-A", "1").last
    assert content["lines"] == [
        {"path": "src/a.py", "line": 2, "text": "needle here", "context": False},
        {"path": "src/a.py", "line": 3, "text": "three", "context": True},
        {"path": "src/a.py", "line": 4, "text": "needle", "context": False},
    ]
    count = tree.run("grep", "--json", "-i", "needle", "--grep-mode", "count", "--glob", "!secret.txt").last
    assert count["lines"] == [{"path": "src/a.py", "count": 2}, {"path": "src/b.txt", "count": 1}]


def test_G6_both_backends_give_the_same_answer(tree: Bench) -> None:
    words = ("grep", "--json", "needle", "--grep-mode", "content")
    python = tree.run(*words, environ={"NORMA_DISABLE_RIPGREP": "1"}).last
    other = tree.run(*words).last
    assert python["backend"] == "python"
    assert python["lines"] == other["lines"]


def test_grep_as_text_and_with_limit_and_offset(tree: Bench) -> None:
    done = tree.run("grep", "needle", "--grep-mode", "content", "--limit", "1", "--offset", "1")
    assert done.status == 0, done
    assert done.out == "src/a.py:2:needle here\n"
    assert "--limit" in done.err


def test_grep_that_finds_nothing_is_no_failure(tree: Bench) -> None:
    done = tree.run("grep", "--json", "nowhere to be found")
    assert done.status == 0
    assert done.last["lines"] == []


def test_T3_grep_leaves_denied_paths_out_and_says_so(tree: Bench) -> None:
    done = tree.run("grep", "--json", "needle", "--deny", "Read(secret.txt)")
    assert done.last["lines"] == [{"path": "src/a.py"}]
    assert done.last["notes"]
    assert (
        tree.run("grep", "--json", "needle", "secret.txt", "--deny", "Read(secret.txt)").last["kind"]
        == "refused"
    )


def test_G7_a_link_out_of_the_workspace_is_refused(tree: Bench) -> None:
    (tree.workspace / "out").symlink_to("/etc")
    done = tree.run("grep", "--json", "root", "out")
    assert (done.status, done.last["kind"]) == (1, "refused")


def test_a_relative_path_starts_at_the_first_root_when_the_folder_is_outside(tree: Bench) -> None:
    root = tree.workspace / "src"
    done = tree.run("grep", "--json", "needle", "a.py", "--set", f"workspace.roots=['{root}']")
    assert done.last["lines"] == [{"path": "a.py"}]


def test_doctor_reports_every_part_and_ends_well(bench: Bench) -> None:
    with ChatServer() as chat:
        bench.model(chat.url)
        done = bench.run("doctor", "--json")
    assert done.status == 0, done
    assert done.last["type"] == "report"
    assert done.last["ok"] is True
    names = [check["name"] for check in done.last["checks"]]
    assert {"settings", "workspace", "journal", "model", "search", "tools"} <= set(names)
    for check in done.last["checks"]:
        assert set(check) == {"name", "ok", "detail", "remedy"}


def test_doctor_finds_a_bad_journal_a_bad_workspace_and_a_bad_model(bench: Bench) -> None:
    bench.settings("[models.m]\nwire = 'anthropic'\nmodel = 'x'\napi_key_env = 'NOT_SET'\n")
    done = bench.run("doctor", "--json", "--set", "journal.path='/dev/full'")
    assert done.status == 1
    assert {check["name"] for check in done.last["checks"] if not check["ok"]} == {"journal", "model"}
    done = bench.run("doctor", "--json", "--set", "workspace.roots=['/nowhere']")
    assert {check["name"] for check in done.last["checks"] if not check["ok"]} == {"workspace"}


@pytest.mark.parametrize("verb", ["ask", "chat", "reply", "grep", "sessions", "doctor"])
def test_help_of_each_verb_tells_the_common_options(bench: Bench, verb: str) -> None:
    done = bench.run(verb, "--help")
    assert done.status == 0
    for option in (
        "--json",
        "--settings",
        "--set",
        "--allow",
        "--ask",
        "--deny",
        "--mode",
        "--mcp-config",
        "--debug",
    ):
        assert option in done.out
    assert verb in bench.run("--help").out
