"""The Read tool over real PDFs."""

import re
from pathlib import Path

import pytest

from norma.adapters.pdf.documents import PdfDocuments
from norma.ports.errors import ToolFailed
from tests.adapters.grep.rigs import children
from tests.adapters.pdf.making import document, page_tree
from tests.domain.tools.calling import Host


async def test_its_pages_are_shown_with_numbered_lines(tmp_path: Path) -> None:
    (tmp_path / "f.pdf").write_bytes(document("one\ntwo", "", packed=True))
    assert await Host(tmp_path, documents=PdfDocuments()).text("Read", {"file_path": "f.pdf"}) == (
        "     1\t--- page 1 of 2 ---\n     2\tone\n     3\ttwo\n"
        "     4\t--- page 2 of 2 ---\n     5\t[this page has no text: it is blank, or a picture]"
    )


async def test_reading_on_gives_every_page_once(tmp_path: Path) -> None:
    texts = [f"page {number}\n" + "\n".join(["words " * 12] * 30) for number in range(60)]
    (tmp_path / "f.pdf").write_bytes(document(*texts, packed=True))
    host = Host(tmp_path, documents=PdfDocuments())
    numbers: list[int] = []
    offset = 1
    while offset:
        text = await host.text("Read", {"file_path": "f.pdf", "offset": offset})
        numbers += map(int, re.findall(r"\tpage (\d+)$", text, re.MULTILINE))
        more = re.search(r"continue with offset=(\d+)\]$", text)
        offset = int(more[1]) if more else 0
    assert numbers == list(range(60))
    assert children() == []


async def test_one_that_can_not_be_read_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "f.pdf").write_bytes(page_tree({2: [2]}))
    with pytest.raises(ToolFailed, match=r"^f\.pdf is a PDF, but it is damaged \(.*\)\.$"):
        await Host(tmp_path, documents=PdfDocuments()).run("Read", {"file_path": "f.pdf"})
