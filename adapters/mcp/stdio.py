"""
A server as a child process: frames as lines on its stdin and stdout (contract P4, P7, P8).

The child is in a process group of its own. It is over when its process ends or its stdout does, whichever is
seen first: what it left in the pipe is read, then everybody who waits is told, with its exit status and the
last lines of its stderr.

It is ended in steps: its stdin is closed, then TERM, then KILL to the whole group, 5 s in all.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping, Sequence

from norma.adapters.http.json_text import write
from norma.adapters.mcp.channel import Channel, Receiver, read_frame
from norma.adapters.mcp.frames import Frame
from norma.adapters.mcp.lines import MOST_BYTES, Lines, TooLong, long_frame
from norma.adapters.mcp.pipes import PipeReader, PipeWriter, large_pipe
from norma.adapters.mcp.stderr import StderrTail
from norma.adapters.process.group import ProcessGroup
from norma.adapters.process.patience import Patience
from norma.domain.model.failures import Failure
from norma.ports.tool_server import ServerFailed, ServerInfo

LEAVING_S = 1.5
"""From the end of its stdin to TERM; the group takes 1 s from there to KILL."""
STATUS_S = 0.5
"""After the end of its stdout, for the process to end too, so that there is a status to show."""


def shown_command(command: str, args: Sequence[str]) -> str:
    """The command, uncut, as a shell would take it."""
    return shlex.join([command, *args])


class StdioChannel(Channel):
    """
    One child. *env* is its whole environment; *secrets* among its values are blotted out of what it says.

    Exactly one process is started, in `open`.
    """

    def __init__(
        self,
        name: str,
        command: str,
        args: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        secrets: Sequence[str] = (),
    ) -> None:
        self._name = name
        self._arguments = [command, *args]
        self._env = env
        self._cwd = cwd
        self._lines = Lines()
        self._errors = StderrTail(secrets)
        self._group: ProcessGroup | None = None
        self._watch: asyncio.Task[None] | None = None
        self._closed: asyncio.Future[None] | None = None
        self._over = False

    def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        child_in, stdin = os.pipe()
        stdout, child_out = large_pipe()
        stderr, child_err = os.pipe()
        try:
            self._group = ProcessGroup(
                self._arguments,
                cwd=self._cwd,
                env=self._env,
                output=child_out,
                stdin=child_in,
                stderr=child_err,
            )
        except (OSError, ValueError) as error:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
            raise ServerFailed(self._not_started(error)) from error
        finally:
            for descriptor in (child_in, child_out, child_err):
                os.close(descriptor)
        self._stdin = PipeWriter(stdin, self._broken)
        self._stdout = PipeReader(stdout, self._took, self._silent)
        self._stderr = PipeReader(stderr, self._errors.add, _nothing)
        self._watch = asyncio.get_running_loop().create_task(self._watched(self._group))

    def send(self, frame: Frame, *, busy: bool) -> None:
        self._stdin.write(write(frame) + b"\n", soon=busy)

    def established(self, info: ServerInfo) -> None:
        """Nothing changes on a pipe."""

    def forget(self, number: int) -> None:
        """Nothing is held for a request here."""

    async def close(self) -> None:
        if self._group is None:
            return
        patience = Patience()
        if self._closed is not None:
            await patience.wait(self._closed, 3600)
        else:
            self._closed = asyncio.get_running_loop().create_future()
            try:
                await self._end(self._group, patience)
            finally:
                self._closed.set_result(None)
        patience.release()

    @property
    def stderr(self) -> str:
        """What is kept of its stderr."""
        return self._errors.text()

    async def _end(self, group: ProcessGroup, patience: Patience) -> None:
        self._over = True
        self._stdin.close()
        if self._watch is not None:
            await patience.wait(self._watch, LEAVING_S)
        gone = await group.end(patience)
        if self._watch is not None:
            self._watch.cancel()
            await patience.wait(self._watch, STATUS_S)
        for pipe in (self._stdout, self._stderr):
            pipe.close()
        if not gone:
            self._receiver.skipped("some processes of the server could not be ended and may still run")

    # -- what comes

    def _took(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._line(line)

    def _line(self, line: bytes | TooLong) -> None:
        receiver = self._receiver
        if isinstance(line, TooLong):
            receiver.too_long(long_frame(line), line.size)
            return
        try:
            value = read_frame(line)
        except ValueError:
            receiver.skipped(f"a line on stdout that is no JSON: {line[:200].decode('utf-8', 'replace')!r}")
            return
        receiver.received(value)

    # -- how it ends

    def _silent(self) -> None:
        """Its stdout has ended: there will be no more answers, whatever the process does."""
        if not self._over and self._watch is not None and not self._watch.done():
            asyncio.get_running_loop().call_later(STATUS_S, self._gone, "closed its stdout and did not end")

    def _broken(self, why: str) -> None:
        if not self._over:
            asyncio.get_running_loop().call_later(STATUS_S, self._gone, f"can't be written to: {why}")

    async def _watched(self, group: ProcessGroup) -> None:
        await group.exited(None)
        self._gone(_status(group.exit_status))

    def _gone(self, what: str) -> None:
        if self._over:
            return
        self._over = True
        self._stdout.drain()
        for line in self._lines.finish():
            self._line(line)
        self._stderr.drain()
        self._receiver.lost(Failure("server", self._told(what), "transport"))

    def _told(self, what: str) -> str:
        said = self._errors.shown()
        return f"the tool server {self._name} ({self._shown}) {what}" + (
            f"; its last words on stderr:\n{said}" if said else "; it wrote nothing on stderr"
        )

    def _not_started(self, error: Exception) -> Failure:
        why = error.strerror if isinstance(error, OSError) else str(error)
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        return Failure(
            "server", f"the tool server {self._name} ({self._shown}) could not be started: {why}{where}"
        )

    @property
    def _shown(self) -> str:
        return shown_command(self._arguments[0], self._arguments[1:])


def _status(status: int | None) -> str:
    if status is None:
        return "ended, its exit status is not known"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"was ended by signal {-status}"


def _nothing() -> None:
    pass


__all__ = ["MOST_BYTES", "StdioChannel", "shown_command"]
