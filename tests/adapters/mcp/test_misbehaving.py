"""Every mode of the server that misbehaves: what the client makes of it (P1 to P8)."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.mcp.server import McpServer
from norma.domain.model.blocks import Audio, Document, Image, Text, text_of
from norma.domain.model.requests import ReplyRequest
from norma.domain.tools.remote_names import tool_names
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import Offers, OutcomeUnknown, Sampled, ServerFailed
from tests.rigs.mcp_servers import BOUND_S, Servers, alive, until

ECHO = {"text": "grüße ✓"}


async def echoed(server: McpServer) -> str:
    output = await server.call("echo", ECHO)
    assert not output.is_error
    return text_of(output.blocks)


@pytest.mark.parametrize(
    "mode",
    ["ok", "crlf", "split_utf8", "banner", "bad_utf8", "batch", "stderr_flood", "stderr_no_newline",
     "ping_first", "asks_roots", "asks_sampling", "version_old", "list_changed", "log_flood", "rug_pull"],
)  # fmt: skip
async def test_P4_calls_work_all_the_same(servers: Servers, mode: str) -> None:
    server = servers.misbehaving(mode)
    await server.connect()
    assert {tool.name for tool in server.tools} >= {"echo", "size", "count"}
    for _ in range(3):
        assert await echoed(server) == ECHO["text"]


async def test_P1_the_order_of_a_life(servers: Servers) -> None:
    server = servers.misbehaving("ok")
    await server.connect()
    await echoed(server)
    seen = [next(iter(entry)) for entry in servers.log()]
    assert seen == ["init", "notification", "list", "call"]
    (init,) = servers.logged("init")
    assert init == {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "norma", "version": "0.2"},
    }
    assert servers.logged("notification") == ["notifications/initialized"]
    assert server.info is not None
    assert server.info.protocol == "2025-11-25"
    assert server.info.capabilities == {"tools": {"listChanged": True}}


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("version_future", ("2099-01-01", "2025-11-25")),
        ("version_missing", ("no protocol version", "2025-11-25")),
        ("modern_only", ("Unsupported protocol version", "-32022", "2026-07-28")),
    ],
)
async def test_P1_versions_that_do_not_meet(servers: Servers, mode: str, words: tuple[str, ...]) -> None:
    server = servers.misbehaving(mode)
    with pytest.raises(ServerFailed) as caught:
        await server.connect()
    assert all(word in str(caught.value) for word in words)


async def test_P1_no_tools_is_no_fault(servers: Servers) -> None:
    for mode in ("no_list", "no_caps"):
        server = servers.misbehaving(mode)
        await server.connect()
        assert server.tools == ()
        assert server.notes == ()
    assert servers.logged("list") == []


async def test_P2_pages_are_followed(servers: Servers) -> None:
    server = servers.misbehaving("pages")
    await server.connect()
    assert [tool.name for tool in server.tools] == ["echo", "size", "count"]
    assert servers.logged("cursor") == [None, "p2", "p3"]


async def test_P2_a_cursor_that_repeats_ends_the_list(servers: Servers) -> None:
    server = servers.misbehaving("pages_loop")
    await server.connect()
    assert [tool.name for tool in server.tools] == ["echo", "size", "count"]
    assert "repeats its cursor" in server.notes[0]
    assert len(servers.logged("list")) == 2


async def test_P2_new_tools_are_there_after_the_call_that_brought_them(servers: Servers) -> None:
    server = servers.misbehaving("list_changed")
    await server.connect()
    before = server.tools
    await echoed(server)
    assert "late" in {tool.name for tool in server.tools}
    after = server.tools
    await echoed(server)
    assert before is not after
    assert server.tools is after


async def test_P2_a_storm_of_notices_is_a_few_lists(servers: Servers) -> None:
    server = servers.misbehaving("list_changed_storm")
    await server.connect()
    await echoed(server)
    assert "late" in {tool.name for tool in server.tools}
    for _ in range(20):
        await echoed(server)
    assert len(servers.logged("list")) <= 4


async def test_P2_names_are_mapped_and_the_original_is_called(servers: Servers) -> None:
    server = servers.misbehaving("names")
    await server.connect()
    names = tool_names("s", [tool.name for tool in server.tools])
    assert len(names) == len(set(names.values())) == 11
    assert any("without a name" in note for note in server.notes)
    for original in names:
        await server.call(original, {})
    assert servers.logged("call") == list(names)


async def test_P2_twins_on_one_server_are_told_and_left_out(servers: Servers) -> None:
    server = servers.misbehaving("dup_tools")
    await server.connect()
    assert [(tool.name, tool.description) for tool in server.tools] == [("echo", "first")]
    assert "'echo'" in server.notes[0]
    assert "two of this name" in server.notes[0]


async def test_P2_schemas_are_mended_or_left_out_with_a_reason(servers: Servers) -> None:
    server = servers.misbehaving("bad_schema")
    await server.connect()
    tools = {tool.name: tool.input_schema for tool in server.tools}
    assert set(tools) >= {
        "no_schema",
        "null_schema",
        "true_schema",
        "no_type",
        "top_oneof",
        "with_ref",
        "good",
    }
    assert all(schema["type"] == "object" for schema in tools.values())
    assert "dangling_ref" not in tools
    assert any("dangling_ref" in note and "#/$defs/Nowhere" in note for note in server.notes)
    assert "$ref" not in json.dumps(tools["recursive_ref"])
    assert "$ref" in json.dumps(tools["with_ref"])


async def test_P3_every_kind_of_content_in_order(servers: Servers) -> None:
    server = servers.misbehaving("content_mix")
    await server.connect()
    blocks = (await server.call("echo", {})).blocks
    assert [type(block) for block in blocks] == [
        Text, Image, Audio, Text, Text, Document, Text, Text, Text,
    ]  # fmt: skip
    assert isinstance(blocks[1], Image)
    assert blocks[1].media_type == "image/png"
    assert isinstance(blocks[2], Audio)
    assert (blocks[2].media_type, blocks[2].data) == ("audio/wav", "UklGRiQAAABXQVZF")
    assert isinstance(blocks[5], Document)
    assert (blocks[5].media_type, blocks[5].data, blocks[5].name) == (
        "application/pdf", "JVBERi0xLjQ=", "note://3",
    )  # fmt: skip
    texts = [block.text for block in blocks if isinstance(block, Text)]
    assert texts[0] == "first"
    assert texts[-1] == "last"
    assert "note://1" in texts[1]
    assert "inside a resource" in texts[2]
    assert "note://2" in texts[2]
    assert "hologram" in texts[3]
    assert "base64" in texts[4]


async def test_P3_structure_without_content(servers: Servers) -> None:
    server = servers.misbehaving("structured_only")
    await server.connect()
    output = await server.call("echo", {})
    assert json.loads(text_of(output.blocks)) == {"answer": 42, "items": ["a", "b"]}


async def test_P3_results_of_any_shape(servers: Servers) -> None:
    server = servers.misbehaving("odd_results")
    await server.connect()
    outputs = [await server.call("echo", {}) for _ in range(11)]
    assert [output.is_error for output in outputs] == [
        False, False, False, True, False, False, False, False, True, False, True,
    ]  # fmt: skip
    said = [text_of(output.blocks) for output in outputs]
    assert said[2] == "plain string"
    assert "text without any text" in said[4]
    assert said[5].endswith("kept")
    assert said[7] == "text"
    assert said[9] == "2024 legacy shape"
    assert said[10] == "t"


async def test_P3_errors_are_error_results_with_what_there_is(servers: Servers) -> None:
    server = servers.misbehaving("odd_errors")
    await server.connect()
    outputs = [await server.call("echo", {}) for _ in range(6)]
    assert [output.is_error for output in outputs] == [True, True, True, True, False, True]
    said = [text_of(output.blocks) for output in outputs]
    assert "-32000" in said[0]
    assert said[1] == "no code"
    assert "5" in said[2]
    assert said[3] == "just text"
    assert said[4] == "result beside a null error"


async def test_P4_long_lines(servers: Servers) -> None:
    server = servers.misbehaving("ok")
    await server.connect()
    for size in (70_000, 1 << 20, (8 << 20) - 200):
        assert len(text_of((await server.call("size", {"n": size})).blocks)) == size
    waiting = asyncio.create_task(server.call("echo", ECHO))
    with pytest.raises(ServerFailed, match=str(8 << 20)):
        await server.call("size", {"n": (8 << 20) + 1})
    assert text_of((await waiting).blocks) == ECHO["text"]
    assert await echoed(server) == ECHO["text"]


async def test_P4_both_sides_write_at_once(servers: Servers) -> None:
    server = servers.misbehaving("ok")
    await server.connect()
    big = "é" * (1 << 19)
    calls = [server.call("echo", {"text": big}), *(server.call("echo", {"text": str(n)}) for n in range(10))]
    outputs = await asyncio.wait_for(asyncio.gather(*calls), BOUND_S)
    assert [text_of(output.blocks) for output in outputs] == [big, *map(str, range(10))]


async def test_P4_an_unknown_id_and_a_duplicate_change_nothing(servers: Servers) -> None:
    server = servers.misbehaving("wrong_id_first")
    await server.connect()
    for _ in range(3):
        assert text_of((await server.call("echo", ECHO)).blocks) == "right"


async def test_P4_an_id_as_text_is_no_answer_and_the_deadline_says_so(servers: Servers) -> None:
    server = servers.misbehaving("string_id", call_s=1.5)
    await server.connect()
    with pytest.raises(ServerFailed, match=r"within 1.5 s \(1 things.*the id '3'"):
        await server.call("echo", ECHO)


async def test_P4_a_frame_over_many_lines_ends_at_the_deadline_with_a_hint(servers: Servers) -> None:
    server = servers.misbehaving("pretty", request_s=3.0)
    with pytest.raises(ServerFailed, match=r"the handshake within 3 s .*no JSON"):
        await server.connect()


async def test_P4_a_last_line_without_its_end_counts(servers: Servers) -> None:
    server = servers.misbehaving("no_final_newline")
    await server.connect()
    assert await echoed(server) == ECHO["text"]
    with pytest.raises(ServerFailed, match="exit status 0"):
        await server.call("echo", ECHO)


async def test_P5_what_servers_ask_is_answered(servers: Servers) -> None:
    for mode in ("ping_first", "asks_roots", "asks_sampling"):
        server = servers.misbehaving(mode)
        await server.connect()
        await echoed(server)
    answers = servers.logged("answer_from_client")
    assert answers[0] == {"jsonrpc": "2.0", "id": "srv-ping-1", "result": {}}
    assert [answer["error"]["code"] for answer in answers[1:]] == [-32601, -32601]
    assert [answer["id"] for answer in answers[1:]] == [9001, 9002]


async def test_P5_what_the_host_offers_is_given(servers: Servers) -> None:
    async def sample(server: str, request: ReplyRequest) -> Sampled:
        assert (server, request.options.max_tokens) == ("s", 5)
        return Sampled(Text("sampled"), "model", "end_turn")

    offers = Offers(roots=("/project/a b",), sample=sample)
    for mode in ("asks_roots", "asks_sampling"):
        server = servers.misbehaving(mode, offers=offers)
        await server.connect()
        await echoed(server)
        await echoed(server)
    roots, sampled = servers.logged("answer_from_client")
    assert roots["result"] == {"roots": [{"uri": "file:///project/a%20b", "name": "a b"}]}
    assert sampled["result"]["content"] == {"type": "text", "text": "sampled"}
    assert sampled["result"]["stopReason"] == "endTurn"
    assert servers.logged("init")[0]["capabilities"] == {"roots": {}, "sampling": {}}


async def test_P6_the_handshake_has_a_deadline(servers: Servers) -> None:
    server = servers.misbehaving("never_init", request_s=0.5)
    with pytest.raises(ServerFailed, match=r"did not answer the handshake within 0\.5 s"):
        await server.connect()
    assert servers.logged("notification") == []  # initialize is never cancelled


async def test_P6_a_slow_start_within_the_deadline_is_fine(servers: Servers) -> None:
    server = servers.misbehaving("slow_init", "1.2")
    await server.connect()
    assert await echoed(server) == ECHO["text"]


async def test_P6_deadline_notice_and_late_answer(servers: Servers) -> None:
    server = servers.misbehaving("late_reply", "0.6", call_s=0.3)
    await server.connect()
    with pytest.raises(ServerFailed, match=r"within 0\.3 s") as caught:
        await server.call("echo", {"text": "first"})
    assert caught.value.failure.kind == "timeout"
    assert server.waiting == 0
    first = [entry for entry in servers.log() if entry.get("notification") == "notifications/cancelled"]
    for _ in range(200):
        assert text_of((await server.call("echo", {"text": "second"})).blocks) == "second"
        if first:
            break
        first = [entry for entry in servers.log() if entry.get("notification") == "notifications/cancelled"]
    assert [entry["params"]["requestId"] for entry in first] == [3]


async def test_P6_a_cancelled_call_is_told_once_and_the_next_one_works(servers: Servers) -> None:
    server = servers.misbehaving("never_reply")
    await server.connect()
    call = asyncio.create_task(server.call("echo", ECHO))
    await until(lambda: servers.logged("call"), "the call")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert server.waiting == 0
    assert text_of((await server.call("size", {"n": 3})).blocks) == "xxx"
    notices = [entry for entry in servers.log() if entry.get("notification") == "notifications/cancelled"]
    assert [notice["params"]["requestId"] for notice in notices] == [3]


async def test_P6_progress_never_extends_the_deadline(servers: Servers) -> None:
    server = servers.misbehaving("progress_forever", call_s=1.5)
    await server.connect()
    seen: list[str] = []
    began = time.monotonic()
    with pytest.raises(ServerFailed, match=r"within 1\.5 s"):
        await server.call("echo", ECHO, seen.append)
    assert time.monotonic() - began < BOUND_S
    assert seen[0] == "1"


async def test_P6_a_host_that_fails_to_show_progress_loses_no_answer(servers: Servers) -> None:
    def broken(line: str) -> None:
        raise RuntimeError("no screen")

    server = servers.misbehaving("progress_forever", call_s=1.0)
    await server.connect()
    with pytest.raises(ServerFailed, match=r"within 1 s .*no screen"):
        await server.call("echo", ECHO, broken)


async def test_P6_a_flood_of_notices_stays_out_of_memory(servers: Servers) -> None:
    server = servers.misbehaving("log_flood")
    await server.connect()
    before = resident()
    assert await echoed(server) == ECHO["text"]
    assert resident() - before < 20_000_000


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_P7_the_environment_is_a_short_list(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("X_TOKEN", "canary")
    monkeypatch.setenv("HTTPS_PROXY", "http://u:canary@proxy")
    server = servers.misbehaving("env_dump", env={"A": "1"})
    await server.connect()
    names = set(json.loads(text_of((await server.call("echo", {})).blocks)))
    assert {"A", "PATH"} <= names
    short = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ"}
    assert {name for name in names if not name.startswith("LC_")} <= short | {"A", "NORMA_FIXTURE_LOG"}


async def test_P7_a_flood_on_stderr_is_bounded(servers: Servers) -> None:
    from norma.adapters.mcp.stderr import KEPT_BYTES, StderrTail

    tail = StderrTail()
    for _ in range(100):
        tail.add(b"\rprogress" * 5_000)
    assert len(tail.text()) <= KEPT_BYTES
    assert len(tail.shown()) <= 2_000


async def test_P7_who_ignores_everything_is_killed_with_all_it_started(servers: Servers) -> None:
    script = f"{sys.executable} {servers.fixtures / 'misbehave.py'} ignores_term; :"
    server = servers.program(["sh", "-c", script])
    await server.connect()
    assert await echoed(server) == ECHO["text"]
    pids = [*servers.logged("server_pid"), *servers.logged("grandchild_pid")]
    assert len(pids) == 2
    assert all(map(alive, pids))
    began = time.monotonic()
    await server.aclose()
    assert time.monotonic() - began < 5 + 2  # the rule's 5 s, and 2 for a busy machine
    assert not any(map(alive, pids))


async def test_P8_death_fails_all_that_wait_with_status_and_last_words(servers: Servers) -> None:
    server = servers.misbehaving("die_on_call")
    await server.connect()
    calls = [asyncio.create_task(server.call("echo", ECHO)) for _ in range(3)]
    ended, _ = await asyncio.wait(calls, timeout=BOUND_S)
    assert len(ended) == 3
    for call in calls:
        error = call.exception()
        assert isinstance(error, OutcomeUnknown)
        assert "exit status 3" in str(error)
        assert "fatal: database is locked" in str(error)
        assert "unknown" in str(error)
    with pytest.raises(ServerFailed, match=r"(?s)database is locked.*not started again"):
        await server.call("echo", ECHO)


async def test_P8_a_start_that_fails_says_what_there_is(servers: Servers) -> None:
    server = servers.misbehaving("exit_at_once")
    with pytest.raises(ServerFailed) as caught:
        await server.connect()
    for word in ("server s", "misbehave.py exit_at_once", "exit status 1", "missing API key"):
        assert word in str(caught.value)


async def test_P8_a_command_that_is_missing_or_no_program(servers: Servers, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for command, word in ((["no-such-program-x"], "No such file"), ([str(plain)], "Permission denied")):
        server = servers.program(command)
        with pytest.raises(ServerFailed, match=word):
            await server.connect()


async def test_P8_the_next_use_starts_it_again_within_its_budget(servers: Servers) -> None:
    server = servers.misbehaving("die_on_call", restarts=2)
    await server.connect()
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            await server.call("echo", ECHO)
    with pytest.raises(ServerFailed, match="2 restarts") as caught:
        await server.call("echo", ECHO)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert len(servers.logged("init")) == 3


async def test_P8_an_effect_is_never_repeated(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    server = servers.misbehaving("die_after_effect", str(ledger), restarts=3)
    await server.connect()
    with pytest.raises(OutcomeUnknown, match="unknown"):
        await server.call("echo", ECHO)
    assert ledger.read_text() == "effect\n"


REPEATABLE = """
import json, os, sys
ledger, hint = sys.argv[1], sys.argv[2]
def send(frame): sys.stdout.write(json.dumps(frame) + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    frame = json.loads(line)
    number, method = frame.get("id"), frame["method"]
    if method == "initialize":
        send({"jsonrpc": "2.0", "id": number, "result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}})
    elif method == "tools/list":
        send({"jsonrpc": "2.0", "id": number, "result": {"tools": [
            {"name": "do", "inputSchema": {"type": "object"}, "annotations": {hint: True}}]}})
    elif method == "tools/call":
        with open(ledger, "a") as file: file.write("effect\\n")
        if len(open(ledger).readlines()) == 1: os._exit(9)
        send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": "done"}]}})
"""


@pytest.mark.parametrize(
    ("hint", "lines"), [("readOnlyHint", 2), ("idempotentHint", 2), ("destructiveHint", 1), ("title", 1)]
)
async def test_P8_only_what_says_that_it_may_be_is_repeated(
    servers: Servers, tmp_path: Path, hint: str, lines: int
) -> None:
    ledger = tmp_path / "ledger"
    server = servers.program([sys.executable, "-c", REPEATABLE, str(ledger), hint], restarts=3)
    await server.connect()
    outcome: Any
    try:
        outcome = await server.call("do", {})
    except OutcomeUnknown as error:
        outcome = error
    assert ledger.read_text().count("effect") == lines
    assert isinstance(outcome, ToolOutput if lines == 2 else OutcomeUnknown)


async def test_P8_the_end_of_the_process_is_seen_though_its_pipe_stays_open(servers: Servers) -> None:
    """A process that it left behind holds its stdout."""
    script = f"sleep 300 & exec {sys.executable} {servers.fixtures / 'misbehave.py'} die_on_call"
    server = servers.program(["sh", "-c", script])
    await server.connect()
    with pytest.raises(OutcomeUnknown, match="exit status 3"):
        await asyncio.wait_for(server.call("echo", ECHO), BOUND_S)


async def test_P8_the_end_of_its_output_is_seen_though_it_lives_on(servers: Servers) -> None:
    script = f"{sys.executable} {servers.fixtures / 'misbehave.py'} die_on_call; exec 1>&-; sleep 300"
    server = servers.program(["sh", "-c", script])
    await server.connect()
    with pytest.raises(OutcomeUnknown, match="closed its stdout"):
        await asyncio.wait_for(server.call("echo", ECHO), BOUND_S)


async def test_secrets_of_settings_are_blotted_out_of_last_words(servers: Servers) -> None:
    script = 'import os,sys; sys.stderr.write("bad key " + os.environ["MY_KEY"]); sys.exit(4)'
    server = servers.program([sys.executable, "-c", script], env={"MY_KEY": "canary-secret"})
    with pytest.raises(ServerFailed, match=r"bad key \*\*\*") as caught:
        await server.connect()
    assert "canary" not in str(caught.value)
