"""
Running a tool: its deadline, its cancel, its output, one fact in every case (rules E4 and E5).
"""

import asyncio
from collections.abc import Awaitable, Callable

from norma.domain.engine.gate import describe
from norma.domain.engine.outbox import Outbox
from norma.domain.engine.output import MOST_CHARACTERS, cap
from norma.domain.engine.state import Call
from norma.domain.model.actions import Action
from norma.domain.model.blocks import Text, thaw
from norma.domain.model.events import Note, ToolProgress
from norma.domain.model.facts import ToolEnded
from norma.ports.clock import Clock
from norma.ports.tool import Tool, ToolOutput, ToolRun

INTERRUPTED = "Interrupted while it ran; what it had already done stays done."
UNKNOWN = "Interrupted while it ran, and it did not end in time: its outcome is unknown."


class ToolRunner:
    """Runs the tools of one turn of *session*. *left* takes the task of a tool that will not end."""

    def __init__(
        self,
        outbox: Outbox,
        clock: Clock,
        *,
        session: str,
        timeout_s: float | None,
        grace_s: float,
        left: Callable[["asyncio.Task[ToolOutput]"], None],
    ) -> None:
        self._outbox = outbox
        self._clock = clock
        self._session = session
        self._timeout_s = timeout_s
        self._grace_s = grace_s
        self._left = left

    async def run(
        self, call: Call, tool: Tool, action: Action, permit: Callable[[Action], Awaitable[None]]
    ) -> ToolEnded:
        """
        Run one call to its end and say how it ended.

        Cancelled, it cancels the tool, gives it the grace period, and still returns a fact.
        """
        progress = _Progress(call, self._outbox)
        arguments = thaw(call.call.arguments)
        work = asyncio.ensure_future(tool.run(ToolRun(arguments, action, progress, permit, self._session)))
        try:
            if await self._within_deadline(work):
                return _ended(call, _outcome(work))
            why = f"Ended at its deadline of {self._timeout_s:g} s; what it had already done stays done."
        except asyncio.CancelledError:
            why = INTERRUPTED
        finally:
            progress.close()
        return _ended(call, await self._end(call, work, why))

    async def _within_deadline(self, work: "asyncio.Task[ToolOutput]") -> bool:
        await asyncio.sleep(0)
        if work.done():  # in its first step, as many do: no timer for it
            return True
        if self._timeout_s is None:
            await asyncio.wait((work,))
            return True
        timer = asyncio.ensure_future(self._clock.sleep(self._timeout_s))
        try:
            await asyncio.wait((work, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        return work.done()

    async def _end(self, call: Call, work: "asyncio.Task[ToolOutput]", why: str) -> ToolOutput:
        """Cancel *work* and wait for its end; what it still returns counts."""
        work.cancel()
        try:
            await asyncio.wait((work,), timeout=self._grace_s)
        finally:
            if not work.done():
                self._left(work)
                self._outbox.put(Note(f"{call.call.name} ignores its cancel and was left behind."))
        if not work.done():
            return ToolOutput.of(UNKNOWN, is_error=True)
        return ToolOutput.of(why, is_error=True) if work.cancelled() else _outcome(work)


class _Progress:
    """What a tool calls to show a line; dead once the tool is over, dropped while the host is behind."""

    __slots__ = ("_call", "_outbox")

    def __init__(self, call: Call, outbox: Outbox) -> None:
        self._call = call
        self._outbox: Outbox | None = outbox

    def __call__(self, text: str) -> None:
        if self._outbox is not None and not self._outbox.full:
            call = self._call.call
            self._outbox.put(ToolProgress(self._call.key, call.id, call.name, text))

    def close(self) -> None:
        self._outbox = None


def _outcome(work: "asyncio.Task[ToolOutput]") -> ToolOutput:
    """The output of a tool that is done; a failure is an output, too."""
    if work.cancelled():
        return ToolOutput.of("The tool cancelled itself.", is_error=True)
    error = work.exception()
    if error is not None:
        return ToolOutput.of(describe(error), is_error=True)
    output = work.result()
    if not isinstance(output, ToolOutput):  # a stranger's tool may match the port in name only
        return ToolOutput.of(f"The tool gave no ToolOutput but {type(output).__name__}.", is_error=True)
    return output


def _ended(call: Call, output: ToolOutput) -> ToolEnded:
    blocks = cap(output.blocks, output.room or MOST_CHARACTERS)
    return ToolEnded(call.key, call.call.id, call.call.name, blocks, output.is_error)


def never_begun(call: Call) -> ToolEnded:
    """The fact of a run that was cancelled before it could take its first step: nothing was done."""
    text = "Interrupted before its first step; nothing was done."
    return ToolEnded(call.key, call.call.id, call.call.name, (Text(text),), True)
