"""
Reads PDFs in a process of our own interpreter, one for each reading.

Above: the Read tool. Below: the worker, which is sent the bytes and tells the pages as JSON lines.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from norma.adapters.process.child import running
from norma.domain.model.failures import Failure
from norma.ports.documents import DocumentPage, Documents, NotInstalled, Unreadable
from norma.ports.errors import PortError

START = "import sys; sys.path += sys.argv[1:]; from norma.adapters.pdf.worker import main; main()"
"""
Isolated from the environment and the current folder; the folders that this process imports from
come last.
"""

DEADLINE_S = 30.0
PAGE_S = 10.0
MEMORY = 768 << 20
AT_ONCE = 2
"""Each may take as much memory as that, and a processor."""


class PdfDocuments(Documents):
    """
    Reads PDFs with pypdf.

    A reading takes *deadline_s* at most, about the same in processor time should this process be killed
    (*processor_s*), and *memory* bytes where the system is Linux. A page that takes more than *page_s* of
    processor time has a fault instead of a text. Only `AT_ONCE` readings run; the others wait, which is not
    counted.
    """

    def __init__(
        self, *, deadline_s: float = DEADLINE_S, page_s: float = PAGE_S, memory: int = MEMORY
    ) -> None:
        self._deadline_s = deadline_s
        self.processor_s = max(1, round(deadline_s) + 1)
        self._page_s = page_s
        self._memory = memory
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def read(self, data: bytes, page: Callable[[DocumentPage], bool], *, first: int = 1) -> None:
        """The pages of a PDF; the port says what it promises. A worker that breaks is a PortError."""
        if find_spec("pypdf") is None:
            raise NotInstalled("pip install 'norma-agent[pdf]' lets its text be read")
        async with self._turn:
            limit = asyncio.timeout(self._deadline_s)
            try:
                async with limit:
                    await self._told(data, page, first)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                raise TimeoutError(f"its text took longer than {self._deadline_s:g} s to read") from error

    async def _told(self, data: bytes, page: Callable[[DocumentPage], bool], first: int) -> None:
        folders = [folder for folder in sys.path if folder.startswith("/")]
        command = (sys.executable, "-I", "-c", START, *folders)
        telling = Telling(page)
        async with running(command, environ={}, cwd="/", given=self._order(first) + data) as child:
            if await child.read(telling.take) and not telling.over:
                raise broken(await child.ended(), child.complaint())
        if telling.refusal is not None:
            raise Unreadable(telling.refusal)

    def _order(self, first: int) -> bytes:
        """What the worker reads before the document."""
        order = {
            "first": first,
            "page_s": self._page_s,
            "processor_s": self.processor_s,
            "memory": self._memory,
        }
        return json.dumps(order).encode() + b"\n"


class Telling:
    """What a worker tells, as it comes. *over*: nothing more is wanted; *refusal*: why nothing was read."""

    def __init__(self, page: Callable[[DocumentPage], bool]) -> None:
        self._page = page
        self._rest = bytearray()
        self.over = False
        self.refusal: str | None = None

    def take(self, piece: bytes) -> bool:
        """Take the next *piece* of the output; whether no more is wanted."""
        lines = piece.split(b"\n")
        for line in lines[:-1]:
            record = json.loads(self._rest + line)
            self._rest.clear()
            self._hear(*record)
            if self.over:
                return True
        self._rest += lines[-1]
        return False

    def _hear(self, kind: str, *facts: Any) -> None:
        if kind == "page":
            self.over = not self._page(DocumentPage(*facts))
        else:
            self.over = True
            self.refusal = facts[0] if kind == "refused" else None


def broken(status: int, complaint: str) -> Exception:
    """The error for a worker that ended with *status* before its answer did."""
    if status == -signal.SIGXCPU:
        return TimeoutError("its text used up the processor time for reading it")
    if status < 0:
        return Unreadable(f"the process that read it was ended by {signal.Signals(-status).name}")
    last = complaint.splitlines()[-1] if complaint else "without a word"
    return PortError(Failure("internal", f"the reading of PDFs broke (status {status}): {last}"))
