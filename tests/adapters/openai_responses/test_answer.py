"""Answers of the Responses wire (R2, M5, M9, M10, M12)."""

import json
from typing import Any

import pytest

from norma.adapters.wires.errors import WireError
from norma.domain.model.blocks import Opaque, Text, Thinking, ToolCall
from norma.domain.model.replies import BlockEnded, ReplyWhole, TextDelta, ThinkingDelta
from norma.domain.model.usage import Usage
from tests.adapters.wires.answers import called, events, item, response, said, unnamed
from tests.adapters.wires.codecs import decoding, failure
from tests.adapters.wires.codecs import read as read_stream
from tests.adapters.wires.codecs import read_whole as read_body

WIRE = "openai-responses"
CREATED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}


def read(stream: bytes) -> ReplyWhole:
    return read_stream(WIRE, stream, "openai")


def read_whole(**fields: Any) -> ReplyWhole:
    return read_body(WIRE, json.dumps({"status": "completed", **fields}).encode(), "openai")


def reasoned(index: int, *parts: str, encrypted: str | None = None) -> list[dict[str, Any]]:
    summary = [{"type": "summary_text", "text": part} for part in parts]
    deltas = (
        event
        for at, part in enumerate(parts)
        for event in (
            {"type": "response.reasoning_summary_part.added", "summary_index": at},
            {"type": "response.reasoning_summary_text.delta", "summary_index": at, "delta": part},
        )
    )
    value = {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": encrypted}
    return item(index, value, *deltas)


def completed(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "type": "response.completed",
        "response": {"status": "completed", "output": list(output), **fields},
    }


def without(event: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in names}


def test_R2_everything_that_streams_is_told_as_it_comes() -> None:
    decoder = decoding(WIRE, "openai")
    decoder.feed(
        response(
            reasoned(0, "Plan", "Check", encrypted="ENC"),
            said(1, "a", "b"),
            called(2, "c_1", "f", '{"n":', " 1}"),
            called(3, "c_2", "g"),
        )
    )
    assert list(decoder.events)[:-1] == [
        ThinkingDelta("Plan"),
        ThinkingDelta("\n\n"),
        ThinkingDelta("Check"),
        BlockEnded(Thinking("Plan\n\nCheck", encrypted="ENC", vendor="openai")),
        TextDelta("a"),
        TextDelta("b"),
        BlockEnded(Text("ab")),
        BlockEnded(ToolCall("c_1", "f", {"n": 1})),
        BlockEnded(ToolCall("c_2", "g", {})),
    ]


def test_R2_a_piece_that_comes_after_its_item_has_ended_is_no_second_text() -> None:
    first, *rest = said(1, "a", "b")
    late = next(event for event in rest if event["type"] == "response.output_text.delta")
    assert read(events(CREATED, first, *rest, late, completed())).blocks == (Text("ab"),)


def test_R2_a_thought_that_comes_after_its_item_has_ended_is_no_second_one() -> None:
    thought = reasoned(0, "Plan")
    late = next(event for event in thought if event["type"] == "response.reasoning_summary_text.delta")
    assert read(events(CREATED, *thought, late, *said(1, "a"), completed())).blocks == (
        Thinking("Plan", vendor="openai"),
        Text("a"),
    )


def test_R2_a_call_is_told_when_its_item_ends_and_not_before() -> None:
    decoder = decoding(WIRE)
    *begun, done = called(0, "c", "f", "{}")
    decoder.feed(events(CREATED, *begun))
    assert not decoder.events
    decoder.feed(events(done))
    assert [type(event) for event in decoder.events] == [BlockEnded]


ANSWER = [reasoned(0, "Plan", "Check", encrypted="ENC"), said(1, "a", "b"), called(2, "c_1", "f", '{"n": 1}')]


def test_M5_a_body_is_the_reply_that_its_stream_is() -> None:
    stream = response(*ANSWER)
    output = [row[-1]["item"] for row in ANSWER]
    usage = {"input_tokens": 3, "output_tokens": 5}
    assert read_whole(output=output, usage=usage) == read(stream)


@pytest.mark.parametrize(
    "lacks",
    [
        ("output_index",),
        ("item_id",),
        ("content_index", "summary_index"),
        ("output_index", "content_index", "summary_index"),
    ],
)
def test_R2_the_names_of_items_may_be_missing(lacks: tuple[str, ...]) -> None:
    rows = [[without(event, *lacks) for event in row] for row in ANSWER]
    assert read(response(*rows)) == read(response(*ANSWER))


def test_R2_parts_that_can_not_be_told_apart_are_told_once() -> None:
    rows = [
        without(event, "summary_index")
        for event in reasoned(0, "Plan", "Check")
        if "part" not in event["type"]
    ]
    assert read(response(rows)).blocks == (Thinking("PlanCheck", vendor="openai"),)


def test_R2_the_ids_of_items_may_change_with_every_event() -> None:
    rows = []
    for row in ANSWER:
        changed = []
        for at, event in enumerate(row):
            other = {**event, **({"item_id": f"x{at}"} if "item_id" in event else {})}
            if "item" in event:
                other["item"] = {**event["item"], "id": f"y{at}"}
            changed.append(other)
        rows.append(changed)
    assert read(response(*rows)) == read(response(*ANSWER))


def test_R2_the_index_may_always_be_zero() -> None:
    rows = [[{**event, "output_index": 0} for event in row] for row in (*ANSWER, said(3, "more"))]
    assert read(response(*rows)) == read(response(*ANSWER, said(3, "more")))


def test_R2_begin_events_may_be_missing() -> None:
    rows = [row[1:] for row in ANSWER]
    assert read(response(*rows)) == read(response(*ANSWER))


def test_R2_the_end_may_repeat_lack_or_be_the_output() -> None:
    output = [row[-1]["item"] for row in ANSWER]
    want = read(response(*ANSWER)).blocks
    assert read(response(*ANSWER, output=[])).blocks == want
    assert read(events(CREATED, completed(*output))).blocks == want
    undone = [event for row in ANSWER for event in row if event["type"] != "response.output_item.done"]
    shown = [
        block.text
        for block in read(events(*undone, completed())).blocks
        if isinstance(block, Text | Thinking)
    ]
    assert shown == ["Plan\n\nCheck", "ab"]
    late = read(events(*undone, completed(*output))).blocks
    assert late == (Thinking("Plan\n\nCheck", vendor="openai"), *want[1:])
    first_only = [event for row in ANSWER[:1] for event in row]
    assert read(events(*first_only, completed(*output))).blocks == want


def test_R2_interleaved_calls_go_to_the_right_call() -> None:
    one, two = called(0, "a", "f", '{"x":', "1}"), called(1, "b", "g", '{"y":', "2}")
    woven = [one[0], two[0], one[1], two[1], two[2], one[2], two[3], one[3]]
    assert read(response(woven)).blocks == (ToolCall("a", "f", {"x": 1}), ToolCall("b", "g", {"y": 2}))


@pytest.mark.parametrize("how", ["begin", "arguments done", "item done", "object", "the end"])
def test_R2_all_arguments_may_come_at_once(how: str) -> None:
    added, done = called(0, "c", "f", f'{{"n": {2**64}}}')[0::2]
    full = done["item"]["arguments"]
    if how == "begin":
        rows = [
            {**added, "item": {**added["item"], "arguments": full}},
            {**done, "item": {**done["item"], "arguments": ""}},
        ]
    elif how == "arguments done":
        rows = [
            added,
            {"type": "response.function_call_arguments.done", "item_id": "fc_0", "arguments": full},
        ]
    elif how == "object":
        rows = [added, {**done, "item": {**done["item"], "arguments": {"n": 2**64}}}]
    else:
        rows = [added, done] if how == "item done" else [added]
    end = completed(done["item"]) if how == "the end" else completed()
    assert read(events(CREATED, *rows, end)).blocks == (ToolCall("c", "f", {"n": 2**64}),)


def test_R2_the_finished_item_beats_the_pieces() -> None:
    added, delta, done = called(0, "c", "f", '{"n": 1}')
    rows = [added, {**delta, "delta": '{"n": 9'}, done]
    assert read(response(rows)).blocks == (ToolCall("c", "f", {"n": 1}),)


def test_R2_two_parts_of_a_message_are_two_blocks_and_a_refusal_is_text() -> None:
    parts = [{"type": "output_text", "text": "one"}, {"type": "refusal", "refusal": "no"}]
    whole = read_whole(output=[{"type": "message", "id": "m", "content": parts}])
    assert whole.blocks == (Text("one"), Text("no"))
    assert whole.finished.stop.reason == "refusal"
    streamed = item(
        0,
        {"type": "message", "id": "m", "content": parts},
        {"type": "response.output_text.delta", "content_index": 0, "delta": "one"},
        {"type": "response.refusal.delta", "content_index": 1, "delta": "no"},
    )
    assert read(response(streamed)).blocks == whole.blocks


def test_R2_citations_stay_with_their_text_and_come_once() -> None:
    note = {"type": "url_citation", "url": "u"}
    value = {
        "type": "message",
        "id": "m",
        "content": [{"type": "output_text", "text": "a", "annotations": [note, note]}],
    }
    streamed = item(
        0,
        value,
        {"type": "response.output_text.delta", "content_index": 0, "delta": "a"},
        {"type": "response.output_text.annotation.added", "content_index": 0, "annotation": note},
    )
    assert read(response(streamed)).blocks == (Text("a", (note, note)),)
    assert read_whole(output=[value]).blocks == (Text("a", (note, note)),)


def test_R2_reasoning_text_is_thinking_and_items_stay_apart() -> None:
    value = {
        "type": "reasoning",
        "id": "r",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "raw"}],
    }
    streamed = item(0, value, {"type": "response.reasoning_text.delta", "content_index": 0, "delta": "raw"})
    want = (Thinking("raw", vendor="openai"), Thinking("Plan", encrypted="E", vendor="openai"), Text("t"))
    assert read(response(streamed, reasoned(1, "Plan", encrypted="E"), said(2, "t"))).blocks == want
    silent = read(response(reasoned(0, encrypted="E"), said(1, "t")))
    assert silent.blocks == (Thinking("", encrypted="E", vendor="openai"), Text("t"))


def test_R2_items_of_other_kinds_are_kept_whole_and_unknown_events_skipped() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "n": 2**70}
    rows = [item(0, search, {"type": "response.web_search_call.searching"}), said(1, "t")]
    assert read(response(*rows)).blocks == (Opaque("openai", search), Text("t"))
    assert read_whole(output=[row[-1]["item"] for row in rows]).blocks == (
        Opaque("openai", search),
        Text("t"),
    )


@pytest.mark.parametrize(
    ("status", "details", "reason", "raw"),
    [
        ("completed", None, "end_turn", "completed"),
        ("incomplete", {"reason": "max_output_tokens"}, "max_tokens", "max_output_tokens"),
        ("incomplete", {"reason": "content_filter"}, "content_filter", "content_filter"),
        ("incomplete", {"reason": "steered"}, "other", "steered"),
        ("incomplete", None, "other", "incomplete"),
        ("cancelled", None, "other", "cancelled"),
    ],
)
def test_M10_the_words_of_this_wire(status: str, details: Any, reason: str, raw: str) -> None:
    row = said(0, "x")
    whole = read_whole(status=status, incomplete_details=details, output=[row[-1]["item"]])
    assert (whole.finished.stop.reason, whole.finished.stop.raw) == (reason, raw)
    assert read(response(row, status=status, incomplete_details=details)).finished.stop == whole.finished.stop


def test_M9_counts_are_read_and_absent_ones_are_none() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    assert read(response(usage=usage)).finished.usage == Usage(10, 4, 2, 5, 3, "reported")
    assert read(response(usage=None)).finished.usage == Usage()
    bare = {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": None}
    assert read(response(usage=bare)).finished.usage == Usage(10, output_tokens=5, provenance="reported")


NESTED = {"type": "error", "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "slow"}}
FLAT = {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}
BOTH = {**FLAT, "error": {"type": "x", "message": "inside"}}
FAILED = {
    "type": "response.failed",
    "response": {
        "status": "failed",
        "error": {"code": "rate_limit_exceeded", "message": "slow"},
        "usage": {"input_tokens": 3},
    },
}


@pytest.mark.parametrize("event", [NESTED, FLAT, BOTH, FAILED])
def test_R2_every_form_of_an_error_is_a_typed_error(event: dict[str, Any]) -> None:
    error, decoder = failure(WIRE, events(CREATED, *said(0, "par"), event))
    assert (error.failure.kind, error.failure.source) == ("rate_limited", "api")
    assert error.failure.provider.code == "rate_limit_exceeded"
    assert error.failure.provider.message == "slow"
    assert error.may_retry
    assert decoder.partial() == (Text("par"),)
    if event is FAILED:
        assert decoder.partial_usage() == Usage(3, provenance="partial")


def test_R2_a_failure_without_a_cause_says_so() -> None:
    event = {"type": "response.failed", "response": {"status": "failed", "error": None}}
    error, _ = failure(WIRE, events(CREATED, event))
    assert "did not say why" in error.failure.message
    with pytest.raises(WireError, match="nope"):
        decoding(WIRE).whole(b'{"error": {"message": "nope", "code": "invalid_prompt"}}')
    plain, _ = failure(WIRE, b'data: {"error": {"code": 503, "message": "busy"}}\n\n')
    assert plain.failure.kind == "overloaded"


def test_R2_nothing_but_a_terminal_event_ends_a_stream() -> None:
    error, decoder = failure(
        WIRE, events(CREATED, *said(0, "x"), *called(1, "c", "f", "{}")[:-1]) + b"data: [DONE]\n\n"
    )
    assert error.failure.kind == "stream_dropped"
    assert decoder.partial() == (Text("x"),)
    assert read(response(said(0, "x")) + b'data: [DONE]\n\ndata: {"type":"error"}\n\n').blocks == (Text("x"),)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"status": "queued", "output": []}', b'{"output": 1}', b"<html>"]
)
def test_R2_a_body_that_is_no_answer_is_a_protocol_error(body: bytes) -> None:
    with pytest.raises(WireError) as failed:
        decoding(WIRE).whole(body)
    assert failed.value.failure.kind == "protocol"


def test_M12_arguments_after_the_call_was_told_are_a_protocol_error() -> None:
    *_, done = row = called(0, "c", "f", "{}")
    late = {"type": "response.function_call_arguments.delta", "item_id": "fc_0", "delta": "x"}
    assert done["item"]["id"] == "fc_0"
    error, _ = failure(WIRE, events(CREATED, *row, late))
    assert error.failure.kind == "protocol"


def test_R2_pieces_that_only_repeat_a_finished_call_change_nothing() -> None:
    begin, first, second, done = called(0, "c", "f", '{"n":', "1}")
    all_of_it = {"type": "response.function_call_arguments.done", "item_id": "fc_0", "arguments": '{"n":1}'}
    stream = [CREATED, begin, done, first, second, all_of_it, completed()]
    assert read(events(*stream)).blocks == (ToolCall("c", "f", {"n": 1}),)


@pytest.mark.parametrize("place", ["begin", "delta", "done"])
def test_M12_arguments_that_come_as_a_value_are_exact(place: str) -> None:
    value = {"n": 123456789012345678901234567890}
    begin, piece, done = called(0, "c", "f", "")
    done["item"]["arguments"] = ""
    match place:
        case "begin":
            begin["item"]["arguments"] = value
        case "delta":
            piece["delta"] = value
        case _:
            piece = {**piece, "type": "response.function_call_arguments.done", "arguments": value}
    (call,) = read(events(CREATED, begin, piece, done, completed())).blocks
    assert call == ToolCall("c", "f", value)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.error", "error": {"code": "server_error", "message": "m"}},
        {"type": "response.failed", "error": {"code": "server_error", "message": "m"}},
        {"type": "response.failed", "code": "server_error", "message": "m"},
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "m"}}},
    ],
)
def test_R2_a_failure_says_its_cause_in_several_places(event: dict[str, Any]) -> None:
    error, _ = failure(WIRE, events(CREATED, event))
    words = error.failure.provider
    assert (error.failure.kind, words.code, words.message) == ("server", "server_error", "m")


def test_R2_a_type_that_is_no_word_is_skipped() -> None:
    odd: list[dict[str, Any]] = [{"type": ["error"]}, {"type": {"a": 1}}]
    assert read(unnamed(CREATED, *odd, *said(0, "a"), completed())).blocks == (Text("a"),)


def test_M5_a_whole_response_may_be_one_event_and_content_words_alone() -> None:
    item = {"type": "message", "content": "a"}
    assert read(unnamed({"object": "response", "status": "completed", "output": [item]})).blocks == (
        Text("a"),
    )


def test_R2_calls_stand_in_the_order_of_their_indexes() -> None:
    one, two = called(0, "a", "f", '{"n":', "0}"), called(1, "b", "g", '{"n":', "1}")
    mixed = [event for pair in zip(two, one, strict=True) for event in pair]
    found = read(events(CREATED, *mixed, completed())).blocks
    assert found == (ToolCall("a", "f", {"n": 0}), ToolCall("b", "g", {"n": 1}))


def test_R2_pieces_of_two_messages_in_turn_are_not_joined() -> None:
    one, two = said(0, "a", "c"), said(1, "b", "d")
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]
    found = read(events(CREATED, *mixed, completed())).blocks
    assert found == (Text("a"), Text("b"), Text("c"), Text("d"))
