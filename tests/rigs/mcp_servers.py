"""Tool servers for tests: the fixtures as child processes, and a look at what is left of them."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from norma.adapters.mcp.environment import minimal_environment
from norma.adapters.mcp.restarts import RestartPolicy
from norma.adapters.mcp.server import McpServer
from norma.adapters.mcp.stdio import StdioChannel, shown_command
from norma.adapters.system.clock import SystemClock
from norma.ports.tool_server import Offers

BOUND_S = 20.0
"""For what must come in the end, on a machine that is busy with other things."""


class Servers:
    """Makes servers over one folder of fixtures; each notes what it saw in a log of its own."""

    def __init__(self, fixtures: Path, folder: Path) -> None:
        self.fixtures = fixtures
        self.folder = folder
        self.made: list[McpServer] = []

    def misbehaving(self, mode: str, *words: str, **more: Any) -> McpServer:
        """The server that does one thing wrong."""
        return self.program([sys.executable, str(self.fixtures / "misbehave.py"), mode, *words], **more)

    def replayed(self, transcript: Path, **more: Any) -> McpServer:
        """A transcript played as a server."""
        return self.program([sys.executable, str(self.fixtures / "replay.py"), str(transcript)], **more)

    def program(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        offers: Offers | None = None,
        protocol: str | None = None,
        request_s: float | None = BOUND_S,
        call_s: float | None = BOUND_S,
        restarts: int = 0,
        name: str = "s",
    ) -> McpServer:
        """Any program."""
        added = {"NORMA_FIXTURE_LOG": str(self.log_file), **(env or {})}
        whole = minimal_environment(os.environ, added)
        made = McpServer(
            name,
            shown_command(command[0], command[1:]),
            lambda: StdioChannel(
                name,
                command[0],
                command[1:],
                env=whole,
                cwd=str(self.folder),
                secrets=[value for key, value in (env or {}).items() if "KEY" in key],
            ),
            SystemClock(),
            offers=offers,
            protocol=protocol,
            request_s=request_s,
            call_s=call_s,
            restarts=RestartPolicy(restarts, first_wait_s=0.01, most_wait_s=0.05),
        )
        self.made.append(made)
        return made

    @property
    def log_file(self) -> Path:
        """Where the fixtures write."""
        return self.folder / "log.jsonl"

    def log(self) -> list[dict[str, Any]]:
        """What the servers saw, in order."""
        if not self.log_file.exists():
            return []
        return [json.loads(line) for line in self.log_file.read_text().splitlines()]

    def logged(self, key: str) -> list[Any]:
        """What they saw of one kind."""
        return [entry[key] for entry in self.log() if key in entry]

    async def aclose(self) -> None:
        """Close all."""
        for server in self.made:
            await server.aclose()


async def until(condition: Callable[[], object], what: str) -> None:
    """Return as soon as *condition* holds. Bounded."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + BOUND_S
    while not condition():
        assert loop.time() < deadline, f"{what} did not come"
        await asyncio.sleep(0.002)


def children() -> list[int]:
    """The processes, zombies included, that this one has started and that are still there."""
    found: list[int] = []
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        try:
            found += [int(word) for word in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        text = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return text[text.rindex(b")") + 1 :].split()[0] not in (b"Z", b"X")
