"""`norma` as a real process, with a home of its own, on pipes or on a pseudo-terminal."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

BOUND_S = 30


class Bench:
    """A folder with a home and a workspace; commands here see nothing of the machine's own settings."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "work"
        self.home.mkdir()
        self.workspace.mkdir()
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "PYTHONWARNINGS": "error",
            "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody here answers where the cursor is
            "PYTHONDEVMODE": "",
        }

    @property
    def journal(self) -> Path:
        """Where the sessions lie."""
        return self.home / ".local" / "state" / "norma" / "journal.db"

    def settings(self, text: str) -> None:
        """Write the user's settings file."""
        file = self.home / ".config" / "norma" / "norma.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def model(self, url: str, more: str = "") -> None:
        """Settings with the model at *url*."""
        self.settings(
            f'[models.main]\nwire = "openai-chat"\nbase_url = "{url}"\nmodel = "test-model"\n{more}'
        )

    def start(
        self, *words: str, environ: Mapping[str, str] | None = None, **more: Any
    ) -> "subprocess.Popen[str]":
        """A command on pipes, without input."""
        return subprocess.Popen(
            _command(words),
            cwd=self.workspace,
            env={**self.environ, **(environ or {})},
            stdin=more.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def run(
        self,
        *words: str,
        environ: Mapping[str, str] | None = None,
        text: str | None = None,
        bound_s: float = BOUND_S,
        **more: Any,
    ) -> "Done":
        """A command from start to end; *text* is its input."""
        if text is not None:
            more["stdin"] = subprocess.PIPE
        with self.start(*words, environ=environ, **more) as process:
            try:
                out, err = process.communicate(text, timeout=bound_s)
            except BaseException:
                process.kill()
                raise
        return Done(process.returncode, out, err)

    def terminal(self, *words: str, environ: Mapping[str, str] | None = None) -> "Terminal":
        """A command on a pseudo-terminal."""
        return Terminal(_command(words), self.workspace, {**self.environ, **(environ or {})})


def _command(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "norma.app.cli", *words]


class Done:
    """How a command ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Stdout as JSON lines; anything else there is a failure."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        """The last of them."""
        return self.lines[-1]

    def __repr__(self) -> str:
        return f"status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Terminal:
    """A process on a pseudo-terminal, as a person has it. `with` ends it."""

    def __init__(self, command: list[str], folder: Path, environ: Mapping[str, str]) -> None:
        self._screen, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: os.login_tty(os.dup(0)),  # noqa: PLW1509 - so that Ctrl-C reaches it
        )
        os.close(theirs)
        self.seen = ""
        self._mark = 0

    def types(self, text: str) -> None:
        """Press keys; Enter is a carriage return, as on a keyboard."""
        os.write(self._screen, text.replace("\n", "\r").encode())

    def expect(self, text: str) -> str:
        """Wait for *text* behind all that was expected before, and return what came before it. Bounded."""
        until = time.monotonic() + BOUND_S
        while (found := self.seen.find(text, self._mark)) < 0:
            if not self._read(until - time.monotonic()):
                raise AssertionError(
                    f"{text!r} did not come; the screen since then:\n{self.seen[self._mark :]}"
                )
        came = self.seen[self._mark : found]
        self._mark = found + len(text)
        return came

    def waits(self) -> None:
        """
        Wait until the process sleeps, as one does that waits for a key. Bounded.

        A signal between the showing of a prompt and the wait for its answer is seen by readline at the next
        key only: quicker than any person, and no fault of the program.
        """
        until = time.monotonic() + BOUND_S
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < until, "the process does not come to rest"
            os.sched_yield()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(seconds, 0))
        try:
            data = os.read(self._screen, 65536) if ready else b""
        except OSError:  # the other side is closed
            data = b""
        self.seen += data.decode(errors="replace")
        return bool(data)

    def ends(self) -> int:
        """Wait for the end of the process and return its status. Bounded."""
        until = time.monotonic() + BOUND_S
        while self._read(until - time.monotonic()):
            pass
        return self.process.wait(BOUND_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(BOUND_S)
        os.close(self._screen)
