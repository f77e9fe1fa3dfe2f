"""The reader of PDFs keeps the promises of the documents port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from norma.adapters.pdf.documents import PdfDocuments
from norma.ports.contracts import documents
from norma.ports.contracts.documents import TEXTS, DocumentsRig
from norma.ports.contracts.pytest import contract
from tests.adapters.grep.rigs import children
from tests.adapters.pdf.making import document, encrypted
from tests.adapters.pdf.rigs import slow, worker_runs

whole = document(*TEXTS)
BAD = (b"", b"%PDF-1.7\n", b"words", whole[: len(whole) // 3], encrypted("words", password=b"x"))
endless = cache(slow)


@asynccontextmanager
async def pdf(folder: str) -> AsyncIterator[DocumentsRig]:
    made = PdfDocuments(deadline_s=600, page_s=600)
    yield DocumentsRig(made, whole, BAD, endless(1), worker_runs, lambda: len(children()))


test_pdf = contract(documents.CHECKS, pdf)
