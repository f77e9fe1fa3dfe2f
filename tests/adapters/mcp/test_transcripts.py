"""Each transcript is played to its end: the client sent exactly what it expects (P1, P3 to P6)."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from norma.adapters.mcp.server import McpServer
from norma.domain.model.blocks import text_of
from norma.ports.tool_server import ServerFailed
from tests.rigs.fixtures import OURS
from tests.rigs.mcp_servers import BOUND_S, Servers

Play = Callable[[McpServer], Awaitable[None]]


def answers_before_it_lists(transcript: Path, folder: Path) -> Path:
    """
    The transcript for a client that lists in the same breath as it says that it is ready.

    Where a server's request and its answer stand in front of the list, the list comes first, as the fixture
    says.
    """
    lines = [line for line in transcript.read_text("utf-8").splitlines() if not line.startswith("//")]
    steps = [json.loads(line) for line in lines if line.strip()]
    is_list = [step.get("expect", {}).get("method") == "tools/list" for step in steps]
    at = is_list.index(True) if True in is_list else 0
    if at >= 2 and "expect_answer" in steps[at - 1]:
        steps.insert(at - 2, steps.pop(at))
        # The answer to the list is sent where it stood, behind the answer of the client.
    changed = folder / transcript.name
    changed.write_text("\n".join(json.dumps(step) for step in steps))
    return changed


async def played(servers: Servers, transcript: Path, tmp_path: Path, play: Play, call_s: float) -> int:
    """Play it against the client; the replay's exit status."""
    status = tmp_path / "status"
    script = f'{sys.executable} {servers.fixtures / "replay.py"} "$1"; echo $? > {status}'
    server = servers.program(["sh", "-c", script, "sh", str(transcript)], call_s=call_s)
    await play(server)
    await server.aclose()
    return int(status.read_text())


async def calls_once(server: McpServer) -> None:
    await server.connect()
    assert [tool.name for tool in server.tools] == ["echo"]
    assert text_of((await server.call("echo", {})).blocks) == "done"


async def refuses_the_version(server: McpServer) -> None:
    with pytest.raises(ServerFailed, match="2099-01-01"):
        await server.connect()


async def calls_three_at_once(server: McpServer) -> None:
    await server.connect()
    outputs = await asyncio.gather(*(server.call("echo", {"n": n}) for n in range(3)))
    assert [text_of(output.blocks) for output in outputs] == ["first", "second failed (code -32000)", "third"]
    assert [output.is_error for output in outputs] == [False, True, False]


async def gives_up_once(server: McpServer) -> None:
    await server.connect()
    with pytest.raises(ServerFailed, match="within"):
        await server.call("echo", {})
    assert text_of((await server.call("echo", {})).blocks) == "second"


async def is_not_initialized(server: McpServer) -> None:
    with pytest.raises(ServerFailed, match=r"Unsupported protocol version .*2024-11-05"):
        await server.connect()


async def lists_in_part(server: McpServer) -> None:
    await server.connect()
    assert [tool.name for tool in server.tools] == ["echo"]
    assert "broke off: page store down" in server.notes[0]


PLAYS: dict[str, tuple[Play, int]] = {
    "t01": (calls_once, 0),
    "t02": (refuses_the_version, 0),
    "t03": (calls_once, 0),
    "t04": (calls_once, 0),
    "t05": (calls_three_at_once, 0),
    "t06": (gives_up_once, 0),
    "t07": (is_not_initialized, 2),
    "t08": (lists_in_part, 0),
    "t09": (calls_once, 0),
}
TRANSCRIPTS = sorted((OURS / "mcp").glob("*.jsonl"))


def test_every_transcript_is_played() -> None:
    assert {path.name[:3] for path in TRANSCRIPTS} == PLAYS.keys()


@pytest.mark.parametrize("name", [path.name for path in TRANSCRIPTS])
async def test_P1_P3_P4_P5_P6_the_transcript_is_played_to_its_end(
    servers: Servers, tmp_path: Path, name: str
) -> None:
    play, status = PLAYS[re.split("_", name)[0]]
    transcript = answers_before_it_lists(servers.fixtures / name, tmp_path)
    call_s = 0.5 if name.startswith("t06") else BOUND_S
    assert await played(servers, transcript, tmp_path, play, call_s=call_s) == status
