"""
`norma chat`: a conversation.

Ctrl-C ends the turn that is going on and a second one the program; Ctrl-D leaves. A turn that fails
is told and the conversation goes on.
"""

from typing import TYPE_CHECKING

from norma.app.cli.command import Command, run_async
from norma.app.cli.conversation import opened, session_for
from norma.app.cli.screen import Screen
from norma.app.cli.turns import follow
from norma.app.cli.typed import PipedLines, Typed, typed_lines
from norma.app.running import Norma

if TYPE_CHECKING:
    from norma.domain.engine.session import Session, Turn
    from norma.domain.model.facts import TurnEnded

_HELP = "Ctrl-C interrupts a turn, Ctrl-D leaves; /reset begins a new session, /exit leaves"


def run(command: Command) -> int:
    """Talk until the person leaves. From a pipe, the status says whether every turn was completed."""
    return run_async(_chat(command))


async def _chat(command: Command) -> int:
    lines = typed_lines(command.places.history)
    async with opened(command) as norma:
        chat = _Chat(command, norma, await session_for(norma, command.options.resume))
        if command.options.resume is not None:
            await chat.go_on()
        if not isinstance(lines, PipedLines):
            command.output.note(_HELP)
        await chat.talk(lines)
        command.output.note(f"norma chat --resume={chat.session.id} goes on with this session")
    return 1 if chat.failed and isinstance(lines, PipedLines) else 0


class _Chat:
    """The session that is talked in, and whether a turn of it has failed."""

    def __init__(self, command: Command, norma: Norma, session: "Session") -> None:
        self._command = command
        self._norma = norma
        self.session = session
        self.failed = False

    async def go_on(self) -> None:
        """Carry on a turn that an earlier process left open, if there is one."""
        await self._show(self.session.proceed())

    async def talk(self, lines: Typed) -> None:
        """Read and answer until the lines end."""
        leaving = False
        while True:
            try:
                line = await lines.read()
            except KeyboardInterrupt:
                if leaving:
                    return
                leaving = True
                self._command.output.note("Ctrl-C once more leaves")
                continue
            leaving = False
            if line is None or line.strip() in ("/exit", "/quit"):
                return
            await self._answer(line.strip())

    async def _answer(self, line: str) -> None:
        if line == "/reset":
            self.session = await self._norma.session()
            self._command.output.note(f"new session {self.session.id}")
        elif line == "/help":
            self._command.output.note(_HELP)
        elif line:
            ended = await self._show(self.session.prompt(line))
            self.failed = self.failed or ended is None or ended.outcome != "completed"

    async def _show(self, turn: "Turn") -> "TurnEnded | None":
        output = self._command.output
        if isinstance(output, Screen):
            output.waiting("waiting for the model")
        ended = await follow(self.session, turn, output)
        if isinstance(output, Screen):
            output.between()
        return ended
