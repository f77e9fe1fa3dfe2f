"""How answers of the chat wire are put together, from their bytes alone (C4, C6, C7, M3, M9, M10)."""

import json
from typing import Any

import pytest

from norma.domain.model.blocks import Text, Thinking, ToolCall
from norma.domain.model.replies import BlockEnded
from tests.adapters.wires import codecs
from tests.adapters.wires.answers import chunk, unnamed

WIRE = "openai-chat"


def read(*values: Any) -> Any:
    return codecs.read(WIRE, unnamed(*values))


def calls(*entries: Any) -> dict[str, Any]:
    return chunk(tool_calls=list(entries))


def call(index: Any, call_id: Any, name: str | None, arguments: Any) -> dict[str, Any]:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def more(index: Any, arguments: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


IN_ORDER = (ToolCall("a", "f", {"n": 0}), ToolCall("b", "g", {"n": 1}), ToolCall("c", "h", {"n": 2}))
_ENTRIES = [call(0, "a", "f", '{"n":0}'), call(1, "b", "g", '{"n":1}'), call(2, "c", "h", '{"n":2}')]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2), (2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize("in_one", [True, False])
def test_C7_calls_stand_in_the_order_of_their_indexes(order: tuple[int, ...], in_one: bool) -> None:
    entries = [_ENTRIES[place] for place in order]
    opened = [calls(*entries)] if in_one else [calls(entry) for entry in entries]
    assert read(*opened, chunk("tool_calls")).blocks == IN_ORDER


def test_C7_calls_that_open_in_any_order_get_their_own_pieces() -> None:
    opened = calls(call(1, "b", "g", ""), call(0, "a", "f", ""))
    pieces = [calls(more(1, '{"n":')), calls(more(0, '{"n":')), calls(more(0, "0}"), more(1, "1}"))]
    assert read(opened, *pieces, chunk("tool_calls")).blocks == IN_ORDER[:2]


def test_C7_indexes_may_begin_anywhere_and_leave_gaps() -> None:
    entries = [call(at, *rest) for at, rest in ((1, ("a", "f", '{"n":0}')), (7, ("b", "g", '{"n":1}')))]
    assert read(calls(entries[0]), calls(entries[1]), chunk("tool_calls")).blocks == IN_ORDER[:2]


def test_E3_a_call_waits_for_those_whose_index_is_lower() -> None:
    decoder = codecs.decoding(WIRE)
    decoder.feed(unnamed(calls(_ENTRIES[1]), calls(_ENTRIES[2])))
    assert not [event for event in decoder.events if isinstance(event, BlockEnded)]
    decoder.feed(unnamed(calls(_ENTRIES[0]), chunk("tool_calls"), "[DONE]"))
    told = [event.block for event in decoder.events if isinstance(event, BlockEnded)]
    assert told == list(IN_ORDER)


def test_C7_an_index_may_be_text_and_an_id_a_number() -> None:
    stream = [calls(call("0", 7, "f", ""), call("1", 8, "g", "")), calls(more("0", '{"n":0}'))]
    stream += [calls(more("1", '{"n":1}')), chunk("tool_calls")]
    assert read(*stream).blocks == (ToolCall("7", "f", {"n": 0}), ToolCall("8", "g", {"n": 1}))


def test_C7_one_call_may_come_without_a_list_or_without_its_function() -> None:
    flat = {"index": 0, "id": "a", "name": "f", "arguments": '{"n":0}'}
    for entry in (_ENTRIES[0], flat):
        assert read(chunk(tool_calls=entry), chunk("tool_calls")).blocks == IN_ORDER[:1]
        assert read(calls(entry), chunk("tool_calls")).blocks == IN_ORDER[:1]


def test_C7_an_empty_object_may_stand_where_the_pieces_come_later() -> None:
    stream = [calls(call(0, "a", "f", {})), calls(more(0, '{"n":')), calls(more(0, "0}"))]
    assert read(*stream, chunk("tool_calls")).blocks == IN_ORDER[:1]
    (found,) = read(calls(call(0, "a", "f", {"n": 0})), calls(more(0, "{}")), chunk("tool_calls")).blocks
    assert found.invalid


def test_C7_a_whole_call_may_be_repeated_after_it_was_told() -> None:
    stream = [calls(_ENTRIES[0]), calls(_ENTRIES[1]), calls(more(0, '{"n"')), calls(more(0, ":0}"))]
    assert read(*stream, chunk("tool_calls")).blocks == IN_ORDER[:2]


def test_C7_a_legacy_call_keeps_its_integers() -> None:
    stream = chunk(function_call={"name": "f", "arguments": {"n": 123456789012345678901234567890}})
    (found,) = read(stream, chunk("function_call")).blocks
    assert found.arguments == {"n": 123456789012345678901234567890}


# C6, M3: errors inside an answer


@pytest.mark.parametrize("reason", [None, "stop", "error"])
def test_C6_an_error_of_the_choice_is_one_whatever_the_finish_says(reason: str | None) -> None:
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": reason}
    choice["error"] = {"code": 429, "message": "slow down"}
    error, decoder = codecs.failure(WIRE, unnamed(chunk(content="a"), {"choices": [choice]}, "[DONE]"))
    assert (error.failure.kind, error.failure.provider.code) == ("rate_limited", "429")
    assert decoder.partial() == (Text("a"),)


def test_C6_words_beside_an_error_are_kept_if_others_were_told() -> None:
    last = {**chunk("error", content="b"), "error": {"code": 502, "message": "gone"}}
    error, decoder = codecs.failure(WIRE, unnamed(chunk(content="a"), last))
    assert (error.failure.kind, decoder.partial()) == ("server", (Text("ab"),))
    error, decoder = codecs.failure(WIRE, unnamed(last))
    assert (error.may_retry, decoder.partial()) == (True, ())


def test_C6_an_error_that_groq_puts_beside_the_choices_is_one() -> None:
    error, _ = codecs.failure(WIRE, unnamed({**chunk(), "x_groq": {"error": "it failed"}}, "[DONE]"))
    assert error.failure.provider.message == "it failed"


def test_C6_a_code_of_minimax_may_be_text() -> None:
    body = {"choices": None, "base_resp": {"status_code": "1008", "status_msg": "no money"}}
    error, _ = codecs.failure(WIRE, unnamed(body))
    assert (error.failure.kind, error.failure.provider.code, error.may_retry) == ("permission", "1008", False)


# C4: the forms of text and thinking


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ({"type": "text", "text": "a"}, (Text("a"),)),
        (
            [{"type": "reasoning", "text": "t"}, {"type": "text", "text": "a"}],
            (_T := Thinking("t", vendor="h.test"), Text("a")),
        ),
        ([{"type": "thinking", "thinking": "t"}, "a"], (_T, Text("a"))),
    ],
)
def test_C4_content_comes_in_parts_of_several_forms(content: Any, blocks: tuple[Any, ...]) -> None:
    assert read(chunk(content=content), chunk("stop")).blocks == blocks


def test_C4_the_first_field_with_words_counts() -> None:
    stream = chunk(reasoning_content={"odd": 1}, reasoning="t", reasoning_text="t")
    assert read(stream, chunk("stop")).blocks == (Thinking("t", vendor="h.test"),)


def test_M5_a_body_may_hold_a_delta() -> None:
    body = {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}
    assert codecs.read_whole(WIRE, json.dumps(body).encode()).blocks == (Text("a"),)


def test_M10_more_words_for_the_same_end() -> None:
    for word, reason in (("SAFETY", "content_filter"), ("stop_sequence", "stop_sequence"), ("odd", "other")):
        assert read(chunk(content="a"), chunk(word)).finished.stop.reason == reason


# M9: the forms of usage


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}, (10, 4, 2, 5, None)),
        (
            {"total_tokens": 35, "completion_tokens_details": {"reasoning_tokens": 20}},
            (10, None, None, 25, 20),
        ),
        ({"total_tokens": 15, "completion_tokens_details": {"reasoning_tokens": 3}}, (10, None, None, 5, 3)),
        ({"completion_tokens_details": {"reasoning_tokens": 3}}, (10, None, None, 5, 3)),
    ],
)
def test_M9_totals_hold_their_parts_however_they_are_reported(usage: Any, counts: tuple[Any, ...]) -> None:
    report = {"prompt_tokens": 10, "completion_tokens": 5, **usage}
    found = read(chunk("stop", content="a"), {"choices": [], "usage": report}).finished.usage
    assert counts == (
        found.input_tokens,
        found.cache_read_tokens,
        found.cache_write_tokens,
        found.output_tokens,
        found.reasoning_tokens,
    )


def test_M9_groq_reports_beside_the_choices() -> None:
    report = {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}}
    found = read(chunk(content="a"), {**chunk("stop"), **report}).finished.usage
    assert (found.input_tokens, found.output_tokens) == (3, 1)


def test_the_choice_that_counts_may_write_its_index_as_text() -> None:
    first, other = ({"index": index, "delta": {"content": index}, "finish_reason": "stop"} for index in "01")
    assert read({"choices": [other, first]}, "[DONE]").blocks == (Text("0"),)


def test_C7_a_fragment_with_a_known_id_and_no_name_goes_on_whatever_its_index() -> None:
    stream = [
        calls(call(0, "a", "f", '{"n"')),
        calls(call(1, "a", None, ":0")),
        calls(call(2, "a", None, "}")),
    ]
    assert read(*stream, chunk("tool_calls")).blocks == IN_ORDER[:1]
