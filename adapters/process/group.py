"""
A process group: a shell, and whatever it started and did not send away.

A process that makes a session of its own (`setsid`) has left the group and is not found again;
only a sandbox could hold it.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from norma.adapters.process.patience import Patience

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
    while the group still has members, which keeps it taken.

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

        Does nothing to a shell that has ended and left nothing behind.
        """
        gone = self._is_gone()
        for number, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, DEATH_S)):
            if gone:
                break
            # The group may end, or hold only processes of another user, at this very moment.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._id, number)
            gone = await self._gone_within(seconds, patience)
        if self._exit.done():
            self._watcher.join()
        return gone

    @property
    def exit_status(self) -> int | None:
        """The shell's exit status, negative for a signal; None while it runs."""
        return self._process.wait() if self._exit.done() else None

    def kill(self) -> None:
        """Send KILL and wait for nothing."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._id, signal.SIGKILL)

    @property
    def status(self) -> int:
        """The shell's exit status, negative for a signal; after `end`."""
        status = self._process.returncode
        return -signal.SIGKILL if status is None else status

    async def _gone_within(self, seconds: float, patience: Patience) -> bool:
        deadline = self._loop.time() + seconds
        await patience.wait(self._exit, seconds)
        while not self._is_gone():
            if self._loop.time() >= deadline:
                return False
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


def living(group: int) -> bool:
    """Whether a process of *group* is alive. A dead one that its new parent has not reaped is not."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # there are some, of another user
        pass
    processes = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
    return not processes or any(_lives_in(group, process) for process in processes)


def _lives_in(group: int, process: str) -> bool:
    try:
        text = Path("/proc", process, "stat").read_bytes()
    except OSError:  # ended since /proc was listed
        return False
    # pid (name, which may hold anything) state parent group …
    state, _, its_group = text[text.rindex(b")") + 1 :].split()[:3]
    return int(its_group) == group and state not in (b"Z", b"X")
