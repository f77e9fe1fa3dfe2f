"""M11 on every wire: each cut of each recorded stream gives what the uncut stream gives."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from norma.adapters.wires.errors import WireError
from norma.adapters.wires.wire import Decoding
from tests.adapters.wires.codecs import SHORT, decoding
from tests.rigs.fixtures import fixture_folder
from tests.rigs.model_fixtures import FOLDER, fixtures_in
from tests.rigs.wire_server import chunks_of

_LONGEST = 20_000
_LEAST = {"anthropic": 10, "chat": 20, "responses": 14}


def _streams(config: pytest.Config) -> dict[str, tuple[str, bytes]]:
    out: dict[str, tuple[str, bytes]] = {}
    given = config.getoption("--fixture-dir") is not None
    for short, wire in SHORT.items():
        folder = fixture_folder(config, FOLDER)
        rows = fixtures_in(folder, wire=short, kinds=("stream",), may_be_none=given)
        found = {row["id"]: (wire, stream) for row in rows if (stream := _stream(row)) is not None}
        if not given:
            assert len(found) > _LEAST[short]
        out |= found
    return out


def _stream(row: dict[str, Any]) -> bytes | None:
    headers = row["headers"]
    whole = b"".join(chunks_of(row))
    is_plain = "event-stream" in headers["Content-Type"] and "Content-Encoding" not in headers
    return whole if is_plain and len(whole) < _LONGEST else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stream" in metafunc.fixturenames:
        streams = _streams(metafunc.config)
        if "ends" in metafunc.fixturenames:  # those that have none of their own
            streams = {
                name: row
                for name, row in streams.items()
                if b"\r" not in row[1] and not row[1].startswith(b"\xef")
            }
        metafunc.parametrize("stream", streams.values(), ids=streams.keys())


def decoded(wire: str, *pieces: bytes) -> tuple[list[Any], Any]:
    """The events of a stream, then its failure and what there was of it."""
    decoder: Decoding = decoding(wire, statuses=frozenset({502}))
    try:
        for piece in pieces:
            decoder.feed(piece)
        decoder.finish()
    except WireError as error:
        return list(decoder.events), (error.failure, error.may_retry, decoder.partial())
    return list(decoder.events), None


def test_M11_every_byte_split_gives_the_same_events(stream: tuple[str, bytes]) -> None:
    wire, data = stream
    whole = decoded(wire, data)
    assert whole != ([], None)
    for cut in range(len(data) + 1):
        assert decoded(wire, data[:cut], data[cut:]) == whole, cut
    assert decoded(wire, *(data[at : at + 1] for at in range(len(data)))) == whole


@settings(max_examples=15)
@given(cuts=st.data())
def test_M11_any_list_of_splits_gives_the_same_events(stream: tuple[str, bytes], cuts: st.DataObject) -> None:
    wire, data = stream
    places = sorted(cuts.draw(st.sets(st.integers(0, len(data)), max_size=12)))
    pieces = [data[at:to] for at, to in zip([0, *places], [*places, len(data)], strict=True)]
    assert decoded(wire, *pieces) == decoded(wire, data)


@pytest.mark.parametrize("ends", [b"\r\n", b"\r", b"\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_M11_line_ends_comments_and_a_mark_change_nothing(
    stream: tuple[str, bytes], ends: bytes, mark: bytes
) -> None:
    wire, data = stream
    lines = data.split(b"\n")
    noisy = [part for line in lines for part in ((b": ping", line) if line.startswith(b"data") else (line,))]
    assert decoded(wire, mark + ends.join(noisy)) == decoded(wire, data)
