"""Answers of the Messages wire (A5, A6, M5, M9, M10, M12)."""

import json
from typing import Any

import pytest

from norma.adapters.wires.errors import WireError
from norma.domain.model.blocks import Opaque, Text, Thinking, ToolCall
from norma.domain.model.replies import BlockEnded, ReplyWhole, TextDelta, ThinkingDelta
from norma.domain.model.usage import Usage
from tests.adapters.wires.answers import (
    block,
    call_block,
    events,
    message,
    message_end,
    message_start,
    text_block,
)
from tests.adapters.wires.codecs import decoding, failure
from tests.adapters.wires.codecs import read as read_stream
from tests.adapters.wires.codecs import read_whole as read_body


def read(stream: bytes) -> ReplyWhole:
    return read_stream("anthropic", stream, "anthropic")


def read_whole(value: dict[str, Any]) -> ReplyWhole:
    return read_body("anthropic", json.dumps(value).encode(), "anthropic")


def thinking_block(index: int, text: str, signature: str) -> list[dict[str, Any]]:
    return block(
        index,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    )


SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
HITS = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u", "n": 2**70}]}
CITATION = {"type": "web_search_result_location", "url": "u", "cited_text": "c"}


def test_A5_everything_that_streams_is_told_as_it_comes() -> None:
    decoder = decoding("anthropic", "anthropic")
    decoder.feed(
        message(
            thinking_block(0, "hm", "SIG"),
            text_block(1, "a", "b"),
            call_block(2, "tu_1", "f", '{"n":', " 1}"),
            call_block(3, "tu_2", "g"),
            reason="tool_use",
        )
    )
    told = list(decoder.events)
    assert told[:-1] == [
        ThinkingDelta("hm"),
        BlockEnded(Thinking("hm", "SIG", vendor="anthropic")),
        TextDelta("a"),
        TextDelta("b"),
        BlockEnded(Text("ab")),
        BlockEnded(ToolCall("tu_1", "f", {"n": 1})),
        BlockEnded(ToolCall("tu_2", "g", {})),
    ]
    assert decoder.is_done


def test_A5_a_call_is_told_when_its_block_ends_and_not_before() -> None:
    decoder = decoding("anthropic")
    decoder.feed(events(message_start(), *call_block(0, "t", "f", "{}")[:-1]))
    assert not decoder.events
    decoder.feed(events({"type": "content_block_stop", "index": 0}))
    assert [type(event) for event in decoder.events] == [BlockEnded]


def test_A5_interleaved_blocks_go_by_their_index() -> None:
    one, two = call_block(0, "a", "f", '{"x":', "1}"), call_block(1, "b", "g", '{"y":', "2}")
    woven = [one[0], two[0], one[1], two[1], two[2], one[2], two[3], one[3]]
    whole = read(events(message_start(), *woven, *message_end("tool_use")))
    assert whole.blocks == (ToolCall("a", "f", {"x": 1}), ToolCall("b", "g", {"y": 2}))


def test_M5_a_body_is_the_reply_that_its_stream_is() -> None:
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "SIG"},
        {"type": "redacted_thinking", "data": "RED=="},
        {**SEARCH, "input": {"query": "q"}},
        HITS,
        {"type": "text", "text": "found", "citations": [CITATION]},
        {"type": "tool_use", "id": "tu", "name": "f", "input": {"n": 2**70}},
    ]
    body = {
        "type": "message",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    streamed = read(
        message(
            thinking_block(0, "hm", "SIG"),
            block(1, content[1]),
            block(2, SEARCH, {"type": "input_json_delta", "partial_json": '{"query": "q"}'}),
            block(3, HITS),
            block(
                4,
                {"type": "text", "text": ""},
                {"type": "citations_delta", "citation": CITATION},
                {"type": "text_delta", "text": "found"},
            ),
            call_block(5, "tu", "f", f'{{"n": {2**70}}}'),
            reason="tool_use",
        )
    )
    assert read_whole(body) == streamed
    assert streamed.blocks[1] == Thinking(redacted="RED==", vendor="anthropic")


def test_A6_blocks_of_provider_run_tools_are_kept_whole_and_exact() -> None:
    whole = read(
        message(block(0, SEARCH, {"type": "input_json_delta", "partial_json": '{"q":1}'}), block(1, HITS))
    )
    assert whole.blocks == (Opaque("anthropic", {**SEARCH, "input": {"q": 1}}), Opaque("anthropic", HITS))
    assert whole.finished.stop.reason == "end_turn"


def test_A6_citations_stay_with_their_text() -> None:
    whole = read(
        message(
            block(0, {"type": "text", "text": "plain "}),
            block(
                1,
                {"type": "text", "text": "", "citations": []},
                {"type": "text_delta", "text": "cited"},
                {"type": "citations_delta", "citation": CITATION},
            ),
        )
    )
    assert whole.blocks == (Text("plain "), Text("cited", (CITATION,)))


def test_A5_what_is_unknown_is_kept_or_skipped_and_never_fatal() -> None:
    new = {"type": "hologram", "data": "h"}
    whole = read(
        message(
            [{"type": "ping"}, {"type": "sparkle", "x": 1}],
            block(0, new),
            block(1, {"type": "hologram"}, {"type": "hologram_delta", "d": 1}),
            block(2, {"type": "text", "text": "t"}, {"type": "glitter_delta", "v": 1}),
        )
    )
    assert whole.blocks == (Opaque("anthropic", new), Text("t"))


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("model_context_window_exceeded", "context_overflow"),
        ("brand_new", "other"),
        ("tool_use", "other"),
    ],
)
def test_M10_the_words_of_this_wire(word: str, reason: str) -> None:
    stop = read(message(text_block(0, "x"), reason=word)).finished.stop
    assert (stop.reason, stop.raw) == (reason, word)


def test_M10_a_whole_call_runs_whatever_the_label_says() -> None:
    assert read(message(call_block(0, "t", "f", "{}"), reason="end_turn")).finished.stop.reason == "tool_use"


def test_M9_counts_fold_by_their_maximum_and_the_total_holds_the_cached_ones() -> None:
    stream = events(
        message_start(
            input_tokens=10, cache_read_input_tokens=100, cache_creation_input_tokens=7, output_tokens=1
        ),
        *text_block(0, "x"),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 0, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}},
        },
        {"type": "message_stop"},
    )
    assert read(stream).finished.usage == Usage(117, 100, 7, 9, 4, "reported")


def test_M9_counts_that_nobody_reported_are_none() -> None:
    stream = events(
        {"type": "message_start", "message": {}},
        *text_block(0, "x"),
        *message_end("end_turn", output_tokens=None),
    )
    assert read(stream).finished.usage == Usage()
    only = events(message_start(), *text_block(0, "x"), *message_end("end_turn", output_tokens=2))
    assert read(only).finished.usage == Usage(output_tokens=2, provenance="reported")


def test_A5_an_error_event_is_a_typed_error_with_what_came_before() -> None:
    error, decoder = failure(
        "anthropic",
        events(
            message_start(input_tokens=3),
            *text_block(0, "par"),
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
                "request_id": "req_7",
            },
        ),
    )
    assert (error.failure.kind, error.failure.source, error.failure.status) == ("overloaded", "api", None)
    assert (error.failure.provider.type, error.failure.provider.request_id) == ("overloaded_error", "req_7")
    assert error.may_retry
    assert decoder.partial() == (Text("par"),)
    assert decoder.partial_usage() == Usage(3, provenance="partial")


@pytest.mark.parametrize(
    ("kind", "is_retried"),
    [
        ("invalid_request_error", False),
        ("authentication_error", False),
        ("rate_limit_error", True),
        ("api_error", True),
    ],
)
def test_A5_an_error_in_a_body_is_one_too(kind: str, is_retried: bool) -> None:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": "no"}}).encode()
    with pytest.raises(WireError) as failed:
        decoding("anthropic").whole(body)
    assert (failed.value.failure.source, failed.value.may_retry) == ("api", is_retried)


def test_A5_an_error_in_another_providers_form_is_understood() -> None:
    error, _ = failure("anthropic", b'data: {"error": {"code": 503, "message": "busy", "type": "x"}}\n\n')
    assert (error.failure.kind, error.failure.source) == ("overloaded", "api")


def test_A5_a_stop_reason_ends_a_stream_and_nothing_else_does() -> None:
    without_stop = events(message_start(), *text_block(0, "x"), message_end("end_turn")[0])
    assert read(without_stop).finished.stop.reason == "end_turn"
    assert read(without_stop + b"data: [DONE]\n\n").finished.stop.reason == "end_turn"
    error, decoder = failure("anthropic", events(message_start(), *text_block(0, "x")) + b"data: [DONE]\n\n")
    assert error.failure.kind == "stream_dropped"
    assert decoder.partial() == (Text("x"),)


def test_M12_a_cut_call_is_invalid_and_a_dropped_one_left_out() -> None:
    cut = events(message_start(), *call_block(0, "t", "f", '{"a": "b')[:-1])
    (call,) = read(cut + events(*message_end("max_tokens"))).blocks
    assert isinstance(call, ToolCall)
    assert (call.invalid, call.raw) == (True, '{"a": "b')
    _, decoder = failure("anthropic", cut)
    assert decoder.partial() == ()


def test_M12_input_for_a_block_that_never_began_is_named() -> None:
    delta = {"type": "input_json_delta", "partial_json": "{}"}
    error, _ = failure("anthropic", events({"type": "content_block_delta", "index": 4, "delta": delta}))
    assert error.failure.kind == "protocol"
    assert "block 4" in error.failure.message


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"[]", b"{}", b'{"content": null}', b"<html>", b'{"content": [}']
)
def test_A5_a_body_that_is_no_answer_is_a_protocol_error(body: bytes) -> None:
    with pytest.raises(WireError) as failed:
        decoding("anthropic").whole(body)
    assert failed.value.failure.kind == "protocol"


def test_what_stands_beside_a_call_is_kept_for_its_provider() -> None:
    start = {"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "code", "id": "c"}}
    (call,) = read(message(block(0, start), reason="tool_use")).blocks
    assert call == ToolCall("t", "f", {}, vendor="anthropic", extra={"caller": {"type": "code", "id": "c"}})


def test_A5_a_block_that_begins_twice_is_one_block() -> None:
    start, *rest = call_block(0, "t", "f", '{"n":', "1}")
    assert read(message([start, start, *rest], reason="tool_use")).blocks == (ToolCall("t", "f", {"n": 1}),)


def test_M12_a_piece_of_input_may_be_the_whole_value() -> None:
    start, piece, stop = call_block(0, "t", "f", "x")
    piece["delta"]["partial_json"] = {"n": 123456789012345678901234567890}
    (call,) = read(message([start, piece, stop], reason="tool_use")).blocks
    assert call == ToolCall("t", "f", {"n": 123456789012345678901234567890})


@pytest.mark.parametrize("given", [[1], 5, False])
def test_M12_input_that_a_block_begins_with_and_is_no_object_is_invalid(given: Any) -> None:
    start, stop = call_block(0, "t", "f")
    start["content_block"]["input"] = given
    (call,) = read(message([start, stop], reason="tool_use")).blocks
    assert isinstance(call, ToolCall)
    assert (call.invalid, call.raw) == (True, json.dumps(given))


def test_A5_what_can_not_be_used_of_a_block_is_left_out() -> None:
    blocks = [
        block(0, {"type": "redacted_thinking", "data": None}),
        block(1, {"type": "text", "text": "a", "citations": 5}),
    ]
    assert read(message(*blocks)).blocks == (Text("a"),)


def test_M9_counts_stand_in_several_places() -> None:
    inside = [{"type": "message_start", "usage": {"input_tokens": 4}}, *text_block(0, "a")]
    end, stop = message_end("end_turn", cache_creation={"ephemeral_5m_input_tokens": 3, "x": None})
    found = read(events(*inside, end, {**stop, "usage": {"output_tokens": 2}})).finished.usage
    assert (found.input_tokens, found.cache_write_tokens, found.output_tokens) == (7, 3, 2)


def test_M5_a_whole_message_may_be_one_event() -> None:
    whole = {"type": "message", "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}
    assert read(events(whole)).blocks == (Text("a"),)


@pytest.mark.parametrize(("content", "blocks"), [("a", (Text("a"),)), (None, ())])
def test_M5_content_may_be_words_alone_or_null(content: Any, blocks: tuple[Any, ...]) -> None:
    assert read_whole({"content": content, "stop_reason": "refusal"}).blocks == blocks
