"""Documents with pages that a test wrote."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.ports.documents import DocumentPage, Documents

Paged: TypeAlias = Sequence[str | DocumentPage | Exception | Gate]
"""The pages in order. An exception is raised in place of its page; at a gate it waits before the next one."""


class ScriptedDocuments(Documents):
    """Gives *pages*, by the exact bytes of the document; other bytes are an AssertionError."""

    def __init__(self, pages: Mapping[bytes, Paged]) -> None:
        self._pages = pages
        self._asked = Counter()
        self.readings: list[tuple[bytes, int]] = []
        """Every reading, in order: the document, and the page it began at."""
        self.running = 0
        """How many readings have begun and not ended in any way."""

    async def asked(self, readings: int = 1) -> None:
        """Return as soon as that many readings have begun."""
        await self._asked.reached(readings)

    async def read(self, data: bytes, page: Callable[[DocumentPage], bool], *, first: int = 1) -> None:
        """The scripted pages."""
        self.readings.append((data, first))
        self._asked.add()
        self.running += 1
        try:
            await self._give(data, page, first)
        finally:
            self.running -= 1

    async def _give(self, data: bytes, page: Callable[[DocumentPage], bool], first: int) -> None:
        if data not in self._pages:
            raise AssertionError(f"nobody scripted this document: {data[:40]!r}")
        script = self._pages[data]
        of = sum(isinstance(one, str | DocumentPage) for one in script)
        number = 0
        for one in script:
            if isinstance(one, Gate):
                await one
            elif isinstance(one, Exception):
                raise one
            else:
                number += 1
                made = (
                    DocumentPage(number, of, one)
                    if isinstance(one, str)
                    else evolve(one, number=number, of=of)
                )
                if number >= first and not page(made):
                    return
