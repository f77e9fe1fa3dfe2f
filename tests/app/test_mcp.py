"""`norma mcp`, and tool servers in `norma ask`: real processes from end to end (P1 to P8, T1)."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from norma.app.mcp_config import mcp_config
from norma.app.reading import Wishes, read_settings
from norma.app.settings import Settings, SettingsError
from norma.app.tool_servers import tool_servers
from tests.rigs.chat_server import ChatServer, calls, says, tool_messages
from tests.rigs.command import Bench
from tests.rigs.fixtures import OURS
from tests.rigs.mcp_servers import alive

MISBEHAVE = str(OURS / "mcp" / "misbehave.py")


def config(bench: Bench, *words: str, name: str = "srv", **more: Any) -> str:
    """A file of servers with one that misbehaves as *words* say; its name on the command line."""
    log = str(bench.workspace / "log.jsonl")
    entry = {
        "command": sys.executable,
        "args": [MISBEHAVE, *words],
        "env": {"NORMA_FIXTURE_LOG": log},
        **more,
    }
    (bench.workspace / "mcp.json").write_text(json.dumps({"mcpServers": {name: entry}}))
    return "mcp.json"


def started(bench: Bench) -> int:
    """How often the server was started."""
    log = bench.workspace / "log.jsonl"
    return log.read_text().count('"init"') if log.exists() else 0


def test_P3_call_prints_one_tool_result(bench: Bench) -> None:
    file = config(bench, "content_mix")
    done = bench.run("mcp", "call", "srv", "unlisted", '{"a": 1}', "--mcp-config", file, "--json")
    assert done.status == 0, done
    (line,) = done.lines
    assert (line["type"], line["is_error"]) == ("tool_result", False)
    kinds = [block["type"] for block in line["blocks"]]
    assert kinds == ["text", "image", "audio", "text", "text", "document", "text", "text", "text"]
    assert '"call": "unlisted"' in (bench.workspace / "log.jsonl").read_text()


def test_P8_death_in_a_call_is_an_error_result_and_status_1(bench: Bench) -> None:
    file = config(bench, "die_on_call")
    done = bench.run("mcp", "call", "srv", "echo", "--mcp-config", file, "--json")
    assert done.status == 1
    assert done.last["type"] == "tool_result"
    assert done.last["is_error"]
    said = json.dumps(done.last)
    assert "exit status 3" in said
    assert "database is locked" in said


@pytest.mark.parametrize("mode", ["exit_at_once", "version_future"])
def test_P1_P8_a_server_that_does_not_come_up_is_an_error(bench: Bench, mode: str) -> None:
    done = bench.run("mcp", "call", "srv", "echo", "--mcp-config", config(bench, mode), "--json")
    assert done.status == 1
    assert done.last["type"] == "error"
    assert ("missing API key" if mode == "exit_at_once" else "2099-01-01") in done.last["message"]


def test_P6_the_deadline_of_a_call_is_a_setting(bench: Bench) -> None:
    file = config(bench, "never_reply")
    words = ("mcp", "call", "srv", "echo", "--mcp-config", file, "--json", "--set", "mcp.call_timeout_s=0.3")
    done = bench.run(*words)
    assert done.status == 1
    assert done.last["is_error"]
    assert "within 0.3 s" in json.dumps(done.last)


def test_P2_tools_tell_both_names(bench: Bench) -> None:
    done = bench.run("mcp", "tools", "--mcp-config", config(bench, "dup_tools", name="my server"), "--json")
    assert done.status == 0, done
    (item,) = done.last["items"]
    assert item["server"] == "my server"
    assert item["remote_name"] == "echo"
    assert item["name"].startswith("mcp__my_server_")
    assert "'echo'" in done.last["notes"][0]


def test_list_starts_nothing_and_probe_reports(bench: Bench) -> None:
    file = config(bench, "ok")
    listed = bench.run("mcp", "list", "--mcp-config", file, "--json")
    assert listed.last["type"] == "servers"
    assert MISBEHAVE in listed.last["items"][0]["shows"]
    assert started(bench) == 0
    probed = bench.run("mcp", "probe", "--mcp-config", file, "--json")
    assert (probed.status, probed.last["type"], probed.last["ok"]) == (0, "report", True)
    assert "protocol 2025-11-25, 3 tools" in probed.last["checks"][0]["detail"]
    failed = bench.run("mcp", "probe", "--mcp-config", config(bench, "exit_at_once"), "--json")
    assert (failed.status, failed.last["ok"]) == (1, False)
    assert "missing API key" in failed.last["checks"][0]["detail"]


def test_T1_servers_of_a_settings_file_ask_and_without_a_person_are_not_started(bench: Bench) -> None:
    log = bench.workspace / "log.jsonl"
    bench.settings(
        f'[mcp.servers.srv]\ncommand = "{sys.executable}"\nargs = ["{MISBEHAVE}", "ok"]\n'
        f'env = {{NORMA_FIXTURE_LOG = "{log}"}}\n'
    )
    refused = bench.run("mcp", "call", "srv", "echo", '{"text": "x"}', "--json")
    assert refused.status == 1
    assert refused.last["kind"] == "refused"
    assert "mcp__srv__server-start" in refused.last["message"]
    assert started(bench) == 0
    for rule in ("mcp__srv__server-start", "mcp__srv__*"):
        allowed = bench.run("mcp", "call", "srv", "echo", '{"text": "x"}', "--json", "--allow", rule)
        assert allowed.status == 0, allowed
    with bench.terminal("mcp", "call", "srv", "echo", '{"text": "hello"}') as terminal:
        terminal.expect(MISBEHAVE)
        terminal.expect("> ")
        terminal.types("y\n")
        terminal.expect("hello")
        assert terminal.ends() == 0


def test_T1_a_denial_holds_for_a_file_that_was_named_and_for_what_is_typed(bench: Bench) -> None:
    file = config(bench, "ok")
    for rule in ("mcp__srv__server-start", "mcp__srv__*"):
        done = bench.run("mcp", "call", "srv", "echo", "--mcp-config", file, "--json", "--deny", rule)
        assert (done.status, done.last["kind"]) == (1, "refused")
    assert started(bench) == 0
    done = bench.run("mcp", "call", "srv", "echo", "--mcp-config", file, "--json", "--deny", "mcp__srv__echo")
    assert (done.status, done.last["kind"]) == (1, "refused")
    assert '"call"' not in (bench.workspace / "log.jsonl").read_text()


def test_a_model_works_with_the_tools_and_nothing_is_left(bench: Bench) -> None:
    file = config(bench, "ignores_term")
    with ChatServer(calls(("mcp__srv__echo", {"text": "from the server"})), says("Done.")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--json", "--mcp-config", file, "--allow", "mcp__srv__*", "use it")
    assert done.status == 0, done
    ((_, text),) = tool_messages(chat.bodies[1])
    assert "from the server" in text
    offered = [tool["function"]["name"] for tool in chat.bodies[0]["tools"]]
    assert {"mcp__srv__echo", "mcp__srv__size", "mcp__srv__count"} <= set(offered)
    log = [json.loads(line) for line in (bench.workspace / "log.jsonl").read_text().splitlines()]
    pids = [entry[key] for entry in log for key in ("server_pid", "grandchild_pid") if key in entry]
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_a_server_that_fails_is_told_and_the_others_work(bench: Bench) -> None:
    good = {"command": sys.executable, "args": [MISBEHAVE, "ok"]}
    bad = {"command": "no-such-program-x"}
    (bench.workspace / "mcp.json").write_text(json.dumps({"mcpServers": {"bad": bad, "good": good}}))
    with ChatServer(says("Done.")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--mcp-config", "mcp.json", "hi")
    assert done.status == 0, done
    assert "tool server bad (no-such-program-x) could not be started" in done.err
    assert "mcp__good__echo" in json.dumps(chat.bodies[0]["tools"])


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["mcp"], "action"),
        (["mcp", "fly"], "choose from"),
        (["mcp", "call"], "needs SERVER and TOOL"),
        (["mcp", "call", "nobody", "x"], "no tool server 'nobody'"),
        (["mcp", "call", "srv", "echo", "[1]"], "JSON object"),
        (["mcp", "call", "srv", "echo", "{"], "not JSON"),
        (["mcp", "resources"], "needs SERVER"),
    ],
)
def test_a_wrong_command_line(bench: Bench, words: list[str], word: str) -> None:
    done = bench.run(*words, "--mcp-config", config(bench, "ok"), "--json")
    assert (done.status, done.last["kind"]) == (2, "usage")
    assert word in done.last["message"]
    assert started(bench) == 0


# -- the file


def read(tmp_path: Path, text: str, toml: str = "", environ: Mapping[str, str] | None = None) -> Any:
    file, settings = tmp_path / "mcp.json", tmp_path / "named.toml"
    file.write_text(text)
    settings.write_text(toml)
    wishes = Wishes(settings=str(settings), mcp_config=str(file))
    return read_settings(wishes, environ={"HOME": str(tmp_path), **(environ or {})}, folder=tmp_path)


def test_the_common_form_is_read(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        json.dumps(
            {
                "mcpServers": {
                    "one": {
                        "command": "c",
                        "args": ["a&b"],
                        "env": {"K": "canary"},
                        "type": "stdio",
                        "cwd": "sub",
                    },
                    "two": {"url": "https://h/mcp", "headers": {"A": "b"}, "type": "http", "autoApprove": []},
                    "off": {"command": "c", "disabled": True},
                }
            }
        ),
    )
    servers = reading.settings.mcp.servers
    assert set(servers) == {"one", "two"} == reading.permitted_servers
    assert (servers["one"].command, servers["one"].args) == ("c", ("a&b",))
    assert servers["one"].cwd == str(tmp_path / "sub")
    assert servers["two"].headers == {"A": "b"}
    assert any("autoApprove" in note for note in reading.notes)
    assert any("'off' is disabled" in note for note in reading.notes)
    assert "canary" not in repr(reading.settings)


def test_P2_two_servers_of_one_name_are_told_and_never_mixed(tmp_path: Path) -> None:
    twin = '{"mcpServers": {"s": {"command": "first"}, "s": {"command": "second"}}}'
    reading = read(tmp_path, twin, '[mcp.servers.s]\ncommand = "old"\nenv = {SECRET = "x"}\n')
    assert reading.settings.mcp.servers["s"].command == "first"
    assert reading.settings.mcp.servers["s"].env == {}
    assert any("two servers are called 's'; the second" in note for note in reading.notes)
    assert any("two tool servers are called 's'" in note and "named.toml" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ("[]", "mcpServers"),
        ('{"servers": {}}', "mcpServers"),
        ('{"mcpServers": {"s": 5}}', "mcp.servers.s"),
        ('{"mcpServers": {"s": {}}}', "either a command or a url"),
        ('{"mcpServers": {"s": {"command": "c", "type": "sse"}}}', "'sse'"),
        ('{"mcpServers": {"s": {"command": "c", "args": "x"}}}', "expected a list"),
        ('{"mcpServers": {"s": {"command": "c", "protocol": "1999-01-01"}}}', "2026-07-28"),
    ],
)
def test_a_file_that_can_not_be_used_says_why(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(SettingsError, match=word):
        read(tmp_path, text)


def test_a_file_that_is_missing_is_a_fault(tmp_path: Path) -> None:
    found = mcp_config(tmp_path / "none.json", "none.json")
    assert "No such file" in found.layer.faults[0]


def servers_of(values: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    settings = Settings.from_mapping({"mcp": {"servers": values}})
    return tool_servers(settings, environ, ["/"], None, None, None)  # type: ignore[arg-type]


def test_variables_stand_for_secrets_and_one_that_is_missing_is_a_fault() -> None:
    values = {"s": {"command": "c", "args": ["${KEEP}"], "env": {"A": "x${ONE}y", "B": "${TWO:-two}"}}}
    (server,) = servers_of(values, {"ONE": "canary"})
    assert "${KEEP}" in server.shows
    assert "A, B" in server.shows
    assert "canary" not in server.shows
    with pytest.raises(SettingsError, match=r"mcp\.servers\.s\.env: the variable ONE is not set"):
        servers_of(values, {})


def test_a_password_in_a_url_is_not_shown() -> None:
    (server,) = servers_of({"s": {"url": "https://u:canary@h/mcp"}}, os.environ)
    assert server.shows == "https://***@h/mcp"
