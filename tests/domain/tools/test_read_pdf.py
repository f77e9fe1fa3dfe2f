"""How Read shows PDFs: page by page, with the numbers, offsets and limits of other text."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.documents import Paged, ScriptedDocuments
from norma.domain.tools.documents import KEPT, MOST_BYTES, WIDTH
from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.domain.tools.read import MOST_BYTES as MOST_TEXT_BYTES
from norma.ports.documents import DocumentPage, NotInstalled, Unreadable
from norma.ports.errors import ToolFailed
from tests.domain.tools.calling import Host

DATA = b"%PDF-1.7\nscripted"


def reading(folder: Path, pages: Paged | Exception, data: bytes = DATA) -> tuple[Host, ScriptedDocuments]:
    """A host whose file f.pdf has *pages*."""
    (folder / "f.pdf").write_bytes(data)
    script = [pages] if isinstance(pages, Exception) else pages
    documents = ScriptedDocuments({data: script})
    return Host(folder, documents=documents), documents


async def shown(host: Host, **more: Any) -> str:
    return await host.text("Read", {"file_path": "f.pdf", **more})


async def failure(host: Host, **more: Any) -> str:
    with pytest.raises(ToolFailed) as caught:
        await host.run("Read", {"file_path": "f.pdf", **more})
    return str(caught.value)


async def test_pages_have_heads_and_their_lines_numbers(tmp_path):
    host, _ = reading(tmp_path, ["one\n\ntwo", "three"])
    assert await shown(host) == (
        "     1\t--- page 1 of 2 ---\n     2\tone\n     3\t\n     4\ttwo\n"
        "     5\t--- page 2 of 2 ---\n     6\tthree"
    )


async def test_a_page_without_text_says_so(tmp_path):
    host, _ = reading(tmp_path, ["", "words"])
    assert (await shown(host)).startswith(
        "     1\t--- page 1 of 2 ---\n     2\t[this page has no text: it is blank, or a picture]\n"
    )


async def test_a_page_with_a_fault_says_it_and_the_next_one_is_shown(tmp_path):
    host, _ = reading(
        tmp_path, [DocumentPage(1, 3, "", "it is damaged"), DocumentPage(2, 3, "half", "cut"), "words"]
    )
    lines = [line.partition("\t")[2] for line in (await shown(host)).split("\n")]
    assert lines[1] == "[this page is not shown: it is damaged]"
    assert lines[3:5] == ["half", "[the rest of this page is not shown: cut]"]
    assert lines[-1] == "words"


async def test_offset_and_limit_choose_lines_and_the_rest_is_named(tmp_path):
    host, _ = reading(tmp_path, ["one\ntwo", "three\nfour\nfive"])
    assert await shown(host, offset=2, limit=1) == (
        "     2\tone\n[more lines, up to page 2; continue with offset=3]"
    )
    assert await shown(host, offset=5, limit=2) == (
        "     5\tthree\n     6\tfour\n[1 more line; continue with offset=7]"
    )
    assert await shown(host, offset=7) == "     7\tfive"


async def test_an_offset_behind_the_end_says_how_long_it_is(tmp_path):
    host, _ = reading(tmp_path, ["one"])
    for _ in range(2):
        assert await shown(host, offset=3) == "[f.pdf has 2 lines of text; offset 3 is behind its end]"


async def test_a_pdf_without_pages_says_so(tmp_path):
    host, _ = reading(tmp_path, [])
    assert await shown(host) == "[f.pdf is a PDF without pages]"


async def test_reading_on_by_the_offsets_gives_all_of_it_and_no_page_is_read_twice_in_vain(tmp_path):
    pages = [f"{page} " + "x" * 60 + f"\n{page} end" for page in range(1, 901)]
    host, documents = reading(tmp_path, pages)
    seen: list[str] = []
    offset = 1
    while offset:
        text = await shown(host, offset=offset)
        assert len(text) <= OUTPUT_CHARACTERS + 200
        *lines, last = text.split("\n")
        more = re.fullmatch(r"\[.*continue with offset=(\d+)\]", last)
        seen += lines if more else [*lines, last]
        offset = int(more[1]) if more else 0
    wanted = [
        line
        for number, page in enumerate(pages, 1)
        for line in (f"--- page {number} of 900 ---", *page.split("\n"))
    ]
    assert [line.partition("\t")[2] for line in seen] == wanted
    assert [int(line.partition("\t")[0]) for line in seen] == list(range(1, len(wanted) + 1))
    starts = [first for _, first in documents.readings]
    assert starts == sorted(starts)
    assert len(set(starts)) == len(starts) > 2


async def test_a_file_that_changed_is_read_from_its_first_page(tmp_path):
    host, _ = reading(tmp_path, ["one\ntwo", "three"])
    await shown(host)
    other = DATA + b" changed"
    documents = ScriptedDocuments({DATA: ["one\ntwo", "three"], other: ["new", "other"]})
    host = Host(tmp_path, documents=documents)
    assert "three" in await shown(host, offset=4)
    (tmp_path / "f.pdf").write_bytes(other)
    assert await shown(host, offset=4) == "     4\tother"
    assert documents.readings == [(DATA, 1), (other, 1)]


async def test_only_so_many_documents_are_remembered(tmp_path):
    host, documents = reading(tmp_path, ["one", "two"])
    await shown(host)
    await shown(host, offset=3)
    for number in range(KEPT):
        (tmp_path / f"{number}.pdf").write_bytes(DATA)
        await host.run("Read", {"file_path": f"{number}.pdf"})
    await shown(host, offset=3)
    assert [first for _, first in documents.readings] == [1, 2, *[1] * KEPT, 1]


async def test_a_line_that_is_too_long_goes_on_in_the_next_one(tmp_path):
    host, _ = reading(tmp_path, ["x" * (WIDTH + 3) + "\nend"])
    assert (await shown(host)).split("\n")[1:] == [f"     2\t{'x' * WIDTH}", "     3\txxx", "     4\tend"]


async def test_text_that_is_no_unicode_is_replaced(tmp_path):
    host, _ = reading(tmp_path, ["a\ud800b"])
    text = await shown(host)
    assert text.endswith("a\ufffdb")


async def test_what_can_not_be_read_is_a_plain_error(tmp_path):
    host, _ = reading(tmp_path, Unreadable("it is locked with a password"))
    assert await failure(host) == "f.pdf is a PDF, but it is locked with a password."


async def test_what_came_before_the_fault_is_shown_with_a_note(tmp_path):
    host, _ = reading(tmp_path, ["one", Unreadable("it is damaged"), "two"])
    assert await shown(host) == (
        "     1\t--- page 1 of 2 ---\n     2\tone\n[the reading ended after page 1 of 2: it is damaged]"
    )
    assert await shown(host, limit=1) == (
        "     1\t--- page 1 of 2 ---\n[more lines, up to page 2; continue with offset=2]"
    )
    assert await failure(host, offset=3) == "f.pdf is a PDF, but it is damaged."


async def test_what_came_in_time_is_shown_and_how_to_go_on(tmp_path):
    host, _ = reading(tmp_path, ["one", TimeoutError("it took longer than 1 s"), "two"])
    assert await shown(host) == (
        "     1\t--- page 1 of 2 ---\n     2\tone\n[more lines, up to page 2; continue with offset=3]\n"
        "[the reading ended after page 1 of 2: it took longer than 1 s]"
    )


async def test_a_reading_that_takes_too_long_says_how_far_it_came_and_the_next_one_goes_on_there(tmp_path):
    host, documents = reading(tmp_path, ["one", "two", TimeoutError("it took longer than 1 s"), "three"])
    assert await failure(host, offset=5) == (
        "f.pdf is a PDF, but it took longer than 1 s; this call came to page 2 of 3, "
        "and the next one goes on from there."
    )
    assert await failure(host, offset=5) == "f.pdf is a PDF, but it took longer than 1 s."
    assert [first for _, first in documents.readings] == [1, 3]


async def test_without_the_extra_it_is_described_and_the_extra_named(tmp_path):
    host, _ = reading(tmp_path, NotInstalled("pip install 'norma-agent[pdf]' lets its text be read"))
    assert await shown(host) == (
        f"[f.pdf is a binary file (a PDF document, {len(DATA)} bytes) and is not shown; "
        "pip install 'norma-agent[pdf]' lets its text be read]"
    )


async def test_without_a_reader_it_is_described(tmp_path):
    (tmp_path / "f.pdf").write_bytes(DATA)
    assert await shown(Host(tmp_path)) == (
        f"[f.pdf is a binary file (a PDF document, {len(DATA)} bytes) and is not shown]"
    )


async def test_a_pdf_longer_than_other_text_is_read_whole(tmp_path):
    data = DATA + bytes(MOST_TEXT_BYTES)
    host, _ = reading(tmp_path, ["words"], data)
    assert (await shown(host)).endswith("words")


async def test_a_pdf_that_is_too_long_is_described_and_the_limit_named(tmp_path):
    host, documents = reading(tmp_path, ["words"])
    os.truncate(tmp_path / "f.pdf", MOST_BYTES + 1)
    text = await shown(host)
    assert text.endswith(f"is not shown; PDFs of up to {MOST_BYTES} bytes are]")
    assert documents.readings == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", {"old_string": "one", "new_string": "two"}),
        ("MultiEdit", {"edits": [{"old_string": "one", "new_string": "two"}]}),
    ],
)
async def test_a_pdf_that_was_read_is_not_edited_as_text(tmp_path, tool: str, arguments: Mapping[str, Any]):
    host, _ = reading(tmp_path, ["one"])
    await shown(host)
    with pytest.raises(ToolFailed, match="is a binary file"):
        await host.run(tool, {"file_path": "f.pdf", **arguments})
    assert (tmp_path / "f.pdf").read_bytes() == DATA
