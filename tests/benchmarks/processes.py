"""Processes of the benchmarks: where they run, and what one says."""

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from tools.environment import ROOT

BOUND_S = 120.0
CLIENT_CORE, SERVER_CORE = 0, (os.cpu_count() or 1) - 1

IMPORT = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
{code}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
rss = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS:"))
print(json.dumps(dict(seconds=wall, cpu_seconds=cpu, max_rss_mb=rss / 1024, modules=len(sys.modules))))
"""


def _on(core: int) -> Callable[[], None] | None:
    """What pins a child to *core*, where this system can and there is more than one."""
    if not hasattr(os, "sched_setaffinity") or (os.cpu_count() or 1) < 2:
        return None
    return lambda: os.sched_setaffinity(0, {core})


@frozen
class Bench:
    """
    Starts peers with the environment *variables*, against the server at *base*.

    *python* has Norma's packages alone, *others* also those that Norma is measured against.
    """

    python: Path
    others: Path
    variables: Mapping[str, str]
    base: str

    def peer(self, peer: str, wire: str, arguments: Sequence[str]) -> dict[str, Any]:
        """The line of one run; a run that fails or takes too long is a line with an error."""
        module, _, variant = peer.partition(":")
        python = self.others if module == "sdk" else self.python
        command = [str(python), "-m", f"tests.benchmarks.{module}_peer", "--base", self.base]
        command += ["--wire", wire, *arguments, *(["--variant", variant] if variant else [])]
        before = self._server_cpu()
        line = self._run([*command, "--t0", repr(time.clock_gettime(time.CLOCK_MONOTONIC))])
        return {**line, "peer": peer, "wire": wire, "server_cpu": round(self._server_cpu() - before, 4)}

    def importing(self, peer: str, code: str) -> dict[str, Any]:
        """What *code* costs in a process of its own."""
        python = self.python if peer in ("floor", "norma") else self.others
        return {**self._run([str(python), "-c", IMPORT.format(code=code)]), "peer": peer, "wire": ""}

    def part(self, name: str, *arguments: str) -> list[dict[str, Any]]:
        """The figures of another benchmark beside this one, a module of this folder."""
        done = self._done([str(self.others), "-m", f"tests.benchmarks.{name}", *arguments])
        if done.returncode:
            raise RuntimeError(f"{name} ended with status {done.returncode}: {done.stderr[-500:]}")
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return [line for line in found if "must" in line]

    def _run(self, command: list[str]) -> dict[str, Any]:
        try:
            done = self._done(command)
        except subprocess.TimeoutExpired:
            return {"error": f"took longer than {BOUND_S:g} s"}
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        found: dict[str, Any] = json.loads(lines[-1]) if lines else {"error": done.stderr[-300:]}
        return found

    def _done(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=ROOT / ".cache",
            env=dict(self.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            preexec_fn=_on(CLIENT_CORE),
        )

    def _server_cpu(self) -> float:
        with urllib.request.urlopen(f"{self.base}/stats", timeout=10) as answer:
            return float(json.load(answer)["cpu_seconds"])


@contextmanager
def model_server(python: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """The server at work; its address."""
    server = subprocess.Popen(
        [str(python), "-m", "tests.benchmarks.model_server"],
        cwd=ROOT / ".cache",
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_on(SERVER_CORE),  # noqa: PLW1509 - there are no threads here
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            raise RuntimeError("the server of the benchmarks did not start")
        yield address
    finally:
        server.terminate()
        server.wait(10)
