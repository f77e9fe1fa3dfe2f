"""The Read tool over real files."""

from pathlib import Path

import pytest

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


async def test_only_line_feeds_end_lines(host):
    assert await read(host, "a\u2028b\x0cc\n".encode()) == "     1\ta\u2028b\x0cc"


async def test_bytes_that_are_no_utf_8_are_replaced_and_named(host):
    text = await read(host, b"a\xffb\n")
    assert text == "     1\ta\ufffdb\n[bytes that are no UTF-8 are shown as \ufffd]"
    assert "UTF-8" not in await read(host, "a\ufffdb\n".encode())


@pytest.mark.parametrize(
    ("data", "kind"), [(b"\x89PNG\r\n", "PNG"), (b"ab\0c", "unknown"), ("x".encode("utf-16"), "UTF-16")]
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
