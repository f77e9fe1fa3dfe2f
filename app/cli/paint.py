"""Colour on a terminal, where the `cli` extra is installed; plain text everywhere else."""

from collections.abc import Callable
from typing import Literal, TextIO, TypeAlias

Tone: TypeAlias = Literal["plain", "dim", "bold", "red", "cyan"]
Paint: TypeAlias = Callable[[str, Tone], None]
"""Writes text in a tone, without adding a newline."""


def painter(stream: TextIO) -> Paint:
    """How to write on *stream*. NO_COLOR and dumb terminals are respected (by rich)."""
    if stream.isatty():
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            return _plain(stream)
        console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)

        def paint(text: str, tone: Tone) -> None:
            console.print(Text(text, "" if tone == "plain" else tone), end="")

        return paint
    return _plain(stream)


def _plain(stream: TextIO) -> Paint:
    def paint(text: str, tone: Tone) -> None:
        stream.write(text)
        stream.flush()

    return paint
