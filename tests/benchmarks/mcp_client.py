"""
Norma's MCP client against its floor, over one server, in interleaved processes.

    python tests/benchmarks/mcp_client.py --bench DIR [--sdk PYTHON] [--rounds 5]

DIR holds `client.py` (peers `raw` and `mcp`) and `echo_server.py`. Client and server have a core each.
PYTHON is one that has the official SDK. Prints medians and ratios to the floor; ratios inside one run count.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CASES = (
    ("seq", ["--work", "seq"]),
    ("conc", ["--work", "conc"]),
    ("1 MB", ["--work", "big"]),
    ("4 MB", ["--work", "big", "--size", str(4 << 20), "--n", "5"]),
)


def server_command(bench: Path, core: str) -> tuple[str, list[str]]:
    return "taskset", ["-c", core, sys.executable, "-S", "-E", str(bench / "echo_server.py")]


async def work(args: argparse.Namespace) -> dict[str, Any]:
    from norma.adapters.mcp.environment import minimal_environment
    from norma.adapters.mcp.server import McpServer
    from norma.adapters.mcp.stdio import StdioChannel, shown_command
    from norma.adapters.system.clock import SystemClock
    from norma.domain.model.blocks import text_of

    command, words = server_command(args.bench, args.server_core)
    env = minimal_environment(os.environ, {})
    server = McpServer(
        "bench",
        shown_command(command, words),
        lambda: StdioChannel("bench", command, words, env=env, cwd=os.getcwd()),
        SystemClock(),
    )

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return text_of((await server.call(name, arguments)).blocks)

    try:
        await server.connect()
        for _ in range(5):
            await call("echo", {"text": "warm"})
        if args.work == "big":
            await call("big", {"size": args.size})
        wall, cpu = time.perf_counter(), time.process_time()
        if args.work == "seq":
            for i in range(args.n):
                assert await call("echo", {"text": f"call {i}"}) == f"call {i}"
        elif args.work == "conc":
            texts = await asyncio.gather(*(call("echo", {"text": f"call {i}"}) for i in range(args.n)))
            assert texts == [f"call {i}" for i in range(args.n)]
        else:
            for _ in range(args.n):
                assert len(await call("big", {"size": args.size})) > args.size - 100
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return {"seconds": wall, "cpu_seconds": cpu, "events": args.n}
    finally:
        await server.aclose()


def one(python: str, script: Path, words: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        ["taskset", "-c", "0", python, str(script), *words], capture_output=True, text=True, timeout=120
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise SystemExit(f"{script.name} {words} failed:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(lines[-1])
    if "error" in measured:
        raise SystemExit(f"{script.name} {words} failed: {measured['error']}")
    return measured


def compare(args: argparse.Namespace) -> None:
    theirs = args.bench / "client.py"
    peers = {
        "raw": (sys.executable, theirs, ["--peer", "raw"]),
        "norma": (sys.executable, Path(__file__), ["--bench", str(args.bench)]),
    }
    if args.sdk:
        peers["mcp"] = (args.sdk, theirs, ["--peer", "mcp"])
    for case, words in CASES:
        rows: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
        for _ in range(args.rounds):
            for peer, (python, script, more) in peers.items():
                rows[peer].append(one(python, script, [*more, *words]))
        floor = {key: _median(rows["raw"], key) for key in ("seconds", "cpu_seconds")}
        for peer, measured in rows.items():
            wall, cpu = (_median(measured, key) for key in ("seconds", "cpu_seconds"))
            each = 1e6 / measured[0]["events"]
            print(
                f"{case:5} {peer:6} wall {wall * each:9.1f} us ({wall / floor['seconds']:5.2f}x)   "
                f"CPU {cpu * each:9.1f} us ({cpu / floor['cpu_seconds']:5.2f}x)",
                flush=True,
            )


def _median(rows: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(row[key] for row in rows))


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--sdk")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", choices=["seq", "conc", "big"])
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--server-core", default=str((os.cpu_count() or 2) - 1))
    args = parser.parse_args()
    if args.work is None:
        compare(args)
        return
    args.n = args.n or {"big": 20}.get(args.work, 1000)
    print(json.dumps({"peer": "norma", "work": args.work, **asyncio.run(work(args))}), flush=True)


if __name__ == "__main__":
    main()
