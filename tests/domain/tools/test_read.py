"""The Read tool over real files."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

from norma.domain.model.blocks import Image, Text
from norma.domain.tools.images import MOST_BYTES as MOST_IMAGE_BYTES
from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.domain.tools.read import MOST_BYTES
from norma.ports.errors import ToolFailed
from tests.domain.tools.calling import Host


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def put(host, data):
    Path(host.workspace.roots[0], "f").write_bytes(data)


async def read(host, data, **more):
    put(host, data)
    return await host.text("Read", {"file_path": "f", **more})


async def test_lines_are_numbered(host):
    assert await read(host, b"one\ntwo\n") == "     1\tone\n     2\ttwo"


async def test_a_last_line_without_a_line_feed_counts(host):
    assert await read(host, b"one\n\ntwo") == "     1\tone\n     2\t\n     3\ttwo"


async def test_offset_and_limit_choose_lines_and_the_rest_is_named(host):
    data = b"".join(b"line %d\n" % number for number in range(1, 11))
    assert await read(host, data, offset=3, limit=2) == (
        "     3\tline 3\n     4\tline 4\n[6 more lines; continue with offset=5]"
    )


@pytest.mark.parametrize("offset", [0, 1, 1.0])
async def test_an_offset_of_0_is_the_first_line(host, offset):
    assert await read(host, b"one\n", offset=offset) == "     1\tone"


async def test_an_offset_behind_the_end_says_how_long_the_file_is(host):
    assert await read(host, b"one\n", offset=9) == "[f has 1 line; offset 9 is behind its end]"


async def test_an_empty_file_says_so(host):
    assert await read(host, b"") == "[f is empty]"


async def test_a_long_line_is_cut_at_a_character(host):
    text = await read(host, "é".encode() * 2001 + b"\nshort\n")
    assert text == (
        f"     1\t{'é' * 2000}…\n     2\tshort\n"
        "[cut at 2000 characters: line 1; Bash with cut -c shows the rest]"
    )


async def test_long_output_is_cut_at_a_line_and_reading_on_gives_all_of_it(host):
    data = b"".join(b"%04d %s\n" % (number, b"x" * 60) for number in range(1, 1501))
    seen, offset = [], 1
    while offset:
        text = await read(host, data, offset=offset)
        assert len(text) <= OUTPUT_CHARACTERS + 200
        lines = text.split("\n")
        offset = int(lines.pop().rpartition("=")[2].rstrip("]")) if lines[-1].startswith("[") else 0
        seen += [line.split("\t")[1] for line in lines]
    assert "\n".join(seen) + "\n" == data.decode()


async def test_line_ends_and_the_mark_in_front_are_not_shown(host):
    assert await read(host, b"\xef\xbb\xbfone\r\ntwo\r\n") == "     1\tone\n     2\ttwo"


MIXED = "which not all lines do: for Edit they end in \\r\\n]"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b"a\r\nb\nc\r\nd",
            "     1\ta\n     2\tb\n     3\tc\n     4\td\n[lines 1, 3 end in CR LF, " + MIXED,
        ),
        (
            b"a\r\nb\nc\r",
            "     1\ta\n     2\tb\n     3\tc\r\n[line 1 ends in CR LF, " + MIXED,
        ),
        (
            b"a\rb\r",
            "     1\ta\n     2\tb\n[the file is one whose lines end in CR alone, and stays so if edited]",
        ),
        (b"\xff\xfe", "[f is empty, but for the mark of UTF-16-LE in front]"),
        (b"\xef\xbb\xbf", "[f is empty, but for the mark of UTF-8 in front]"),
    ],
)
async def test_line_ends_that_do_not_show_are_told(host, data, text):
    assert await read(host, data) == text


async def test_a_file_cut_between_cr_and_lf_has_one_kind_of_line_ends(host):
    data = b"x" * (MOST_BYTES - 3) + b"\r\n\r\n"
    assert "CR" not in await read(host, data)


async def test_only_line_feeds_end_lines(host):
    assert await read(host, "a\u2028b\x0cc\n".encode()) == "     1\ta\u2028b\x0cc"


async def test_bytes_that_are_no_utf_8_are_replaced_and_named(host):
    text = await read(host, b"a\xffb\xc3\xa9\n")
    assert text == "     1\ta\ufffdb\u00e9\n[bytes that are no UTF-8 are shown as \ufffd]"
    assert "UTF-8" not in await read(host, "a\ufffdb\n".encode())


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n", "PNG"),
        (b"ab\0c", "unknown"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\xff\xfea\0b", "begins like UTF-16"),
        (b"\xff\xfea\0\0\0", "begins like UTF-16"),
    ],
)
async def test_a_binary_file_is_described(host, data, kind):
    text = await read(host, data)
    assert kind in text
    assert f"{len(data)} bytes" in text


async def test_a_file_too_long_to_read_whole_says_what_is_missing(host):
    data = b"x" * 99 + b"\n"
    text = await read(host, data * (MOST_BYTES // 100 + 10), offset=MOST_BYTES // 100)
    assert f"only the first {MOST_BYTES}" in text
    assert "Grep" in text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none", "none does not exist"),
        ("folder", "folder is a folder.*LS"),
        ("f/x", "f/x.*file and not a folder"),
    ],
)
async def test_an_error_says_what_would_help(tmp_path, host, path, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(ToolFailed, match=words):
        await host.run("Read", {"file_path": path})


def test_a_limit_of_nothing_is_against_the_schema(host):
    assert "limit" in str(host.fault("Read", {"file_path": "f", "limit": 0}))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
async def test_text_with_a_mark_in_front_is_shown(host, encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text = await read(host, mark + "\u00e9\r\n\U0001f600 two\r\n".encode(encoding))
    lines = text.split("\n")
    assert lines[:2] == ["     1\t\u00e9", "     2\t\U0001f600 two"]
    name = {"utf-16": "UTF-16-LE", "utf-32": "UTF-32-LE"}.get(encoding, encoding.upper())
    assert lines[2:] == ([] if "8" in name else [f"[the file is in {name}, and stays so if edited]"])


async def test_half_a_pair_in_utf_16_is_shown_as_unreadable(host):
    text = await read(host, b"\xff\xfe" + "a\ud800b".encode("utf-16-le", "surrogatepass"))
    assert text.startswith("     1\ta\ufffdb\n")
    assert text.encode()


@pytest.mark.parametrize(
    ("data", "shown", "name"),
    [
        (b"caf\xe9\n", "caf\u00e9", "Latin-1"),
        (b"\x93quoted\x94 caf\xe9\n", "\u201cquoted\u201d caf\u00e9", "Windows-1252"),
    ],
)
async def test_latin_1_is_shown_with_a_note(host, data, shown, name):
    assert await read(host, data) == f"     1\t{shown}\n[the file is in {name}, and stays so if edited]"


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9 \xc3\xa9\n", b"caf\xe9\x01\n", b"\x81\xe9\n"],
    ids=["UTF-8 too", "a control", "no 1252"],
)
async def test_what_does_not_read_as_latin_1_stays_utf_8(host, data):
    assert "[bytes that are no UTF-8 are shown as \ufffd]" in await read(host, data)


async def test_utf_8_that_ends_inside_a_character_is_no_latin_1(host):
    assert "no UTF-8" in await read(host, "th\u00e9, caf\u00e9".encode()[:-1])


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a" + b"\0" * 9, "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_an_image_is_an_image_block(host, data, kind):
    put(host, data)
    text, picture = (await host.run("Read", {"file_path": "f"})).blocks
    assert text == Text(f"[f: {kind}, {len(data)} bytes]")
    assert picture == Image(kind, b64encode(data).decode(), name="f")


async def test_an_image_that_no_model_takes_is_described(host):
    data = PNG + b"\0" * MOST_IMAGE_BYTES
    assert await read(host, data) == (
        f"[f is a binary file (a PNG image, {len(data)} bytes) and is not shown]"
    )


CELLS = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "source": "print(1)\n1 / 0",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": ["<Figure>"]}},
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"},
            ],
        },
    ],
    "metadata": {},
    "nbformat": 4,
}


async def test_a_notebook_is_shown_by_its_cells(tmp_path, host):
    (tmp_path / "n.ipynb").write_text(json.dumps(CELLS))
    text = await host.text("Read", {"file_path": "n.ipynb"})
    *lines, note = text.split("\n")
    assert [line.partition("\t")[2] for line in lines] == [
        "[cell 1: markdown]",
        "# Title",
        "words",
        "[cell 2: code]",
        "print(1)",
        "1 / 0",
        "[output]",
        "1",
        "[output]",
        "[image/png, not shown]",
        "<Figure>",
        "[output]",
        "ZeroDivisionError: division by zero",
    ]
    assert note.startswith("[a notebook, shown by its cells; Edit and Write change the JSON behind it")
    part = await host.text("Read", {"file_path": "n.ipynb", "offset": 4, "limit": 1})
    assert part.startswith("     4\t[cell 2: code]\n[9 more lines; continue with offset=5]")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000], ids=lambda text: text[:14]
)
async def test_what_is_no_notebook_is_shown_as_it_is(tmp_path, host, content):
    (tmp_path / "n.ipynb").write_text(content)
    text = await host.text("Read", {"file_path": "n.ipynb"})
    assert text.startswith(f"     1\t{content[:2000]}")


async def test_a_notebook_without_cells_says_so(tmp_path, host):
    (tmp_path / "n.ipynb").write_text('{"cells": []}')
    assert await host.text("Read", {"file_path": "n.ipynb"}) == "[n.ipynb is a notebook without cells]"


@pytest.mark.parametrize(
    "cell", [{}, {"source": 1}, {"source": None, "outputs": [1, {"data": 1}, {"text": 2}]}]
)
async def test_an_odd_cell_breaks_nothing(tmp_path, host, cell):
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert "[cell 1: unknown]" in await host.text("Read", {"file_path": "n.ipynb"})
