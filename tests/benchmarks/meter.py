"""
What each peer shares: its command line, the works, the meter, and the one line of JSON that it prints.

A peer is a class made of the arguments, with these coroutines, each of which returns the events it saw:

    text(url, n)        one reply of n pieces, each in the caller's hands as it comes
    tool(url, size)     one call with *size* bytes of arguments; run it, send the result, read the end
    agent(url, turns)   a conversation with one small call a turn, the whole history going up each time
    first(url)          the moment (CLOCK_MONOTONIC) of the first piece

and, if it needs them, `open` and `close`. Imports nothing heavy: the start of a process is measured, too.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

WIRES = ("chat", "messages", "responses")
PROMPT = "Take the steps one after the other with the tool. Say so when the last one is done."
ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "what to give back"}},
    "required": ["text"],
    "additionalProperties": False,
}
WRITE = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
    "additionalProperties": False,
}
TOOLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("echo", "Give a text back.", ECHO),
    ("write", "Write a file.", WRITE),
)


class Peer(Protocol):
    """What is measured."""

    async def text(self, url: str, n: int) -> int: ...
    async def tool(self, url: str, size: int) -> int: ...
    async def agent(self, url: str, turns: int) -> int: ...
    async def first(self, url: str) -> float: ...


def run_tool(name: str, arguments: dict[str, Any]) -> str:
    """What the tools do: next to nothing."""
    return f"{len(arguments['content'])} characters" if name == "write" else str(arguments["text"])


def first_token() -> float:
    """Now, on the clock on which the runner noted the start of the process."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def main(name: str, make: Callable[[argparse.Namespace], Any], wires: tuple[str, ...] = WIRES) -> None:
    """Do the work of the command line and print its line. A failure of the peer's is a line, too."""
    arguments = _arguments(name, wires)
    variant = f":{arguments.variant}" if arguments.variant else ""
    line: dict[str, Any] = {
        "peer": name + variant,
        "work": arguments.work,
        "wire": arguments.wire,
        "mode": arguments.mode,
        "n": arguments.n,
    }
    if arguments.size:
        line["size"] = arguments.size
    try:
        line |= asyncio.run(_opened(make(arguments), arguments))
    except Exception as error:
        if os.environ.get("BENCH_TRACE"):
            raise
        line["error"] = f"{type(error).__name__}: {error}"[:300]
    line.setdefault("cpu_seconds", time.process_time())
    line["max_rss_mb"] = round(memory_mb("VmHWM"), 1)
    print(json.dumps(line), flush=True)
    os._exit(0)  # some peers leave threads behind, and their end is nobody's work here


def memory_mb(key: str) -> float:
    """`VmRSS` (now) or `VmHWM` (at most) of this process."""
    with open("/proc/self/status") as lines:
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:")), 0.0)


def _arguments(name: str, wires: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--base", required=True, help="where the server is: http://127.0.0.1:PORT")
    parser.add_argument("--wire", default=wires[0], choices=wires)
    parser.add_argument("--work", default="text", choices=("text", "tool", "agent", "many", "first"))
    parser.add_argument("--n", type=int, default=2000, help="pieces of a reply, or turns")
    parser.add_argument("--size", type=int, default=0, help="bytes of arguments")
    parser.add_argument("--mode", default="event", help="how the server cuts its answer")
    parser.add_argument("--concurrency", type=int, default=100, help="conversations at once")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--variant", default="")
    parser.add_argument("--t0", type=float, default=0.0, help="when the process was started")
    return parser.parse_args()


async def _opened(peer: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    if hasattr(peer, "open"):
        await peer.open()
    try:
        return await _measured(peer, arguments)
    finally:
        if hasattr(peer, "close"):
            await peer.close()


async def _measured(peer: Peer, arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.work == "first":
        moment = await peer.first(_url(arguments, "text", arguments.n))
        return {"seconds": moment - arguments.t0, "events": 1, "cpu_seconds": time.process_time()}
    await _warm_up(peer, arguments)
    gc.collect()
    if order := os.environ.get("BENCH_PROFILE"):
        await _profiled(peer, arguments, order)
    idle_mb = memory_mb("VmRSS")
    walls, cpus, events = [], [], 0
    for _ in range(arguments.repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        events = await _work(peer, arguments)
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    return {
        "seconds": sorted(walls)[len(walls) // 2],
        "cpu_seconds": min(cpus),
        "events": events,
        "idle_rss_mb": round(idle_mb, 1),
    }


async def _work(peer: Peer, arguments: argparse.Namespace) -> int:
    n = arguments.n
    match arguments.work:
        case "text":
            return await peer.text(_url(arguments, "text", n), n)
        case "tool":
            return await peer.tool(_url(arguments, "tool", n, arguments.size), arguments.size)
        case "agent":
            return await peer.agent(_url(arguments, "agent", n), n)
        case _:
            url = _url(arguments, "agent", n)
            return sum(await asyncio.gather(*(peer.agent(url, n) for _ in range(arguments.concurrency))))


async def _warm_up(peer: Peer, arguments: argparse.Namespace) -> None:
    """A small case of the same kind: connections, imports and schemas are not what is measured."""
    match arguments.work:
        case "text":
            await peer.text(_url(arguments, "text", 20), 20)
        case "tool":
            await peer.tool(_url(arguments, "tool", 20, 1000), 1000)
        case _:
            await peer.agent(_url(arguments, "agent", 2), 2)


async def _profiled(peer: Peer, arguments: argparse.Namespace, order: str) -> None:
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.enable()
    await _work(peer, arguments)
    profile.disable()
    pstats.Stats(profile, stream=sys.stderr).sort_stats(order).print_stats(45)


def _url(arguments: argparse.Namespace, kind: str, n: int, size: int = 0) -> str:
    """The base URL of a scenario, as a peer of that wire wants it."""
    base = f"{arguments.base}/{kind}-{n}-{size}-{arguments.mode}"
    return base if arguments.wire == "messages" else f"{base}/v1"
