"""One turn on the command line: show its events, and let Ctrl-C end the turn and not the program."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from norma.app.cli.output import Output
from norma.domain.model.facts import TurnEnded

if TYPE_CHECKING:
    from norma.domain.engine.session import Session, Turn


async def follow(session: "Session", turn: "Turn", output: Output) -> TurnEnded | None:
    """
    Run *turn* to its end and show it; None if there was nothing to run.

    The first Ctrl-C interrupts the turn, which then ends by itself; the second one cancels the calling task.
    """
    ended: TurnEnded | None = None
    async with turn:
        with _interrupts(session, output):
            async for event in turn:
                output.event(event)
                if isinstance(event, TurnEnded):
                    ended = event
    return ended


def status_of(ended: TurnEnded) -> int:
    """The exit status of a turn: 0 if it was completed, 2 if a setting kept it from that, else 1."""
    if ended.outcome == "completed":
        return 0
    return 2 if ended.error is not None and ended.error.kind == "usage" else 1


@contextmanager
def _interrupts(session: "Session", output: Output) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            output.note("interrupting; Ctrl-C once more leaves at once")
            session.interrupt()
        else:
            task.cancel()

    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
