"""
The way into `norma`: take the command line apart, read the settings, run the verb, say how it went.

Every failure ends here as one message (an object with `--json`) and an exit status; a traceback is
shown with `--debug` alone.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from norma.app.cli.arguments import parse, wishes_of
from norma.app.cli.command import Command
from norma.app.settings import SettingsError

if TYPE_CHECKING:
    from norma.app.cli.output import Output

WORKED, FAILED, MISUSED = 0, 1, 2

_VERBS = {
    "ask": "norma.app.cli.ask",
    "chat": "norma.app.cli.chat",
    "doctor": "norma.app.cli.doctor",
    "fetch": "norma.app.cli.fetch",
    "grep": "norma.app.cli.grep",
    "mcp": "norma.app.cli.mcp",
    "probe": "norma.app.cli.probe",
    "reply": "norma.app.cli.reply",
    "search": "norma.app.cli.search",
    "sessions": "norma.app.cli.sessions",
}
"""Where each verb is; only the one that was asked for is loaded."""


def main(words: Sequence[str] | None = None) -> int:
    """Run a command (None: the process's own) and return its exit status."""
    words = sys.argv[1:] if words is None else words
    try:
        return _told(words)
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not trip over that once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return FAILED


def _told(words: Sequence[str]) -> int:
    """Run the command and tell its failure, if any."""
    from norma.app.cli.failures import failure_of

    output = _output("--json" in words)
    try:
        return _run(words, output)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if "--debug" in words:
            import traceback

            traceback.print_exc()
        told = failure_of(error)
        output.failure(told.failure, partial=told.partial, usage=told.usage, attempts=told.attempts)
        return MISUSED if told.failure.kind == "usage" else FAILED


def _output(as_json: bool) -> "Output":
    if as_json:
        from norma.app.cli.output import JsonLines

        return JsonLines()
    from norma.app.cli.screen import Screen

    return Screen()


def _run(words: Sequence[str], output: "Output") -> int:
    options = parse(words)
    command = Command.of(options, wishes_of(options), output, os.environ, _folder())
    for note in command.reading.notes:
        output.note(note)
    verb: Callable[[Command], int] = import_module(_VERBS[options.verb]).run
    return verb(command)


def _folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError(["the current folder no longer exists; go to another one"]) from error
