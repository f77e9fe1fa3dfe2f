"""What the tests of PDFs share: a document that keeps its reader busy, and what a reading told."""

import asyncio
import os
from pathlib import Path

from norma.ports.documents import DocumentPage, Documents
from tests.adapters.grep.rigs import children
from tests.adapters.pdf.making import pages, pdf

BOUND_S = 50


def slow(count: int = 100) -> bytes:
    """So many pages, each of which takes pypdf the better part of a minute; a few kilobytes in all."""
    drawing = b"BT /F1 9 Tf " + b"(a) Tj " * 1_500_000 + b" ET"
    return pdf(pages(*[drawing] * count, packed=True))


async def read(documents: Documents, data: bytes, *, first: int = 1, most: int = 1000) -> list[DocumentPage]:
    """The pages, at most so many, bounded."""
    got: list[DocumentPage] = []

    def keep(page: DocumentPage) -> bool:
        got.append(page)
        return len(got) < most

    await asyncio.wait_for(documents.read(data, keep, first=first), BOUND_S)
    return got


def worker_runs() -> bool:
    """Whether a reader is at work."""
    return any("pdf.worker" in one for one in children())


def worker() -> int:
    """The number of the one process that reads for us."""
    (found,) = (
        int(process.name)
        for process in Path("/proc").iterdir()
        if process.name.isdigit() and _is_ours(process) and b"pdf.worker" in _words(process)
    )
    return found


def _is_ours(process: Path) -> bool:
    try:
        status = (process / "stat").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return False
    return int(status.rpartition(")")[2].split()[1]) == os.getpid()


def _words(process: Path) -> bytes:
    return (process / "cmdline").read_bytes()
