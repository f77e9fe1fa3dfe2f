"""Events with ids and waits, however the bytes are cut (M11)."""

import pytest

from norma.adapters.mcp.event_stream import EventStream, EventTooLong, ServerEvent
from norma.ports.contracts.splits import same_for_every_split

STREAM = (
    '\ufeffid: 1\r\ndata: {"a":"é"}\r\n\r\n: comment\n\nretry: 1500\nid: 2\ndata:\n\n'
    "event: message\ndata: one\ndata:two\n\nid\rdata: three\r\rdata: unfinished"
).encode()


def events_of(pieces: object) -> tuple[list[ServerEvent], float | None]:
    stream = EventStream()
    found = [event for piece in pieces for event in stream.feed(piece)]  # type: ignore[attr-defined]
    return found, stream.retry_s


def test_M11_every_cut_gives_the_same_events() -> None:
    events, retry_s = same_for_every_split(events_of, STREAM)
    assert events == [
        ServerEvent('{"a":"é"}'.encode(), "1"),
        ServerEvent(b"", "2"),
        ServerEvent(b"one\ntwo", "2"),
        ServerEvent(b"three", ""),
    ]
    assert retry_s == 1.5


@pytest.mark.parametrize("pieces", [[b"data: " + b"x" * 50], [b"data: xxxxxxxx\n"] * 10, [b"x" * 9] * 10])
def test_an_event_is_bounded(pieces: list[bytes]) -> None:
    stream = EventStream(most_bytes=40)
    with pytest.raises(EventTooLong):
        any(stream.feed(piece) for piece in pieces)


def test_rubbish_is_no_wait() -> None:
    stream = EventStream("before")
    stream.feed(b"retry: -5\nretry: x\nretry: 99999999999\nid: a\0b\n\n")
    assert stream.retry_s is None
    assert stream.last_id == "before"
