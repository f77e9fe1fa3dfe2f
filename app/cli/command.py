"""A command that is about to run: its options, its settings, and where it speaks."""

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from norma.app.places import Places
from norma.app.reading import Reading, Wishes, read_settings
from norma.app.settings import Settings
from norma.app.trust import ProjectFile
from norma.domain.model.values import frozen

if TYPE_CHECKING:
    from norma.app.cli.output import Output

T = TypeVar("T")


@frozen
class Command:
    """What every verb gets."""

    options: Namespace
    reading: Reading
    output: "Output"
    environ: Mapping[str, str]
    folder: Path

    @classmethod
    def of(
        cls, options: Namespace, wishes: Wishes, output: "Output", environ: Mapping[str, str], folder: Path
    ) -> "Command":
        """Read the settings. Raises SettingsError."""
        trust = _ask_trust if somebody_is_there() and not options.json else None
        reading = read_settings(wishes, environ=environ, folder=folder, trust=trust)
        return cls(options, reading, output, environ, folder)

    @property
    def settings(self) -> Settings:
        """The settings of this command."""
        return self.reading.settings

    @property
    def places(self) -> Places:
        """The user's folders."""
        return Places.of(self.environ)


def somebody_is_there() -> bool:
    """Whether a person can be asked: both the keyboard and the screen beside the answer are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask_trust(project: ProjectFile) -> bool:
    """Whether the person trusts a project's settings file (rule T2)."""
    from norma.adapters.console.visible import visible

    print(
        f"\n{visible(str(project.path))} wants more than to forbid. It sets:\n"
        + "".join(f"  | {visible(wish)}\n" for wish in project.wishes)
        + "It can change which model is used, what runs unasked, and where your words are sent.",
        file=sys.stderr,
    )
    print("Trust this file as it is now? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def run_async(work: Coroutine[None, None, T]) -> T:
    """
    Run *work* in a loop of its own. SIGTERM cancels it, as Ctrl-C does, so that nothing is left behind.

    Raises KeyboardInterrupt after either.
    """

    async def guarded() -> T:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
