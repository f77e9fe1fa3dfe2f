"""`norma ask`: one prompt, one turn."""

import sys

from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, run_async
from norma.app.cli.conversation import opened, session_for
from norma.app.cli.screen import Screen
from norma.app.cli.turns import follow, status_of


def run(command: Command) -> int:
    """Ask, show the turn, and say by the exit status whether it was completed."""
    options = command.options
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    if prompt is None and options.resume is None:
        raise UsageError("norma ask needs a PROMPT (or --resume, to go on with an open turn)")
    if prompt is not None and not prompt.strip():
        raise UsageError("the PROMPT is empty")
    return run_async(_ask(command, prompt))


async def _ask(command: Command, prompt: str | None) -> int:
    async with opened(command) as norma:
        session = await session_for(norma, command.options.resume)
        turn = session.proceed() if prompt is None else session.prompt(prompt)
        if isinstance(command.output, Screen):
            command.output.waiting("waiting for the model")
        ended = await follow(session, turn, command.output)
    if ended is None:
        raise UsageError(f"nothing is open in session {session.id}; give a PROMPT to go on with it")
    return status_of(ended)
