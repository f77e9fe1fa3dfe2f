"""What `ask` and `chat` share: an open Norma, somebody or nobody to ask, and the session to go on with."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from norma.adapters.console.approver import ConsoleApprover, NobodyApprover
from norma.adapters.console.lines import LineInput
from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, somebody_is_there
from norma.app.cli.screen import Screen
from norma.app.prompts import system_prompt
from norma.app.running import Norma, open_norma
from norma.domain.model.failures import Failure
from norma.ports.errors import UnknownSession

if TYPE_CHECKING:
    from norma.domain.engine.session import Session
    from norma.ports.approver import Approver


@asynccontextmanager
async def opened(command: Command) -> AsyncIterator[Norma]:
    """Norma with the model that was asked for; says which one it is, and what is set but not there yet."""
    wanted = command.options.model
    if wanted is not None and wanted not in command.settings.models:
        known = ", ".join(command.settings.models) or "none"
        raise UsageError(f"--model {wanted}: no such model in the settings (there: {known})")
    async with open_norma(
        command.settings,
        approver=approver_for(command),
        environ=command.environ,
        model=wanted,
        system=system_prompt,
        progress=_progress(command),
        permitted_servers=command.reading.permitted_servers,
    ) as norma:
        for line in (*norma.choice.lines, *norma.notes):
            command.output.note(line)
        if isinstance(command.output, Screen):
            command.output.tokens_per_s = norma.choice.tokens_per_s
        yield norma


def approver_for(command: Command) -> "Approver":
    """The person at this terminal, or nobody."""
    if not somebody_is_there():
        return NobodyApprover()
    screen = command.output if isinstance(command.output, Screen) else Screen(sys.stderr)
    return ConsoleApprover(LineInput(sys.stdin.fileno()), screen.show)


def _progress(command: Command) -> Callable[[str], None]:
    """Every line on a terminal, where it passes; elsewhere the first one, which says why it takes time."""
    output = command.output
    if isinstance(output, Screen) and output.live:
        return output.waiting
    told: list[str] = []

    def tell(line: str) -> None:
        if not told:
            output.note(line)
        told.append(line)

    return tell


async def session_for(norma: Norma, resume: str | None) -> "Session":
    """
    A new session, or with *resume* that one ("" for the latest of this workspace).

    Raises:
        UnknownSession: there is none.
    """
    if resume is None:
        return await norma.session()
    if resume == "":
        found = await norma.journal.sessions(norma.workspace)
        if not found:
            raise UnknownSession(Failure("not_found", "there is no session to resume in this workspace"))
        return await norma.session(found[0].id)
    if (await norma.journal.read(resume)).version == 0:
        raise UnknownSession(
            Failure("not_found", f"there is no session {resume}; norma sessions --all lists all")
        )
    return await norma.session(resume)
