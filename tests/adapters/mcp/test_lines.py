"""P4: lines out of bytes, however they are cut, and what is told of one that is too long."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.mcp.channel import read_frame
from norma.adapters.mcp.lines import EDGE_BYTES, Lines, TooLong, long_frame
from norma.ports.contracts.splits import same_for_every_split


def lines_of(pieces: list[bytes], most: int = 1 << 20) -> list[bytes | TooLong]:
    splitter = Lines(most)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return found + splitter.finish()


def test_P4_every_cut_gives_the_same_lines() -> None:
    data = '{"a":"é"}\r\n\n\r\n{"b":"\\n"}\n{"last":1}'.encode()
    whole = same_for_every_split(lambda pieces: lines_of(list(pieces)), data)
    assert whole == ['{"a":"é"}'.encode(), b'{"b":"\\n"}', b'{"last":1}']


@given(st.lists(st.binary(max_size=30)), st.lists(st.integers(0, 400)))
def test_P4_any_bytes_in_any_pieces(parts: list[bytes], cuts: list[int]) -> None:
    data = b"\n".join(parts)
    places = sorted({cut for cut in cuts if cut < len(data)})
    pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    wanted = [line for part in data.split(b"\n") if (line := part.removesuffix(b"\r"))]
    assert lines_of(pieces) == wanted


@pytest.mark.parametrize("piece", [7, 100, 5000])
@pytest.mark.parametrize(("size", "fits"), [(999, True), (1000, True), (1001, False), (5000, False)])
def test_P4_the_limit_is_exact_and_the_next_line_is_whole(size: int, fits: bool, piece: int) -> None:
    data = b"x" * size + b"\r\nnext\n"
    lines = lines_of([data[at : at + piece] for at in range(0, len(data), piece)], 1000)
    assert lines[-1] == b"next"
    assert isinstance(lines[0], TooLong) is not fits


def test_P4_of_a_long_line_only_the_edges_are_kept() -> None:
    lines = Lines(1 << 20)
    for _ in range(64):
        assert lines.feed(b"y" * (1 << 16)) == []
    (line,) = lines.feed(b"end\n")
    assert isinstance(line, TooLong)
    assert line.size == 64 * (1 << 16) + 3
    assert len(line.head) == len(line.tail) == EDGE_BYTES
    assert line.tail.endswith(b"yyyend")


def long_line(text: str) -> TooLong:
    data = text.encode()
    return TooLong(data[:EDGE_BYTES], data[-EDGE_BYTES:], len(data))


FILL = "z" * 200_000


@pytest.mark.parametrize(
    ("text", "number", "has_method"),
    [
        ('{"jsonrpc":"2.0","id":3,"result":{"x":"%s"}}', 3, False),
        ('{ "jsonrpc" : "2.0" , "id" : 3 , "result":{"x":"%s"}}', 3, False),
        ('{"jsonrpc":"2.0","result":{"id":9,"x":"%s"},"id":3}', 3, False),
        ('{"result":{"x":"%s","id":9},"id":3,"jsonrpc":"2.0"}', 3, False),
        ('{"result":{"x":"\\"id\\":8,%s"},"id":"abc"}', "abc", False),
        ('{"result":{"x":"%s"}}', None, False),
        ('{"result":{"id":9,"x":"%s"}}', None, False),
        ('{"x":{"id":4},"id":3,"result":"%s"}', 3, False),
        ('{"id":5,"method":"sampling/createMessage","params":"%s"}', 5, True),
        ('[{"id":5,"result":"%s"}]', None, False),
        ("%s", None, False),
    ],
)
def test_P4_the_id_of_a_long_frame_is_read_at_its_top_level(
    text: str, number: object, has_method: bool
) -> None:
    found = long_frame(long_line(text % FILL))
    assert (found.id, found.has_method) == (number, has_method)


def test_P4_numbers_that_matter_are_exact() -> None:
    big = 123456789012345678901234567890
    frame = {"id": 1, "result": {"content": [], "structuredContent": {"n": big}}}
    assert read_frame(json.dumps(frame).encode()) == frame
    asked = {"id": big, "method": "ping"}
    assert read_frame(json.dumps(asked).encode()) == asked


def test_P4_bad_utf8_and_lone_surrogates_cost_no_frame() -> None:
    assert read_frame(b'{"a":"\xff\xfe"}') == {"a": "��"}
    assert read_frame(b'{"a":"\\ud83d\\ude00 \\ud83d"}') == {"a": "😀 �"}
    with pytest.raises(ValueError):
        read_frame(b"[INFO] no frame")
    with pytest.raises(ValueError):
        read_frame(b"[" * 100_000)
