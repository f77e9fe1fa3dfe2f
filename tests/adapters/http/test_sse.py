"""The event-stream decoder (M11)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.http.sse import EventTooLong, SseDecoder

STREAMS: dict[str, tuple[bytes, list[bytes]]] = {
    "LF": (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
    "CR": (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
    "mixed line ends": (b"data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\n\n", [b"a", b"b", b"c", b"d"]),
    "no space after the colon": (b"data:a\n\ndata:  b\n\n", [b"a", b" b"]),
    "several data lines": (b"data: a\ndata: b\n\ndata: c\r\ndata:\r\ndata: d\r\n\r\n", [b"a\nb", b"c\n\nd"]),
    "comments and other fields": (
        b": hi\n\nevent: x\ndata: a\nid: 7\n:\nretry: 3\n\n:\n\nfoo: bar\n\ndata: b\n\n",
        [b"a", b"b"],
    ),
    "event after data": (b"data: a\nevent: x\n\n", [b"a"]),
    "empty data": (b"data:\n\ndata\n\ndata: a\n\n", [b"", b"", b"a"]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n", [b"a", b"\xef\xbb\xbfb"]),
    "part of a byte order mark": (b"\xef\xbbdata: a\n\ndata: b\n\n", [b"b"]),
    "line ends of Unicode alone": (
        "data: a\u2028b\u2029c\u0085d\u000be\n\n".encode(),
        ["a\u2028b\u2029c\u0085d\u000be".encode()],
    ),
    "blank lines": (b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [b"a", b"b"]),
    "a field that only begins like data": (b"datax: a\n\nDATA: b\n\ndata: c\n\n", [b"c"]),
}


def decoded(*pieces: bytes) -> list[bytes]:
    decoder = SseDecoder()
    found = [data for piece in pieces for data in decoder.feed(piece)]
    rest = decoder.finish()
    return found if rest is None else [*found, rest]


@pytest.mark.parametrize("name", STREAMS)
def test_M11_a_stream_gives_its_events_at_every_byte_split(name: str) -> None:
    stream, events = STREAMS[name]
    assert decoded(stream) == events
    assert decoded(*(stream[at : at + 1] for at in range(len(stream)))) == events
    for cut in range(len(stream) + 1):
        assert decoded(stream[:cut], stream[cut:]) == events, cut
        for second in range(cut, len(stream) + 1):
            assert decoded(stream[:cut], stream[cut:second], stream[second:]) == events, (cut, second)


@given(
    st.lists(st.sampled_from([b"data: x", b"data:y", b":c", b"event: e", b"", b"", b"data"]), max_size=12),
    st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=12, max_size=12),
    st.lists(st.integers(0, 120), max_size=6),
)
def test_M11_it_agrees_with_the_letter_of_the_specification(
    lines: list[bytes], ends: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(line + end for line, end in zip(lines, ends, strict=False)) + b"\n\n"
    at = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert decoded(*(stream[a:b] for a, b in pairwise(at))) == by_the_letter(stream)


def by_the_letter(stream: bytes) -> list[bytes]:
    """The specification's own steps, slow and plain. (It drops an event whose data is empty.)"""
    events: list[bytes] = []
    data: list[bytes] = []
    for line in stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        if not line:
            if data:
                events.append(b"\n".join(data))
            data = []
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
    return events


@pytest.mark.parametrize("tail", [b"[DONE]", b'{"a": 1}', b"[1]"])
def test_M11_a_whole_last_event_needs_no_blank_line(tail: bytes) -> None:
    for end in (b"", b"\n", b"\r\n", b"\r"):
        assert decoded(b"data: x\n\ndata: " + tail + end) == [b"x", tail]


@pytest.mark.parametrize("tail", [b'{"a": 1', b"12", b"[DO", b'"abc"', b""])
def test_M11_a_cut_last_event_is_dropped(tail: bytes) -> None:
    assert decoded(b"data: x\n\ndata: " + tail) == [b"x"]


def test_M11_an_endless_event_is_a_named_error() -> None:
    decoder = SseDecoder(most_bytes=100)
    for _ in range(10):
        decoder.feed(b"data: aaaa")
    with pytest.raises(EventTooLong, match="100 bytes"):
        decoder.feed(b"a")


def test_M11_an_event_over_many_reads_is_joined_once() -> None:
    class Piece(bytes):
        def __add__(self, other: object) -> bytes:
            raise AssertionError("pieces are added up one by one, which is quadratic")

    decoder = SseDecoder()
    decoder.feed(b"data: ")
    assert not any(decoder.feed(Piece(b"xy")) for _ in range(1000))
    assert decoder.feed(Piece(b"\n\n")) == [b"xy" * 1000]
