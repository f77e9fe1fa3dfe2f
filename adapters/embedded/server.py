"""
The embedded server: llama.cpp in a child process, on a loopback port, behind a random key.

Above: `lazy`, which starts it with the first reply. Below: `child`, started with this interpreter. A crash
of native code ends the child only; what it wrote on standard error is part of the failure.
"""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.gguf import check_gguf
from norma.domain.model.secrets import Secret
from norma.domain.model.values import frozen

_TAIL_BYTES = 4096
_LAST_LINES = 6
_GRACE_S = 2.0
_NOTICED_S = 0.5
_KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "OMP_NUM_THREADS",
)
_PACKAGE = "xllamacpp"


@frozen
class Endpoint:
    """Where a started server answers the chat wire, and with which key and model name."""

    base_url: str
    api_key: Secret
    model: str


class EmbeddedServer:
    """
    One child process with one model.

    It owns the child from `start` to `aclose`. The child ends when its standard input closes, so it is
    gone after `aclose`, after a cancelled `start`, and when this process dies in whatever way. It is in a
    session of its own: an interrupt typed in the terminal does not reach it.
    """

    def __init__(
        self,
        gguf: str,
        *,
        port: int = 0,
        threads: int | None = None,
        context: int = 4096,
        start_timeout_s: float = 120.0,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """
        *port* 0 takes a free one. *threads* None takes one a core, 8 at most. *context* is in tokens.
        *environ* (None: this process's) is what the child's small environment is taken from.
        """
        self._gguf = gguf
        self._port = port
        self._threads = threads
        self._context = context
        self._start_timeout_s = start_timeout_s
        self._environ = os.environ if environ is None else environ
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None
        self._tail = bytearray()
        self._closing = False

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        """The child's process id, None before `start` and after `aclose`."""
        return None if self._process is None else self._process.pid

    async def start(self) -> Endpoint:
        """
        Start the child and return when it answers.

        When this raises or is cancelled, nothing is left behind.

        Raises:
            EmbeddedFailed: the file is no GGUF file or damaged, the package is not installed, the port is
                taken, the child crashed or was not ready in time.
        """
        if self._process is not None:
            raise RuntimeError("the embedded server is started once")
        import secrets  # brings randomness along, which a process without this server need not pay

        check_gguf(self._gguf)
        key = secrets.token_urlsafe(32)
        name = PurePath(self._gguf).stem
        try:
            async with asyncio.timeout(self._start_timeout_s):
                answer = await self._converse(name, key)
            if "address" not in answer:
                raise self._failed(answer)
        except TimeoutError as error:
            await self.aclose()
            raise EmbeddedFailed(
                "timeout",
                f"the embedded model {name} was not ready in {self._start_timeout_s:g} s{self._last_words()}",
            ) from error
        except BaseException:
            await self.aclose()
            raise
        return Endpoint(f"{answer['address']}/v1", Secret(key), name)

    async def _converse(self, name: str, key: str) -> dict[str, Any]:
        """Start the child, send it its line, and wait for its own."""
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "norma.adapters.embedded.child"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._child_environment(),
            start_new_session=True,
        )
        if self._closing:  # `aclose` was called before there was anything to close
            process.kill()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: PT018
        self._drain = asyncio.create_task(self._keep_tail(process.stderr), name="embedded server's stderr")
        with suppress(ConnectionError):  # it ended already; why, is read below
            process.stdin.write(json.dumps(self._wishes(name, key)).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            await process.wait()
            await self._drain
            return {"fault": "crash"}
        answer: dict[str, Any] = json.loads(line)
        if "fault" in answer:
            await process.wait()
            await self._drain
        return answer

    def _wishes(self, name: str, key: str) -> dict[str, Any]:
        return {
            "model": os.path.abspath(self._gguf),
            "name": name,
            "key": key,
            "port": self._port,
            "threads": self._threads,
            "context": self._context,
        }

    def _child_environment(self) -> dict[str, str]:
        kept = {name: self._environ[name] for name in _KEPT_VARIABLES if name in self._environ}
        return {**kept, "OMP_WAIT_POLICY": "passive"}

    async def _keep_tail(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(_TAIL_BYTES):
            self._tail += piece
            del self._tail[:-_TAIL_BYTES]

    def _failed(self, answer: dict[str, Any]) -> EmbeddedFailed:
        match answer["fault"]:
            case "package":
                return EmbeddedFailed(
                    "usage",
                    f"the embedded model needs the package {_PACKAGE}, which can't be imported "
                    f"({answer['message']}); install it with: pip install 'norma-agent[local]'",
                )
            case "port":
                return EmbeddedFailed(
                    "usage",
                    f"the embedded model can't have port {self._port}: {answer['message']}; "
                    "free it, name another one, or name 0 for any free one (embedded.port)",
                )
            case "start":
                return EmbeddedFailed(
                    "usage", f"llama.cpp can't load the model {self._gguf}{self._why_not_loaded()}"
                )
            case _:
                return EmbeddedFailed("server", self.obituary())

    async def has_ended(self) -> bool:
        """Whether the child has ended, which may show a moment later than in its connections."""
        if self._process is None:
            return False
        try:
            async with asyncio.timeout(_NOTICED_S):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    def obituary(self) -> str:
        """How the child ended, with its last words; for a failure's message."""
        return f"the embedded model's process {self._how_it_ended()}{self._last_words()}"

    def _how_it_ended(self) -> str:
        status = None if self._process is None else self._process.returncode
        if status is None:
            return "is still running"
        if status >= 0:
            return f"ended with status {status}"
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"

    def _why_not_loaded(self) -> str:
        reason = re.search(rb"error loading model: (.+)", self._tail)
        return self._last_words() if reason is None else ": " + reason[1].decode(errors="replace").strip()

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._tail.decode(errors="replace").splitlines() if line.strip()]
        return "; its last lines:\n  " + "\n  ".join(lines[-_LAST_LINES:]) if lines else ""

    async def aclose(self) -> None:
        """
        End the child and wait for it; twice does nothing.

        First its standard input is closed, after 2 s it is killed. When cancelled it is killed at once.
        """
        self._closing = True
        process = self._process
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.close()
            async with asyncio.timeout(_GRACE_S):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):  # it ended just now
                    process.kill()
                await process.wait()
            if self._drain is not None:
                await self._drain
