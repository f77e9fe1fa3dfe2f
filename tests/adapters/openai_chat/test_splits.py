"""M11 on the chat wire: every cut of every recorded stream gives what the uncut stream gives."""

from typing import Any

import pytest

from norma.adapters.openai_chat.answer import AnswerDecoder
from norma.adapters.wires.errors import WireError
from tests.rigs.fixtures import fixture_folder
from tests.rigs.model_fixtures import FOLDER, fixtures_in
from tests.rigs.wire_server import chunks_of

_LONGEST = 20_000


def _streams(config: pytest.Config) -> dict[str, bytes]:
    rows = fixtures_in(fixture_folder(config, FOLDER), wire="chat", kinds=("stream",))
    return {row["id"]: stream for row in rows if (stream := _stream(row)) is not None}


def _stream(row: dict[str, Any]) -> bytes | None:
    headers = row["headers"]
    whole = b"".join(chunks_of(row))
    is_plain = "event-stream" in headers["Content-Type"] and "Content-Encoding" not in headers
    return whole if is_plain and len(whole) < _LONGEST else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stream" in metafunc.fixturenames:
        streams = _streams(metafunc.config)
        assert len(streams) > 20
        metafunc.parametrize("stream", streams.values(), ids=streams.keys())


def decoded(*pieces: bytes) -> tuple[list[Any], Any]:
    """The events of a stream, then its failure and what there was of it."""
    ids = iter(range(1000))
    decoder = AnswerDecoder(
        host="h", new_id=lambda: str(next(ids)), vendor="v", tool_name=str, statuses=frozenset({502})
    )
    try:
        for piece in pieces:
            decoder.feed(piece)
        decoder.finish()
    except WireError as error:
        return list(decoder.events), (error.failure, error.may_retry, decoder.partial())
    return list(decoder.events), None


def test_M11_every_byte_split_gives_the_same_events(stream: bytes) -> None:
    whole = decoded(stream)
    assert whole != ([], None)
    for cut in range(len(stream) + 1):
        assert decoded(stream[:cut], stream[cut:]) == whole, cut
    assert decoded(*(stream[at : at + 1] for at in range(len(stream)))) == whole
