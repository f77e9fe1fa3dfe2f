"""
Fuzzing of the decoders of answers.

With atheris installed, `python -m tests.adapters.wires.fuzz [WIRE] [libFuzzer's options]` runs until
something breaks, or for as long as the options say (`-max_total_time=60`). The tests use the same checks.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from norma.adapters.http.sse import SseDecoder
from norma.adapters.wires.errors import WireError
from norma.adapters.wires.wire import Decoding
from norma.domain.model import to_json
from norma.domain.model.blocks import Text
from norma.domain.model.replies import BlockEnded, ReplyFinished, TextDelta
from tests.adapters.wires.answers import (
    block,
    call_block,
    called,
    chunk,
    message,
    response,
    said,
    text_block,
    unnamed,
)
from tests.adapters.wires.codecs import CODECS, decoding

_THOUGHT = block(
    0,
    {"type": "thinking", "thinking": ""},
    {"type": "thinking_delta", "thinking": "hm"},
    {"type": "signature_delta", "signature": "S"},
)
_FUNCTION = {"name": "f", "arguments": '{"n": 1}'}

SEEDS: Mapping[str, Sequence[bytes]] = {
    "anthropic": [
        message(text_block(0, "a", "b")),
        message(_THOUGHT, text_block(1, "a"), call_block(2, "t", "f", '{"n":', "1}"), reason="tool_use"),
    ],
    "openai-chat": [
        unnamed(chunk(content="a"), chunk(content="b"), chunk("stop"), "[DONE]"),
        unnamed(
            chunk(reasoning="hm"),
            chunk(tool_calls=[{"index": 0, "id": "c", "function": _FUNCTION}]),
            chunk("tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
            "[DONE]",
        ),
    ],
    "openai-responses": [
        response(said(0, "a", "b")),
        response(said(0, "a"), called(1, "c", "f", '{"n":', "1}"), called(2, "d", "g", "{}")),
    ],
}
"""Good streams to begin with, one of text alone first."""


def survive(wire: str, data: bytes, size: int) -> object:
    """
    Feed *data* in pieces of *size*: events in their order, or a WireError; and all can be encoded.

    What was told: the failure, the events, and what there was of a reply that did not end.
    """
    decoder = decoding(wire)
    failure = None
    try:
        for at in range(0, len(data), size):
            decoder.feed(data[at : at + size])
        decoder.finish()
    except WireError as error:
        failure = to_json(error.failure)
        json.dumps(failure, ensure_ascii=False).encode()
    return failure, _check(decoder)


def survive_whole(wire: str, data: bytes) -> None:
    """The same for a body."""
    decoder = decoding(wire)
    try:
        decoder.whole(data)
    except WireError as error:
        json.dumps(to_json(error.failure), ensure_ascii=False).encode()
    _check(decoder)


def same_however_cut(wire: str, data: bytes, size: int) -> None:
    """M11, for streams good and bad."""
    assert survive(wire, data, size) == survive(wire, data, len(data) or 1), "the same, however it is cut"


def decode_events(data: bytes, size: int) -> None:
    """The decoder of event streams alone."""
    assert _events(data, size) == _events(data, len(data) or 1), "the same, however it is cut"


def _events(data: bytes, size: int) -> tuple[list[bytes], bytes | None]:
    decoder = SseDecoder()
    found = [event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])]
    return found, decoder.finish()


def _check(decoder: Decoding) -> object:
    text = ""
    events = list(decoder.events)
    for at, event in enumerate(events):
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, BlockEnded) and isinstance(event.block, Text):
            assert event.block.text == text, "the deltas of a text add up to it"
            text = ""
        elif isinstance(event, ReplyFinished):
            assert at == len(events) - 1, "nothing comes after the end"
            assert decoder.is_done
    told = [to_json(block) for block in decoder.partial()] + [to_json(event) for event in events]
    json.dumps(told, ensure_ascii=False, allow_nan=False).encode()
    return told


def main() -> None:
    import atheris  # type: ignore[import-untyped,unused-ignore]  # where it is installed

    chosen = [word for word in sys.argv[1:] if word in CODECS] or list(CODECS)

    def one(data: bytes) -> None:
        decode_events(data, 1)
        for wire in chosen:
            same_however_cut(wire, data, 7)
            survive_whole(wire, data)

    atheris.instrument_all()
    with TemporaryDirectory(prefix="norma-fuzz-") as corpus:
        for wire in chosen:
            for number, seed in enumerate(SEEDS[wire]):
                Path(corpus, f"{wire}-{number}").write_bytes(seed)
        atheris.Setup([*(word for word in sys.argv if word not in CODECS), corpus], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
