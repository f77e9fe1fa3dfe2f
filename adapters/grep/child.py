"""
A child process that can't outlive its use: started without a shell, in a process group of its own.

Above: the two backends and the search for ripgrep. Below: asyncio's subprocesses.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping

CHUNK = 1 << 16
COMPLAINTS = 1 << 14
"""Bytes of stderr that are kept; all of it is read."""
LAST_WORDS_S = 2.0
"""How long the pipes of a killed child may stay open, in the hands of a process that left its group."""


class Child:
    """A running child. Made by `running` only."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.complaints = b""
        self.listening = asyncio.create_task(self.listen())

    async def listen(self) -> None:
        """Read stderr to its end, so that the child never waits for it."""
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(CHUNK):
            self.complaints = (self.complaints + chunk)[:COMPLAINTS]

    async def output(self) -> AsyncIterator[bytes]:
        """What the child prints, as it comes."""
        assert self.process.stdout is not None
        while chunk := await self.process.stdout.read(CHUNK):
            yield chunk

    async def ended(self) -> int:
        """Wait for the end, after the output has been read; the exit status, negative for a signal."""
        await self.listening
        return await self.process.wait()

    def complaint(self) -> str:
        """The beginning of what it said on stderr."""
        return self.complaints.decode("utf-8", "backslashreplace").strip()

    async def end(self) -> None:
        """Kill the whole group unless it has ended, and wait until it is gone."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_S):
                    async for _ in self.output():
                        pass
                    await self.listening
            await self.process.wait()
        finally:
            self.listening.cancel()


@contextlib.asynccontextmanager
async def running(
    command: tuple[str, ...], *, environ: Mapping[str, str], cwd: str | None = None, given: bytes = b""
) -> AsyncIterator[Child]:
    """
    Run *command* (its first word is a path) while the block lasts; *given* is all its input.

    When the block ends, however it does, the child and its group are gone. Raises OSError if it can't start.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environ),
        cwd=cwd,
        start_new_session=True,
    )
    child = Child(process)
    try:
        if process.stdin is not None:
            process.stdin.write(given)
            process.stdin.close()
        yield child
    finally:
        await child.end()


async def answer(
    command: tuple[str, ...], *, environ: Mapping[str, str], deadline_s: float, most: int = 1 << 16
) -> tuple[int, str, str]:
    """
    The exit status of *command*, and what it said on stdout (*most* bytes of it) and on stderr.

    Raises OSError if it can't start, TimeoutError after *deadline_s*; then it has been killed.
    """
    async with asyncio.timeout(deadline_s), running(command, environ=environ) as child:
        said = b""
        async for chunk in child.output():
            said = (said + chunk)[:most]
        status = await child.ended()
        return status, said.decode("utf-8", "backslashreplace"), child.complaint()
