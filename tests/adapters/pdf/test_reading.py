"""What is read of PDFs that are whole, and what is said of those that are not."""

import asyncio
import json
import random
import re
from contextlib import suppress
from io import StringIO

import pytest
from pypdf import PdfReader
from pypdf.errors import DependencyError

from norma.adapters.pdf.documents import PdfDocuments
from norma.adapters.pdf.worker import MOST_CHARACTERS, Refused, fault_of, tell
from norma.ports.documents import DocumentPage, Unreadable
from tests.adapters.pdf.making import (
    HELVETICA,
    document,
    encrypted,
    inflating,
    laughing,
    page_tree,
    pages,
    pdf,
    shows,
    with_unicode_map,
)
from tests.adapters.pdf.rigs import read


async def texts(data, **wishes):
    return [page.text for page in await read(PdfDocuments(**wishes), data)]


async def refusal(data, **wishes):
    with pytest.raises(Unreadable) as caught:
        await read(PdfDocuments(**wishes), data)
    said = str(caught.value)
    assert said.strip()
    assert "\n" not in said
    return said


@pytest.mark.parametrize("packed", [False, True])
async def test_every_page_comes_with_its_number(packed):
    data = document("one\ntwo (2)", "", "back\\slash", packed=packed)
    assert await read(PdfDocuments(), data) == [
        DocumentPage(1, 3, "one\ntwo (2)"),
        DocumentPage(2, 3, ""),
        DocumentPage(3, 3, "back\\slash"),
    ]


async def test_letters_come_by_the_encoding_of_their_font():
    assert await texts(document("caf\u00e9 \u20ac \u201cso\u201d")) == ["caf\u00e9 \u20ac \u201cso\u201d"]
    drawn = b"BT /F1 12 Tf 72 720 Td (a\x80b) Tj ET"
    own = HELVETICA.replace(b"/WinAnsiEncoding", b"<< /Differences [128 /alpha] >>")
    assert await texts(pdf(pages(drawn, font=own))) == ["a\u03b1b"]


async def test_glyphs_without_an_encoding_come_by_their_unicode_map():
    words = "\u65e5\u672c \u0434\u0430 \U0001f600 ok"
    assert await texts(with_unicode_map(words)) == [words]


async def test_control_characters_and_blanks_at_line_ends_are_not_told():
    drawn = b"BT /F1 12 Tf 14 TL 72 720 Td (a\\033[2Jb   ) Tj T* (c\\000) Tj ET"
    (text,) = await texts(pdf(pages(drawn)))
    assert text == "a\ufffd[2Jb\nc\ufffd"


@pytest.mark.parametrize("aes", [False, True])
async def test_what_is_encrypted_and_needs_no_password_is_read(aes):
    assert await texts(encrypted("secret", aes=aes)) == ["secret"]


@pytest.mark.parametrize("aes", [False, True])
async def test_what_needs_a_password_is_refused(aes):
    assert await refusal(encrypted("secret", password=b"x", aes=aes)) == "it is locked with a password"


def test_what_one_more_package_would_decrypt_says_which():
    said = fault_of(DependencyError("cryptography>=3.1 is required for AES algorithm"))
    assert "one more package" in said
    assert "cryptography" in said


async def test_a_document_without_a_table_of_places_is_read_all_the_same():
    data = document("one", "two")
    assert await texts(data[: data.rindex(b"startxref")] + b"startxref\n99999\n%%EOF") == ["one", "two"]


async def test_a_table_that_leads_back_to_itself_is_no_endless_loop():
    data = document("one")
    place = data.rindex(b"xref\n0")
    assert await texts(data.replace(b"/Root 1 0 R ", b"/Root 1 0 R /Prev %d " % place)) == ["one"]


DAMAGED = {
    "nothing": b"",
    "only its first line": b"%PDF-1.7\n",
    "no PDF": b"%PDF-1.7\n" + b"x" * 5000,
    "cut": document("one\ntwo")[:400],
    "a page tree that is its own branch": page_tree({2: [2]}),
    "a page tree that leads back": page_tree({2: [3, 20], 3: [2]}),
    "a page tree of nested dictionaries": pdf({**pages(b""), 2: b"<</A" * 100_000}),
    "a page tree without a top": pdf({1: b"<< /Type /Catalog >>"}),
    "a table of what is no number": document("one").replace(b"startxref\n", b"startxref\nx"),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
async def test_what_is_damaged_is_read_as_far_as_it_goes_or_refused_on_one_line(data):
    (outcome,) = await asyncio.gather(read(PdfDocuments(), data), return_exceptions=True)
    assert isinstance(outcome, list | Unreadable)
    assert isinstance(outcome, list) or re.fullmatch("it is .*", str(outcome))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (page_tree({number: [number + 1] for number in range(2, 3000)}), "too large inside|too deeply"),
        (
            page_tree({number: [number + 1] * 2 for number in range(2, 42)}),
            "too large inside|too much memory",
        ),
        (pdf({**pages(b""), 2: b"[" * 100_000}), "too deeply"),
    ],
    ids=["deep tree", "a tree of 2 ** 40 pages", "nested arrays"],
)
async def test_a_bomb_is_refused(data, words):
    said = await refusal(data)
    assert any(word in said for word in words.split("|")), said


async def test_a_page_that_inflates_without_end_has_a_fault_and_the_next_one_comes():
    bomb = pages(b"0 0 m\n" * 20_000_000, shows("after"), packed=True)
    first, second = await read(PdfDocuments(), pdf(bomb))
    assert (first.text, second.text, second.fault) == ("", "after", "")
    assert "too large inside" in first.fault


async def test_a_page_that_takes_too_much_memory_has_a_fault():
    (page,) = await read(PdfDocuments(memory=90 << 20), inflating(70_000_000))
    assert page.fault == "it takes too much memory"


async def test_a_form_that_is_drawn_without_end_keeps_nobody():
    first, second = await read(PdfDocuments(), laughing())
    assert (first.text, second.text) == ("", "after")


async def test_a_page_that_takes_too_long_has_a_fault_and_the_next_one_comes():
    drawing = b"BT /F1 9 Tf " + b"(a) Tj " * 1_500_000 + b" ET"
    first, second = await read(PdfDocuments(page_s=0.5), pdf(pages(drawing, shows("after"), packed=True)))
    assert (first.text, first.fault) == ("", "it takes more than 0.5 s of processor time")
    assert second.text == "after"


async def test_a_font_that_is_wrong_spoils_its_page_alone():
    objects = pages(shows("one"), shows("two"), more={5: b"[" * 50_000})
    objects[10] = objects[10].replace(b"3 0 R", b"5 0 R")
    first, second = await read(PdfDocuments(), pdf(objects))
    assert "too deeply" in first.fault
    assert second == DocumentPage(2, 2, "two")


async def test_a_page_of_more_text_than_a_book_is_cut_and_says_so():
    (page,) = await read(PdfDocuments(), document("x" * (MOST_CHARACTERS + 10), packed=True))
    assert len(page.text) == MOST_CHARACTERS
    assert page.fault == f"only its first {MOST_CHARACTERS} characters are read"


def damaged(data: bytes, by: random.Random) -> bytes:
    """*data* with a few bytes changed, taken out or put in once more."""
    out = bytearray(data)
    for _ in range(by.randint(1, 8)):
        place, size = by.randrange(len(out)), by.randint(1, 60)
        match by.randrange(3):
            case 0:
                out[place] = by.randrange(256)
            case 1 if len(out) > 2 * size:
                del out[place : place + size]
            case _:
                out[place:place] = out[by.randrange(len(out)) :][:size]
    return bytes(out)


SEEDS = (document("one\ntwo", "", "three", packed=True), with_unicode_map("words"), encrypted("secret"))


def test_what_is_damaged_at_random_is_told_or_refused() -> None:
    by = random.Random(7)
    read_after_all = 0
    for _ in range(400):
        output = StringIO()
        with suppress(Refused):
            tell(output, PdfReader, damaged(by.choice(SEEDS), by), {"first": 1, "page_s": 0})
            read_after_all += 1
        for line in output.getvalue().splitlines():
            kind, *facts = json.loads(line)
            assert kind == "page"
            assert DocumentPage(*facts).of >= DocumentPage(*facts).number
    assert 0 < read_after_all < 400
