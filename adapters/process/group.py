"""
A process group: a shell, and whatever it started and did not send away, also in groups of their own.

A process that makes a session of its own (`setsid`) is not found again; only a sandbox could hold it.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread

from norma.adapters.process.members import living, send
from norma.adapters.process.patience import Patience

SETTLE_S = 0.2
"""For what a shell that has exited left running: most often it is about to write its last line."""
GRACE_S = 1.0
"""From TERM to KILL."""
DEATH_S = 5.0
"""For a killed process to be gone; one that hangs in the kernel longer is given up."""
POLL_S = 0.02


class ProcessGroup:
    """
    Started by the constructor, in one synchronous call: no cancel can come between the start of the
    process and the moment when its owner holds it. The owner calls `end`, whatever happens.
    *stderr* None: it goes where *output* goes.

    Until the shell is reaped nobody else can get its number; after that the number is used only
    while its session still has members, which keeps it taken.

    Raises OSError if the program can't be started.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        output: int,
        stdin: int = subprocess.DEVNULL,
        stderr: int | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=output,
            stderr=output if stderr is None else stderr,
            start_new_session=True,
        )
        self._id = self._process.pid
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[None] = self._loop.create_future()
        self._watcher = Thread(target=self._watch, name=f"norma-wait-{self._id}", daemon=True)
        self._watcher.start()

    @property
    def exit(self) -> "asyncio.Future[None]":
        """Done when the shell has exited. Not to be cancelled."""
        return self._exit

    async def exited(self, timeout_s: float | None) -> bool:
        """Wait for the shell's exit, for at most *timeout_s*; whether it came."""
        done, _ = await asyncio.wait({self._exit}, timeout=timeout_s)
        return bool(done)

    async def end(self, patience: Patience) -> bool:
        """
        End what still runs: TERM, then KILL, and wait. True if all is gone and the shell reaped.

        Does nothing to a shell that has ended and left nothing behind. What one that has ended left
        gets a moment to end by itself: bash does not wait for `>(…)`.
        """
        gone = self._is_gone()
        if not gone and self._exit.done():
            gone = await self._gone_within(SETTLE_S, patience)
        for number, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, DEATH_S)):
            if gone:
                break
            send(self._id, number)
            gone = await self._gone_within(seconds, patience, again=number == signal.SIGKILL)
        if self._exit.done():
            self._watcher.join()
        return gone

    @property
    def exit_status(self) -> int | None:
        """The shell's exit status, negative for a signal; None while it runs."""
        return self._process.wait() if self._exit.done() else None

    def kill(self) -> None:
        """Send KILL and wait for nothing."""
        send(self._id, signal.SIGKILL)

    @property
    def status(self) -> int:
        """The shell's exit status, negative for a signal; after `end`."""
        status = self._process.returncode
        return -signal.SIGKILL if status is None else status

    async def _gone_within(self, seconds: float, patience: Patience, *, again: bool = False) -> bool:
        """*again*: kill also what was started while the others were killed."""
        deadline = self._loop.time() + seconds
        await patience.wait(self._exit, seconds)
        while not self._is_gone():
            if self._loop.time() >= deadline:
                return False
            if again:
                self.kill()
            await patience.sleep(POLL_S)
        return True

    def _is_gone(self) -> bool:
        if not self._exit.done():
            return False
        self._process.wait()
        return not living(self._id)

    def _watch(self) -> None:
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):  # the host reaps all children of the process itself
                os.waitid(os.P_PID, self._id, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        with suppress(RuntimeError):  # the loop was closed without waiting for its tasks
            self._loop.call_soon_threadsafe(self._saw_exit)

    def _saw_exit(self) -> None:
        if not self._exit.done():
            self._exit.set_result(None)
