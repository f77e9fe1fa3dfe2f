"""
Servers that others wrote. One of them runs always; the rest with `make test-peers`.

Skipped, with the reason, where they can't be installed.
"""

import json
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.mcp.http import HttpChannel
from norma.adapters.mcp.server import McpServer
from norma.adapters.system.clock import SystemClock
from norma.adapters.wires.losses import TABLE
from norma.domain.model.blocks import Audio, Document, Image, ResultBlock, Text, ToolCall, ToolResult, text_of
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.secrets import Secret
from norma.ports.tool_server import Filled, Offers, Sampled
from tests.rigs.mcp_servers import Servers, until
from tests.rigs.real_servers import npm_server, python_servers
from tests.rigs.wire_models import WIRES, an_egress

OWN = Path(__file__).parents[2] / "rigs" / "own_servers"
INSTALLING = pytest.mark.timeout(300)


def all_offers(asked: list[str]) -> Offers:
    async def sample(server: str, request: ReplyRequest) -> Sampled:
        asked.append("sample")
        return Sampled(Text("an answer of the model"), "m", "end_turn")

    async def elicit(server: str, message: str, schema: Mapping[str, Any]) -> Filled:
        asked.append("elicit")
        return Filled("decline")

    return Offers(("/project",), sample, elicit)


async def encoded_on_each_wire(blocks: tuple[ResultBlock, ...]) -> None:
    """M14: each wire carries a result of these blocks, and says of each loss what its table allows."""
    call = Message("assistant", (ToolCall("c1", "mcp__s__x", {}),))
    asked = Message("user", (Text("go"),))
    request = ReplyRequest((asked, call, Message("tool", (ToolResult("c1", blocks),))))
    async with an_egress() as egress:
        for wire, kind in WIRES.items():
            model = kind(egress, SystemClock(), base_url="http://127.0.0.1:1", model="m", api_key=Secret("k"))
            sent = model.encode(request)
            assert b"c1" in sent.body
            for loss in sent.losses:
                if loss.what in TABLE[wire]:
                    assert loss.fate in TABLE[wire][loss.what].fates
                assert loss.why


@INSTALLING
async def test_P1_to_P7_everything(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    program = npm_server("everything")
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    asked: list[str] = []
    server = servers.program([program], offers=all_offers(asked))
    await server.connect()
    assert server.info is not None
    assert server.info.protocol == "2025-11-25"
    tools = {tool.name: tool for tool in server.tools}
    assert {"echo", "get-tiny-image", "trigger-sampling-request", "get-roots-list"} <= set(tools)
    assert any("simulate-research-query" in note and "as a task" in note for note in server.notes)

    async def called(name: str, **arguments: Any) -> tuple[ResultBlock, ...]:
        return (await server.call(name, arguments)).blocks

    assert text_of(await called("echo", message="héllo ✓")) == "Echo: héllo ✓"
    wrong = await server.call("get-sum", {"a": "x"})
    assert wrong.is_error
    image = await called("get-tiny-image")
    assert [type(block) for block in image if not isinstance(block, Text)] == [Image]
    links = await called("get-resource-links", count=2)
    assert text_of(links).count("[resource link demo://") == 2
    inside = await called("get-resource-reference", resourceType="Text", resourceId=1)
    assert "[resource demo://" in text_of(inside)
    blob = await called("get-resource-reference", resourceType="Blob", resourceId=1)
    assert any(isinstance(block, Document) for block in blob)
    weather = await called("get-structured-content", location="New York")
    assert len(weather) == 1
    assert "temperature" in json.loads(text_of(weather))
    for blocks in (image, links, inside, blob, weather):
        await encoded_on_each_wire(blocks)

    steps: list[str] = []
    await server.call("trigger-long-running-operation", {"duration": 0.4, "steps": 4}, steps.append)
    assert [step for step in steps if step.endswith("of 4")] == [f"{n} of 4" for n in range(1, 5)]
    assert "file:///project" in text_of(await called("get-roots-list"))
    assert "an answer of the model" in text_of(await called("trigger-sampling-request", prompt="p"))
    assert "declined" in text_of(await called("trigger-elicitation-request"))
    assert asked == ["sample", "elicit"]
    environment = text_of(await called("get-env"))
    assert "PATH" in environment
    assert "canary" not in environment

    resources = await server.resources()
    assert any(resource.template for resource in resources)
    plain = next(resource for resource in resources if not resource.template)
    assert text_of(await server.read(plain.uri))
    prompts = {prompt.name: prompt for prompt in await server.prompts()}
    with_arguments = next(prompt for prompt in prompts.values() if prompt.arguments)
    messages = await server.prompt(with_arguments.name, {gap.name: "x" for gap in with_arguments.arguments})
    assert messages[0].role == "user"
    # Its timer keeps it alive when its input ends, so that only a signal ends it.
    await called("toggle-simulated-logging")
    await server.aclose()


@INSTALLING
@pytest.mark.peers
async def test_filesystem_memory_and_sequential_thinking(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("alpha")
    files = servers.program([npm_server("filesystem"), str(tmp_path)])
    await files.connect()
    read = await files.call("read_text_file", {"path": str(tmp_path / "a.txt")})
    assert text_of(read.blocks) == "alpha"
    outside = await files.call("read_text_file", {"path": "/etc/hostname"})
    assert outside.is_error
    memory = servers.program([npm_server("memory")], env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")})
    await memory.connect()
    entity = {"name": "Norma", "entityType": "engine", "observations": ["talks MCP"]}
    await memory.call("create_entities", {"entities": [entity]})
    assert "talks MCP" in text_of((await memory.call("read_graph", {})).blocks)
    thinking = servers.program([npm_server("sequential-thinking")])
    await thinking.connect()
    thought = {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    (tool,) = thinking.tools
    assert not (await thinking.call(tool.name, thought)).is_error


@INSTALLING
@pytest.mark.peers
async def test_fetch_git_and_time(servers: Servers, tmp_path: Path) -> None:
    python = python_servers()
    time = servers.program([python, "-m", "mcp_server_time", "--local-timezone", "UTC"])
    await time.connect()
    assert "UTC" in text_of((await time.call("get_current_time", {"timezone": "UTC"})).blocks)
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)  # noqa: ASYNC221 - before anything runs
    (repository / "new.txt").write_text("x")
    git = servers.program([python, "-m", "mcp_server_git", "-r", str(repository)])
    await git.connect()
    assert len(git.tools) == 12
    assert "new.txt" in text_of((await git.call("git_status", {"repo_path": str(repository)})).blocks)
    fetch = servers.program([python, "-m", "mcp_server_fetch"])
    await fetch.connect()
    assert [tool.name for tool in fetch.tools] == ["fetch"]
    assert (await fetch.call("fetch", {"url": "http://127.0.0.1:1/"})).is_error


@INSTALLING
@pytest.mark.peers
@pytest.mark.parametrize("protocol", [None, "2025-06-18", "2024-11-05", "2026-07-28"])
async def test_P1_own_servers_in_both_generations(servers: Servers, protocol: str | None) -> None:
    python = python_servers()
    own = servers.program([python, str(OWN / "with_mcp.py")], protocol=protocol)
    await own.connect()
    assert own.info is not None
    assert own.info.protocol == (protocol or "2025-11-25")
    await uses_own(own)
    fast = servers.program([python, str(OWN / "with_fastmcp.py")], protocol=protocol)
    await fast.connect()
    greeting = await fast.call("greet", {"name": "Norma"})
    assert json.loads(text_of(greeting.blocks)) == {"greeting": "Hello, Norma!"}
    steps: list[str] = []
    assert text_of((await fast.call("count", {"most": 3}, steps.append)).blocks) == "counted"
    assert [step.partition(" ")[0].rstrip(".0") for step in steps] == ["1", "2", "3"]


@INSTALLING
@pytest.mark.peers
@pytest.mark.parametrize("protocol", [None, "2026-07-28"])
async def test_P1_an_own_server_over_http(protocol: str | None, tmp_path: Path) -> None:
    python = python_servers()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [python, str(OWN / "with_mcp.py"), str(port)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:  # noqa: ASYNC220
        egress, clock = Egress(NetworkPolicy("none"), environ={}), SystemClock()
        url = f"http://127.0.0.1:{port}/mcp"
        try:
            await until(lambda: _listens(port), "the server")
            server = McpServer(
                "h", url, lambda: HttpChannel("h", url, {}, egress, clock), clock, protocol=protocol
            )
            try:
                await server.connect()
                await uses_own(server)
            finally:
                await server.aclose()
        finally:
            await egress.aclose()
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def uses_own(server: McpServer) -> None:
    assert text_of((await server.call("add", {"a": 2, "b": 3})).blocks) == "5"
    mixed = (await server.call("mixed", {})).blocks
    assert [type(block) for block in mixed[:3]] == [Text, Audio, Image]
    assert mixed[1] == Audio("audio/wav", "UklGRiQAAABXQVZF")
    await encoded_on_each_wire(mixed)
    failed = await server.call("fails", {})
    assert failed.is_error
    assert "fails" in text_of(failed.blocks)
    (resource,) = await server.resources()
    assert "the note" in text_of(await server.read(resource.uri))
    (prompt,) = await server.prompts()
    (message,) = await server.prompt(prompt.name, {"code": "x = 1"})
    assert "x = 1" in text_of(message.blocks)
