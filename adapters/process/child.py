"""
A child process that can't outlive its use: started without a shell, in a process group of its own.

Above: the file search and the reading of PDFs. Below: `subprocess.Popen`, and pipes that the loop reads.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress

from norma.adapters.process.child_pipes import PipeReader, PipeWriter, dropped
from norma.adapters.process.patience import patiently

COMPLAINTS = 1 << 14
"""Bytes of stderr that are kept; all of it is read."""
LAST_WORDS_S = 2.0
"""How long the pipes of a killed child may stay open, in the hands of a process that left its group."""
POLL_S = 0.002
"""Between two looks whether the child has ended, where the system doesn't tell."""


class Child:
    """
    A running child. Made by `running` only.

    Started by the constructor, in one synchronous call: no cancel can come between the start of the process
    and the moment when its owner holds it. The owner calls `attend` and, whatever happens, `end`.

    Only `end` reaps it: until then nobody else can get its number, nor that of its group.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        environ: Mapping[str, str],
        *,
        cwd: str | None,
        given: bytes,
        session: bool,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.exit: asyncio.Future[int] = self.loop.create_future()
        self.complaints = b""
        self.given = given
        self.holds = ExitStack()
        self.process = self.holds.enter_context(
            subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE if given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
                cwd=cwd,
                start_new_session=session,
                process_group=None if session else 0,
            )
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdout = PipeReader(self.process.stdout)
        self.stderr = PipeReader(self.process.stderr)

    def attend(self) -> None:
        """Watch for its end, listen to its stderr, and write what it is given."""
        self.watch()
        self.holds.callback(self.stdout.stop)
        self.holds.callback(self.stderr.stop)
        self.heard = self.stderr.each(self.hear)
        if self.process.stdin is not None:
            self.holds.callback(PipeWriter(self.process.stdin, self.given).close)

    def watch(self) -> None:
        """Look for its end when the system says so, or every `POLL_S` seconds."""
        try:
            self.ending = os.pidfd_open(self.process.pid)
        except (AttributeError, OSError):  # not Linux, an old one, or a sandbox that forbids it
            self.poll()
            return
        self.holds.callback(os.close, self.ending)
        self.holds.callback(self.loop.remove_reader, self.ending)
        self.loop.add_reader(self.ending, self.look)

    def look(self) -> None:
        if self.has_ended():
            self.loop.remove_reader(self.ending)

    def poll(self) -> None:
        if not self.has_ended():
            self.loop.call_later(POLL_S, self.poll)

    def has_ended(self) -> bool:
        """Whether the child has ended; then `exit` has its status."""
        status = status_of(self.process)
        if status is not None and not self.exit.done():
            self.exit.set_result(status)
            self.stdout.hurry()
        return status is not None

    def hear(self, piece: bytes) -> bool:
        self.complaints = (self.complaints + piece)[:COMPLAINTS]
        return False

    async def read(self, take: Callable[[bytes], bool], *, pauses: bool = False) -> bool:
        """
        Give what the child prints to *take*, as it comes, until that returns True or all is read; whether all
        is read. With *pauses* it is read only now and then while the child runs.

        Raises what *take* raises.
        """
        await asyncio.wait((self.stdout.each(take, pauses=pauses and not self.exit.done()),))
        if self.stdout.broken is not None:
            raise self.stdout.broken
        return self.stdout.ended

    async def ended(self) -> int:
        """Wait for the end, after the output has been read; the exit status, negative for a signal."""
        await asyncio.wait((self.heard, self.exit))
        return self.exit.result()

    def complaint(self) -> str:
        """The beginning of what it said on stderr."""
        return self.complaints.decode("utf-8", "backslashreplace").strip()

    async def end(self) -> None:
        """
        Kill what is left of the group, wait until it is gone, and reap the child.

        A cancel meanwhile is raised after that.
        """
        with self.holds:
            if self.process.returncode is None:
                # On some systems a group of the dead can't be sent a signal.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            try:
                await patiently((self.exit,))
            finally:
                await patiently((self.stdout.each(dropped), self.stderr.each(dropped)), LAST_WORDS_S)


@asynccontextmanager
async def running(
    command: tuple[str, ...],
    *,
    environ: Mapping[str, str],
    cwd: str | None = None,
    given: bytes = b"",
    session: bool = False,
) -> AsyncIterator[Child]:
    """
    Run *command* (its first word is a path) while the block lasts; *given* is all its input.

    With *session* it has no terminal where it could ask. What never asks is better off without: on a busy
    machine Linux lets the threads of a new session wait longer (autogroup).

    When the block ends, however it does, the child and its group are gone. Raises OSError if it can't start.
    """
    child = Child(command, environ, cwd=cwd, given=given, session=session)
    try:
        child.attend()
        yield child
    finally:
        await child.end()


async def answer(
    command: tuple[str, ...], *, environ: Mapping[str, str], deadline_s: float, most: int = 1 << 16
) -> tuple[int, str, str]:
    """
    The exit status of *command*, and what it said on stdout (*most* bytes of it) and on stderr; it has no
    terminal.

    Raises OSError if it can't start, TimeoutError after *deadline_s*; then it has been killed.
    """
    said = bytearray()

    def hear(piece: bytes) -> bool:
        said.extend(piece[: most - len(said)])
        return False

    async with asyncio.timeout(deadline_s), running(command, environ=environ, session=True) as child:
        await child.read(hear)
        status = await child.ended()
        return status, said.decode("utf-8", "backslashreplace"), child.complaint()


def status_of(process: "subprocess.Popen[bytes]") -> int | None:
    """The exit status of *process*, negative for a signal, None while it runs; not reaped if that can be."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # the host reaps all children of its process itself
        return process.poll()
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
