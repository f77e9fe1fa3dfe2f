"""
What goes wrong outside is one clear message and the right exit status: 2 for usage and settings, else 1.

Each case runs as a real process, as text and as JSON. There is no traceback without --debug.
"""

import resource
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.chat_server import ChatServer, says
from tests.rigs.command import Bench, Done


def check(bench: Bench, words: list[str], status: int, kind: str, *says: str, **more: object) -> None:
    """The command fails alike as text and as JSON, with one message that says all of *says*."""
    plain = bench.run(*words, **more)  # type: ignore[arg-type]
    assert plain.status == status, plain
    assert plain.out == ""
    told = bench.run(*words, "--json", **more)  # type: ignore[arg-type]
    assert told.status == status, told
    (error,) = told.lines
    assert (error["type"], error["kind"]) == ("error", kind), told
    for word in says:
        assert word in plain.err, plain
        assert word in error["message"], told
    assert "Traceback" not in plain.err + told.err


def ends_badly(done: Done, status: int, outcome: str, kind: str, *says: str) -> None:
    """The turn ended, as JSON, with one failure."""
    assert done.status == status, done
    assert done.last["outcome"] == outcome
    assert done.last["error"]["kind"] == kind, done
    for word in says:
        assert word in done.last["error"]["message"], done
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["frobnicate"], "frobnicate"),
        (["ask"], "needs a PROMPT"),
        (["ask", "  "], "PROMPT is empty"),
        (["ask", "hi", "--frob"], "--frob"),
        (["ask", "hi", "--model", "nobody"], "nobody"),
        (["grep"], "PATTERN"),
        (["grep", "x", "--limit", "-1"], "--limit"),
        (["grep", "("], "valid pattern"),
        (["ask", "hi", "--set", "permissions.mode=plan"], "needs its own quotes"),
        (["ask", "hi", "--mode", "plann"], "did you mean plan?"),
        (["ask", "hi", "--deny", "Bash("], "permissions.deny[0]"),
        (["ask", "hi", "--settings", "missing.toml"], "missing.toml"),
        (["ask", "hi", "--mcp-config", "servers.json"], "servers.json: the file of tool servers"),
        (["reply", "--wire", "telegram", "--model", "m", "hi"], "openai-responses"),
        (["reply", "--wire", "openai-chat", "hi"], "--model"),
        (["reply", "--wire", "openai-chat", "--model", "m", "--api-key-env", "NOT_SET", "hi"], "NOT_SET"),
        (["reply", "--wire", "openai-chat", "--model", "m", "--profile", "nobody", "hi"], "nobody"),
        (["reply", "--request", "missing.json"], "missing.json"),
    ],
)
def test_a_wrong_command_line(bench: Bench, words: list[str], says: str) -> None:
    check(bench, words, 2, "usage", says)


def test_an_unknown_setting(bench: Bench) -> None:
    bench.settings("[jornal]\npath = 'x'\n")
    check(bench, ["sessions"], 2, "usage", "jornal: unknown key; did you mean journal?", "norma.toml")


def test_a_settings_file_with_three_faults_tells_all_three(bench: Bench) -> None:
    bench.settings(
        '[permissions]\nmode = "sometimes"\n[embedded]\nport = "many"\n[models.m]\nbase_url = "http://h"\n'
    )
    check(bench, ["ask", "hi"], 2, "usage", "permissions.mode", "embedded.port", "models.m.wire: is missing")


@pytest.mark.parametrize(
    ("key", "says"), [("api_key_env = 'NOT_SET'", "NOT_SET"), ("api_key_file = 'no/key'", "no/key")]
)
def test_a_key_that_is_not_there(bench: Bench, key: str, says: str) -> None:
    bench.model("http://127.0.0.1:1/v1", key)
    check(bench, ["ask", "hi"], 2, "usage", f"models.main.{key.split(maxsplit=1)[0]}", says)


def test_a_configured_wire_that_is_not_there(bench: Bench) -> None:
    bench.settings('[models.main]\nwire = "telegram"\nmodel = "m"\n')
    check(bench, ["ask", "hi"], 2, "usage", "models.main.wire", "openai-chat")


@pytest.mark.parametrize("verb", [["ask", "hi"], ["grep", "x"], ["sessions"]])
def test_a_workspace_that_is_missing_or_a_file(bench: Bench, verb: list[str]) -> None:
    (bench.workspace / "file").write_text("")
    for root in ("missing", "file"):
        path = bench.workspace / root
        check(
            bench, [*verb, "--set", f"workspace.roots=['{path}']"], 2, "usage", "workspace.roots", str(path)
        )


def test_a_folder_that_is_gone(bench: Bench) -> None:
    bench.workspace.rmdir()
    bench.workspace.mkdir()
    # The process starts in a folder that is then removed, before Python looks at it.
    done = bench.run("sessions", "--json", preexec_fn=bench.workspace.rmdir)
    assert done.status == 2, done
    assert done.last["kind"] == "usage"


def test_a_search_outside_the_workspace_is_refused(bench: Bench) -> None:
    check(bench, ["grep", "x", "/etc"], 1, "refused", "/etc", "workspace.roots")
    check(bench, ["grep", "x", "nowhere"], 1, "not_found", "nowhere")


def test_no_model_is_to_be_had(bench: Bench) -> None:
    """No key, no local server, and the package index can't be reached."""
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
    }
    done = bench.run("ask", "--json", "hi", environ=nowhere)
    ends_badly(done, 1, "model_failed", "network", "models.<name>")
    assert "embedded" in done.err


def test_a_damaged_gguf(bench: Bench) -> None:
    file = bench.home / "model.gguf"
    file.write_bytes(b"not a model at all" * 100)
    done = bench.run("ask", "--json", "hi", "--set", f"embedded.gguf='{file}'")
    ends_badly(done, 2, "model_failed", "usage", str(file))


def test_a_gguf_that_is_not_there(bench: Bench) -> None:
    done = bench.run("ask", "--json", "hi", "--set", "embedded.gguf='missing.gguf'")
    ends_badly(done, 2, "model_failed", "usage", "missing.gguf")


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def test_a_port_that_is_taken(bench: Bench, taken: int) -> None:
    file = bench.home / "model.gguf"
    file.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 1, 0) + bytes(64))
    done = bench.run(
        "ask", "--json", "hi", "--set", f"embedded.gguf='{file}'", "--set", f"embedded.port={taken}"
    )
    ends_badly(done, 2, "model_failed", "usage", str(taken), "embedded.port")


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, 64 * 1024))


def test_S2_a_full_disk_is_told_and_what_was_kept_is_still_there(bench: Bench) -> None:
    with ChatServer(says("one"), says("x" * 200_000), says("three")) as chat:
        bench.model(chat.url)
        first = bench.run("ask", "--json", "first")
        assert first.status == 0
        full = bench.run("ask", "--json", "--resume", "y" * 100_000, preexec_fn=limit_file_size)
        assert full.status == 1, full
        assert "Traceback" not in full.err
        said = full.last.get("error") or full.last
        assert said["kind"] == "journal", full
        again = bench.run("ask", "--json", "--resume", "second")
    assert again.status == 0, again
    assert again.last["session"] == first.last["session"]
    assert "one" in str(chat.bodies[-1]["messages"])


def test_a_journal_that_can_not_be_one(bench: Bench) -> None:
    for path in ("/dev/full", "/proc/journal.db", str(bench.home)):
        done = bench.run("sessions", "--json", "--set", f"journal.path='{path}'")
        assert done.status == 1, done
        assert (done.last["type"], done.last["kind"]) == ("error", "journal")
        assert path in done.last["message"], done
        assert "Traceback" not in done.err


def test_S2_a_damaged_journal_is_told_and_left_as_it_is(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(b"these are no sessions" * 1000)
    with ChatServer() as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--json", "hi", "--set", f"journal.path='{file}'")
    assert done.status == 1, done
    assert str(file) in str(done.last)
    assert file.read_bytes() == b"these are no sessions" * 1000
    assert chat.bodies == []


def test_debug_shows_the_traceback(bench: Bench) -> None:
    done = bench.run("ask", "hi", "--mode", "plann", "--debug")
    assert done.status == 2
    assert "Traceback" in done.err
    assert "did you mean plan?" in done.err.splitlines()[-1]
