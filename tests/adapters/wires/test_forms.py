"""Answers in another form than they say, or than is usual (M3, M5, M11, M12), on every wire."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from norma.adapters.http.retry import RetryPolicy
from norma.adapters.wires.errors import WireError
from norma.adapters.wires.wire import Decoding
from norma.domain.model.blocks import Text, ToolCall
from norma.domain.model.replies import ReplyWhole, fold_reply
from norma.ports.errors import ModelError
from tests.adapters.wires.answers import chunk, events, message, response, said, text_block, unnamed
from tests.adapters.wires.codecs import decoding, failure, read, read_whole
from tests.rigs.wire_models import WIRES, model_against, whole_of
from tests.rigs.wire_server import EVENT_STREAM, JSON, Scripted

BODIES: Mapping[str, dict[str, Any]] = {
    "anthropic": {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"},
    "openai-chat": {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]},
    "openai-responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    },
}
STREAMS: Mapping[str, bytes] = {
    "anthropic": message(text_block(0, "o", "k")),
    "openai-chat": unnamed(chunk(content="o"), chunk(content="k"), chunk("stop"), "[DONE]"),
    "openai-responses": response(said(0, "o", "k")),
}


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def in_pieces(wire: str, data: bytes, size: int) -> ReplyWhole:
    decoder: Decoding = decoding(wire)
    for at in range(0, len(data), size):
        decoder.feed(data[at : at + size])
    decoder.finish()
    return fold_reply(decoder.events)


@pytest.mark.parametrize("before", ["", "\n\n  \n", "\ufeff"])
@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain", "application/octet-stream", None])
async def test_M5_a_body_is_an_answer_whatever_the_header_says(
    wire: str, before: str, kind: str | None
) -> None:
    body = before.encode() + json.dumps(BODIES[wire]).encode()
    headers = {} if kind is None else {"Content-Type": kind}
    async with model_against(wire, Scripted([body[:9], body[9:]], headers=headers)) as (model, server):
        assert (await whole_of(model)).blocks == (Text("ok"),)
    assert len(server.requests) == 1


async def test_M5_a_stream_that_calls_itself_json_is_read_as_a_stream(wire: str) -> None:
    async with model_against(wire, Scripted([STREAMS[wire]], headers=JSON)) as (model, _):
        assert (await whole_of(model)).blocks == (Text("ok"),)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_M11_the_form_is_seen_however_the_bytes_are_cut(wire: str, size: int) -> None:
    body = b"\xef\xbb\xbf\r\n " + json.dumps(BODIES[wire]).encode()
    assert in_pieces(wire, body, size) == read_whole(wire, json.dumps(BODIES[wire]).encode())
    assert in_pieces(wire, b"\n\n" + STREAMS[wire], size).blocks == (Text("ok"),)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/xhtml+xml", None])
async def test_M5_a_page_is_a_protocol_error_whatever_the_header_says(wire: str, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    page = Scripted([b"<!DOCTYPE html><html>", b"<title>Sign in</title>"], headers=headers)
    async with model_against(wire, page) as (model, server):
        with pytest.raises(ModelError, match="<title>Sign in") as failed:
            await whole_of(model)
    assert (failed.value.failure.kind, len(server.requests)) == ("protocol", 1)
    assert f"status 200 and {kind or 'no answer'}" in str(failed.value)


async def test_M3_an_error_body_where_a_stream_was_asked_is_a_typed_error(wire: str) -> None:
    body = json.dumps({"error": {"code": 503, "message": "busy"}}).encode()
    script = Scripted([body], headers=EVENT_STREAM)
    async with model_against(wire, script, retry=RetryPolicy(retries=1)) as (model, server):
        with pytest.raises(ModelError, match="busy") as failed:
            await whole_of(model)
    assert (failed.value.failure.kind, failed.value.failure.source) == ("overloaded", "api")
    assert len(server.requests) == 2


def test_M11_a_name_counts_where_the_data_has_no_type(wire: str) -> None:
    lines = []
    for line in STREAMS[wire].decode().splitlines(keepends=True):
        if line.startswith("data: {"):
            value = json.loads(line.removeprefix("data: "))
            value.pop("type", None)
            lines.append(f"data: {json.dumps(value)}\n")
        else:
            lines.append(line)
    assert read(wire, "".join(lines).encode()) == read(wire, STREAMS[wire])


@pytest.mark.parametrize(
    "data",
    [
        '{"message": "busy", "code": 503}',
        '{"message": "busy", "code": "503", "type": "x"}',
        '{"error": {"message": "busy", "code": 503}}',
        '{"type": "error", "message": "busy", "code": 503}',
        '{"object": "error", "message": "busy", "type": "ServiceUnavailable", "code": 503}',
        '[{"error": {"message": "busy", "code": 503, "status": "UNAVAILABLE"}}]',
        '{"error": {"message": "busy", "status": 503}}',
    ],
)
def test_M3_an_error_event_of_any_form_is_a_typed_error(wire: str, data: str) -> None:
    error, _ = failure(wire, f"event: error\ndata: {data}\n\n".encode())
    words = error.failure.provider
    assert (error.failure.kind, words.code, words.message) == ("overloaded", "503", "busy")
    assert error.may_retry


def test_M3_an_error_event_of_words_alone_keeps_them(wire: str) -> None:
    error, _ = failure(wire, b"event: error\ndata: upstream is gone\n\n")
    assert (error.failure.source, error.failure.provider.message) == ("api", "upstream is gone")


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("InternalServerError", "server"),
        ("RESOURCE_EXHAUSTED", "rate_limited"),
        ("ThrottlingException", "rate_limited"),
        ("Overloaded", "overloaded"),
        ("slow_down", "overloaded"),
        ("PERMISSION_DENIED", "permission"),
        ("Context_Length_Exceeded", "context_overflow"),
        ("never heard of", "invalid_request"),
    ],
)
def test_M3_words_are_known_in_each_providers_spelling(wire: str, word: str, kind: str) -> None:
    error, _ = failure(wire, f'data: {{"type": "error", "error": {{"type": "{word}"}}}}\n\n'.encode())
    assert error.failure.kind == kind


def test_M11_an_event_that_says_null_says_nothing(wire: str) -> None:
    assert read(wire, b"data: null\n\n" + STREAMS[wire]) == read(wire, STREAMS[wire])
    with pytest.raises(WireError, match="no JSON object"):
        read(wire, b"data: [1]\n\n" + STREAMS[wire])


def _calling(wire: str, arguments: Any) -> dict[str, Any]:
    if wire == "anthropic":
        block = {"type": "tool_use", "id": "c", "name": "f", "input": arguments}
        return {"content": [block], "stop_reason": "tool_use"}
    if wire == "openai-responses":
        item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}
        return {"status": "completed", "output": [item]}
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    return {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize(("arguments", "raw"), [([1], "[1]"), (5, "5"), (False, "false"), ([], "[]")])
def test_M12_a_value_that_is_no_object_makes_the_call_invalid(wire: str, arguments: Any, raw: str) -> None:
    (call,) = read_whole(wire, json.dumps(_calling(wire, arguments)).encode()).blocks
    assert call == ToolCall("c", "f", {}, invalid=True, raw=raw)


@pytest.mark.parametrize("arguments", [{}, {"n": 123456789012345678901234567890}])
def test_M12_a_value_that_is_an_object_is_exact(wire: str, arguments: Any) -> None:
    (call,) = read_whole(wire, json.dumps(_calling(wire, arguments)).encode()).blocks
    assert call == ToolCall("c", "f", arguments)


def test_M9_a_count_may_be_written_with_a_point(wire: str) -> None:
    names = (
        ("prompt_tokens", "completion_tokens") if wire == "openai-chat" else ("input_tokens", "output_tokens")
    )
    body = {**BODIES[wire], "usage": {names[0]: 3.0, names[1]: 2.5}}
    usage = read_whole(wire, json.dumps(body).encode()).finished.usage
    assert (usage.input_tokens, usage.output_tokens) == (3, None)


@pytest.mark.parametrize(
    ("body", "encoding", "shown"),
    [
        (b'{"error": {"message": "too long"}}', "gzip", "too long"),
        (b"\x0b\x02some words", "br", "some words"),
    ],
)
async def test_M3_a_body_that_is_not_encoded_as_it_says_is_shown_as_it_came(
    wire: str, body: bytes, encoding: str, shown: str
) -> None:
    for status, kind, attempts in ((400, "invalid_request", 1), (503, "overloaded", 2)):
        script = Scripted([body], status, {**JSON, "Content-Encoding": encoding})
        async with model_against(wire, script, retry=RetryPolicy(retries=1)) as (model, server):
            with pytest.raises(ModelError, match=shown) as failed:
                await whole_of(model)
        failed_with = failed.value.failure
        assert (failed_with.kind, failed_with.status, len(server.requests)) == (kind, status, attempts)


async def test_M3_an_error_body_that_breaks_off_is_shown_as_far_as_it_came(wire: str) -> None:
    async with model_against(wire, Scripted([b'{"error": "too lo'], 400, JSON, end="reset")) as (model, _):
        with pytest.raises(ModelError, match="too lo") as failed:
            await whole_of(model)
    assert (failed.value.failure.kind, failed.value.failure.status) == ("invalid_request", 400)


def test_M11_names_in_the_data_change_nothing() -> None:
    stream = (
        events({"type": "ping"}) + b'event: message_stop\ndata: {"type": "ping"}\n\n' + STREAMS["anthropic"]
    )
    assert read("anthropic", stream) == read("anthropic", STREAMS["anthropic"])


@pytest.mark.parametrize("size", [1, 5, 10_000])
async def test_M5_an_answer_that_calls_itself_a_page_is_read(wire: str, size: int) -> None:
    for body in (b"\n " + json.dumps(BODIES[wire]).encode(), b"\r\n" + STREAMS[wire]):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        script = Scripted(pieces, headers={"Content-Type": "text/html; charset=UTF-8"})
        async with model_against(wire, script) as (model, server):
            assert (await whole_of(model)).blocks == (Text("ok"),)
        assert len(server.requests) == 1


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "text/plain"])
async def test_M5_words_instead_of_an_answer_are_shown(wire: str, kind: str) -> None:
    script = Scripted([b"data centre ", b"is closed\n\nsorry"], headers={"Content-Type": kind})
    async with model_against(wire, script) as (model, server):
        with pytest.raises(ModelError, match="data centre is closed sorry") as failed:
            await whole_of(model)
    assert (failed.value.failure.kind, len(server.requests)) == ("protocol", 1)


async def test_M1_a_stream_without_an_event_is_tried_again_and_is_no_page(wire: str) -> None:
    for begin in (b"", b"\n\n", b": waiting\n\n", b"retry: 5\n\n", b"event: ping\n", b"odd\n: waiting\n\n"):
        async with model_against(wire, Scripted([begin]), Scripted([STREAMS[wire]])) as (model, server):
            assert (await whole_of(model)).blocks == (Text("ok"),)
        assert len(server.requests) == 2
