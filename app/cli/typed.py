"""
Where the lines of a chat come from: prompt_toolkit, readline, or a pipe.

On a terminal the lines typed earlier can be called back, also those of earlier days: they are kept in
a file that only its owner can read.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from norma.adapters.console.lines import LineInput

_PROMPT = "> "


class Typed(Protocol):
    """A source of lines."""

    async def read(self) -> str | None:
        """The next line; None at the end (Ctrl-D). Raises KeyboardInterrupt for Ctrl-C."""


def typed_lines(history: Path) -> Typed:
    """The best source that this process has; on a terminal *history* keeps the lines."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return PipedLines()
    try:
        import prompt_toolkit
    except ImportError:
        return ReadlineLines(_private_file(history.with_name(history.name + "-plain")))
    return ToolkitLines(prompt_toolkit, _private_file(history))


def _private_file(path: Path) -> Path:
    """Make *path* and its folder, readable by their owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return path


class PipedLines(Typed):
    """Lines of standard input that is no terminal."""

    def __init__(self) -> None:
        self._lines = LineInput(sys.stdin.fileno())

    async def read(self) -> str | None:
        """The next line."""
        return await self._lines.read()


class ToolkitLines(Typed):
    """A line editor with history and search, from the `cli` extra."""

    def __init__(self, prompt_toolkit: Any, history: Path) -> None:
        from prompt_toolkit.history import FileHistory

        self._session = prompt_toolkit.PromptSession(history=FileHistory(str(history)))

    async def read(self) -> str | None:
        """The next line; the loop goes on meanwhile."""
        try:
            line: str = await self._session.prompt_async(_PROMPT)
        except EOFError:
            return None
        return line


class ReadlineLines(Typed):
    """
    The terminal's own line, with readline's editing and history where the interpreter has it.

    It holds up the event loop while a person types; between turns nothing else is going on there.
    """

    def __init__(self, history: Path) -> None:
        self._history = history
        try:
            import readline
        except ImportError:
            self._readline: Any = None
        else:
            self._readline = readline
            readline.read_history_file(history)

    async def read(self) -> str | None:
        """The next line."""
        with _ctrl_c_raises():
            try:
                line = input(_PROMPT)  # noqa: ASYNC250 - see the class
            except EOFError:
                return None
        if self._readline is not None and line.strip():
            self._readline.append_history_file(1, self._history)
        return line


@contextmanager
def _ctrl_c_raises() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt at once; the loop's own handler would wait for the loop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
