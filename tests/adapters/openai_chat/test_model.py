"""The chat model against a scripted server: retries, errors, limits, answers (M1-M12, C4-C7)."""

import asyncio
import json
import traceback
from typing import Any

import pytest

from norma.adapters.http.limiter import Limiter
from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.memory.clock import ManualClock
from norma.adapters.wires.profiles import profile_for
from norma.domain.model.blocks import Text, Thinking, ToolCall
from norma.domain.model.replies import BlockEnded, ReplyFinished, TextDelta, ThinkingDelta
from norma.domain.model.usage import Usage
from norma.ports.errors import ModelError
from tests.rigs.wire_models import KEY, a_request, chat_against, events_of, whole_of
from tests.rigs.wire_server import JSON, Scripted, sse


def delta(finish: str | None = None, **fields: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def stream(*events: str, end: str = "clean") -> Scripted:
    return Scripted([sse(*events)], end=end)


def call(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {"index": index, "id": call_id, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*entries: dict[str, Any]) -> str:
    return delta(tool_calls=list(entries))


DONE = "[DONE]"
OK = stream(delta(content="ok"), delta("stop"), DONE)
EMPTY = stream(delta(content=""), delta("stop"), DONE)


async def failure_of(*script: Scripted, **options: Any) -> tuple[ModelError, int]:
    async with chat_against(*script, **options) as (model, server):
        with pytest.raises(ModelError) as failed:
            await whole_of(model)
        return failed.value, len(server.requests)


async def calls_of(*events: str) -> list[ToolCall]:
    async with chat_against(stream(*events, delta("tool_calls"), DONE)) as (model, _):
        whole = await whole_of(model)
    return [block for block in whole.blocks if isinstance(block, ToolCall)]


# M1, M2: trying again


@pytest.mark.parametrize("status", sorted(RetryPolicy().statuses))
async def test_M1_these_statuses_are_tried_again_three_times(status: int) -> None:
    error, requests = await failure_of(Scripted([b"{}"], status, JSON))
    assert requests == 4
    assert [attempt.attempt for attempt in error.attempts] == [1, 2, 3, 4]
    assert error.failure.status == status


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501, 505])
async def test_M1_other_statuses_are_final(status: int) -> None:
    assert (await failure_of(Scripted([b"{}"], status, JSON)))[1] == 1


async def test_M1_the_set_and_the_number_are_settings() -> None:
    policy = RetryPolicy(retries=1, statuses=frozenset({418}))
    assert (await failure_of(Scripted([b"{}"], 503, JSON), retry=policy))[1] == 1
    assert (await failure_of(Scripted([b"{}"], 418, JSON), retry=policy))[1] == 2


async def test_M1_waits_are_those_of_the_policy() -> None:
    clock = ManualClock()
    await failure_of(Scripted([b"{}"], 503, JSON), clock=clock, retry=RetryPolicy(jitter=False))
    assert clock.sleeps == [0.5, 1, 2]


async def test_M1_a_server_may_ask_for_a_wait_and_forbid_another_try() -> None:
    clock = ManualClock()
    asks = Scripted([b"{}"], 429, {**JSON, "Retry-After": "7"})
    async with chat_against(asks, OK, clock=clock) as (model, _):
        await whole_of(model)
    assert clock.sleeps == [7]
    error, requests = await failure_of(Scripted([b"{}"], 429, {**JSON, "X-Should-Retry": "false"}))
    assert requests == 1
    assert (await failure_of(asks))[0].failure.retry_after_s == 7
    assert error.failure.kind == "rate_limited"


@pytest.mark.parametrize(
    "first", [Scripted(action="close"), Scripted(action="reset"), Scripted([], end="reset"), Scripted([])]
)
async def test_M1_a_failure_before_anything_was_shown_is_tried_again(first: Scripted) -> None:
    async with chat_against(first, OK) as (model, server):
        whole = await whole_of(model)
    assert whole.blocks == (Text("ok"),)
    assert [attempt.outcome for attempt in whole.finished.attempts][1:] == ["ok"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("end", ["clean", "reset"])
async def test_M2_a_drop_after_something_was_shown_is_final_and_keeps_it(end: str) -> None:
    async with chat_against(stream(delta(content="half"), end=end), OK) as (model, server):
        reply = model.reply(a_request())
        assert await anext(reply) == TextDelta("half")
        with pytest.raises(ModelError) as failed:
            await anext(reply)
        with pytest.raises(StopAsyncIteration):
            await anext(reply)
    assert failed.value.failure.kind == "stream_dropped"
    assert failed.value.partial == (Text("half"),)
    assert len(server.requests) == 1


async def test_M2_what_came_before_the_error_in_one_read_is_told_first() -> None:
    async with chat_against(stream(delta(content="a"), '{"error":{"code":502,"message":"boom"}}')) as (
        model,
        _,
    ):
        reply = model.reply(a_request())
        assert await anext(reply) == TextDelta("a")
        with pytest.raises(ModelError, match="boom"):
            await anext(reply)


# M3: errors


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "authentication"),
        (402, "permission"),
        (403, "permission"),
        (404, "not_found"),
        (407, "proxy"),
        (408, "timeout"),
        (413, "context_overflow"),
        (422, "invalid_request"),
        (429, "rate_limited"),
        (500, "server"),
        (502, "server"),
        (503, "overloaded"),
        (504, "timeout"),
        (520, "server"),
        (529, "overloaded"),
        (307, "protocol"),
        (202, "protocol"),
    ],
)
async def test_M3_each_status_has_its_kind(status: int, kind: str) -> None:
    error, _ = await failure_of(Scripted([b"{}"], status, JSON))
    assert (error.failure.kind, error.failure.source, error.failure.status) == (kind, "http", status)


async def test_M3_the_providers_own_words_are_kept() -> None:
    body = {"error": {"message": "no such model", "type": "invalid_request_error", "code": "model_not_found"}}
    headers = {**JSON, "X-Request-Id": "req_7"}
    error, _ = await failure_of(Scripted([json.dumps(body).encode()], 404, headers))
    words = error.failure.provider
    assert (words.type, words.code, words.message, words.request_id) == (
        "invalid_request_error",
        "model_not_found",
        "no such model",
        "req_7",
    )
    for fact in ("404", "no such model", "model_not_found", "req_7"):
        assert fact in str(error)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"detail": "bad key"}', "bad key"),
        (b'[{"error": {"message": "from a list", "code": 400}}]', "from a list"),
        (b'{"error": "plain words"}', "plain words"),
        (b"<html>gateway</html>", "<html>gateway</html>"),
        (b"\xff\xfe broken", "broken"),
        (b"", "nothing"),
    ],
)
async def test_M3_a_body_of_any_form_is_told(body: bytes, said: str) -> None:
    assert said in str((await failure_of(Scripted([body], 400, {})))[0])


async def test_M3_an_overflow_is_known_by_code_never_by_words() -> None:
    coded = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    worded = {"error": {"message": "maximum context length exceeded"}}
    for body, kind in ((coded, "context_overflow"), (worded, "invalid_request")):
        error, _ = await failure_of(Scripted([json.dumps(body).encode()], 400, JSON))
        assert error.failure.kind == kind


@pytest.mark.parametrize(
    ("fields", "kind", "requests"),
    [
        ({"code": 503}, "overloaded", 4),
        ({"code": "502"}, "server", 4),
        ({"code": 401}, "authentication", 1),
        ({"code": "rate_limit_exceeded", "type": "tokens"}, "rate_limited", 4),
        ({"type": "overloaded_error"}, "overloaded", 4),
        ({"type": "server_error"}, "server", 4),
        ({"code": "context_length_exceeded", "type": "server_error"}, "context_overflow", 1),
        ({"type": "nobody_knows"}, "invalid_request", 1),
    ],
)
async def test_M3_an_error_in_a_200_answer_maps_by_code_then_type(
    fields: dict[str, Any], kind: str, requests: int
) -> None:
    event = json.dumps({"error": {"message": "boom", **fields}})
    for script in (stream(event), Scripted([event.encode()], headers=JSON)):
        error, seen = await failure_of(script)
        assert (error.failure.kind, error.failure.source, error.failure.status) == (kind, "api", None)
        assert seen == requests


async def test_N5_a_key_that_the_server_echoes_is_not_shown() -> None:
    echo = json.dumps({"error": {"message": f"bad key {KEY}", "code": KEY, "type": KEY}}).encode()
    for script in (Scripted([echo], 401, JSON), Scripted([KEY.encode()], 500, {}), stream(echo.decode())):
        error, _ = await failure_of(script)
        shown = "".join(traceback.format_exception(error)) + repr(error.failure) + repr(error.__cause__)
        assert KEY not in shown
        assert "***" in shown


# M4, N6


async def test_M4_the_limiter_is_asked_once_for_a_logical_request() -> None:
    class Counting(Limiter):
        turns = 0

        async def acquire(self) -> None:
            self.turns += 1

    limiter = Counting()
    async with chat_against(Scripted([b"{}"], 503, JSON), EMPTY, OK, limiter=limiter) as (model, server):
        await whole_of(model)
        assert (limiter.turns, len(server.requests)) == (1, 3)
        await whole_of(model)
        assert limiter.turns == 2


async def test_N6_silence_is_a_timeout_that_is_not_tried_again() -> None:
    silent = Scripted([], end="hold_open")
    error, requests = await failure_of(silent, policy=NetworkPolicy(idle_timeout_s=0.05))
    assert (error.failure.kind, requests) == ("timeout", 1)


# M5: JSON and stream give the same


async def test_M5_json_and_stream_give_the_same_reply() -> None:
    tool_calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}]
    message = {"role": "assistant", "reasoning_content": "hm", "content": "text", "tool_calls": tool_calls}
    usage = {"prompt_tokens": 3, "completion_tokens": 5}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = Scripted([json.dumps({"choices": [choice], "usage": usage}).encode()], headers=JSON)
    pieces = stream(
        delta(reasoning_content="h"),
        delta(reasoning_content="m"),
        delta(content="te"),
        delta(content="xt"),
        calls(call(0, "a", "f", "")),
        calls(call(0, arguments='{"x":')),
        calls(call(0, arguments="1}")),
        delta("tool_calls"),
        json.dumps({"choices": [], "usage": usage}),
        DONE,
    )
    replies = []
    for script, wants_stream in ((whole, False), (whole, True), (pieces, True)):
        async with chat_against(script, profile=profile_for("deepseek")) as (model, server):
            replies.append(await whole_of(model, a_request(stream=wants_stream)))
            assert json.loads(server.requests[0].body)["stream"] is wants_stream
    assert replies[0] == replies[1] == replies[2]
    assert replies[0].blocks == (
        Thinking("hm", vendor="deepseek"),
        Text("text"),
        ToolCall("a", "f", {"x": 1}),
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"  \n ", "empty body"),
        (b"not json", "no JSON"),
        (b"[1]", "no JSON object"),
        (b'{"id": 1}', "no choices"),
    ],
)
async def test_M5_a_body_that_is_no_answer_is_a_protocol_error(body: bytes, said: str) -> None:
    error, requests = await failure_of(Scripted([body], headers=JSON))
    assert (error.failure.kind, requests) == ("protocol", 1)
    assert said in str(error)


# Order of events


async def test_events_come_in_the_promised_order() -> None:
    script = stream(
        delta(reasoning="why"),
        delta(content="a"),
        delta(content="b"),
        calls(call(0, "1", "f", '{"x":1}')),
        calls(call(1, "2", "f", "{}")),
        delta("tool_calls"),
        DONE,
    )
    async with chat_against(script) as (model, server):
        events = await events_of(model, a_request(tools=["f"]))
    vendor = server.url.removeprefix("http://")
    assert events[:-1] == [
        ThinkingDelta("why"),
        BlockEnded(Thinking("why", vendor=vendor)),
        TextDelta("a"),
        TextDelta("b"),
        BlockEnded(Text("ab")),
        BlockEnded(ToolCall("1", "f", {"x": 1})),
        BlockEnded(ToolCall("2", "f", {})),
    ]
    assert isinstance(events[-1], ReplyFinished)


async def test_E3_a_call_is_told_when_the_next_one_opens() -> None:
    script = Scripted(
        [sse(calls(call(0, "1", "f", '{"x":1}')), calls(call(1, "2", "f", '{"y":')))], end="hold_open"
    )
    async with chat_against(script) as (model, _), model.reply(a_request()) as reply, asyncio.timeout(5):
        assert await anext(reply) == BlockEnded(ToolCall("1", "f", {"x": 1}))


async def test_E3_an_empty_object_may_be_a_placeholder_and_is_told_at_the_end() -> None:
    first = sse(calls(call(0, "1", "f", "{}")), calls(call(1, "2", "g", '{"x":1}')), delta(content="then"))
    rest = sse(delta("tool_calls"), DONE)
    async with chat_against(Scripted([first, rest])) as (model, _):
        events = await events_of(model, a_request())
    assert [type(event) for event in events] == [TextDelta, BlockEnded, BlockEnded, BlockEnded, ReplyFinished]
    assert events[1] == BlockEnded(ToolCall("1", "f", {}))


async def test_C7_an_interleaved_call_is_never_told_before_it_is_whole() -> None:
    found = await calls_of(
        calls(call(0, "1", "f", '{"a":{}')),
        calls(call(1, "2", "g", '{"b":1}')),
        calls(call(0, arguments=',"c":2}')),
    )
    assert found == [ToolCall("1", "f", {"a": {}, "c": 2}), ToolCall("2", "g", {"b": 1})]


async def test_C7_arguments_after_a_whole_call_are_a_protocol_error() -> None:
    script = stream(
        calls(call(0, "1", "f", '{"a":1}')), calls(call(1, "2", "g")), calls(call(0, arguments="x"))
    )
    error, _ = await failure_of(script)
    assert error.failure.kind == "protocol"
    assert error.partial == (ToolCall("1", "f", {"a": 1}),)


# M9: usage


async def test_M9_cumulative_reports_fold_by_maximum_and_are_marked_reported() -> None:
    reports = [
        {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}},
        {"prompt_tokens": 10, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 2}},
        {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": None},
    ]
    events = [json.dumps({"choices": [], "usage": report}) for report in reports]
    async with chat_against(stream(delta(content="a"), *events, delta("stop"), DONE)) as (model, _):
        whole = await whole_of(model)
    assert whole.finished.usage == Usage(10, 4, None, 9, 2, "reported")


async def test_M9_nobody_reported_is_unknown_never_zero() -> None:
    async with chat_against(OK) as (model, _):
        assert (await whole_of(model)).finished.usage == Usage()
    async with chat_against(stream(delta(content="a"), '{"usage":{"prompt_tokens":null}}', DONE)) as (
        model,
        _,
    ):
        assert (await whole_of(model)).finished.usage == Usage()


async def test_M9_a_failed_reply_keeps_what_was_reported_as_partial() -> None:
    error, _ = await failure_of(
        stream(delta(content="a"), '{"usage":{"prompt_tokens":8,"completion_tokens":1}}')
    )
    assert (error.usage.input_tokens, error.usage.provenance) == (8, "partial")
    assert [(attempt.outcome, attempt.usage) for attempt in error.attempts] == [
        ("stream_dropped", error.usage)
    ]


# M10: stop reasons


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("model_context_window_exceeded", "context_overflow"),
        ("brand_new", "other"),
        ("tool_calls", "other"),
    ],
)
async def test_M10_stop_reasons_are_neutral_and_the_raw_word_is_kept(word: str, reason: str) -> None:
    async with chat_against(stream(delta(content="a"), delta(word), DONE)) as (model, _):
        stop = (await whole_of(model)).finished.stop
    assert (stop.reason, stop.raw) == (reason, word)


# M12


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ("null", {}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"s": "\\ud83d\\ude42 \\ud800 \\u0000"}', {"s": "🙂 \ufffd \ufffd"}),
        ('{"a": 1', None),
        ("[1]", None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
        ('{"a": %s}' % ("9" * 5000), None),
        ('{"a": %s}' % ("[" * 100_000), None),
        ('{"a": 1} extra', None),
    ],
)
async def test_M12_arguments_are_an_exact_object_or_the_call_is_invalid(raw: str, arguments: Any) -> None:
    middle = len(raw) // 2
    (found,) = await calls_of(calls(call(0, "1", "f", raw[:middle])), calls(call(0, arguments=raw[middle:])))
    if arguments is None:
        assert (found.invalid, found.raw, found.arguments) == (True, raw, {})
    else:
        assert (found.invalid, found.arguments) == (False, arguments)


async def test_M12_an_object_in_an_envelope_keeps_its_integers() -> None:
    big = 2**70 + 1
    (found,) = await calls_of(calls(call(0, "1", "f", {"n": big})))
    assert found.arguments == {"n": big}


async def test_M12_halves_of_a_pair_are_joined_over_deltas_and_lone_ones_replaced() -> None:
    pieces = ["a\ud83d", "\ude42b", "\ud83d", "c\0", "\udc00", "\ud83d"]
    async with chat_against(stream(*(delta(content=piece) for piece in pieces), delta("stop"), DONE)) as (
        model,
        _,
    ):
        events = await events_of(model, a_request())
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown == "a🙂b\ufffdc\ufffd\ufffd\ufffd"
    assert BlockEnded(Text(shown)) in events


# C4-C7


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
async def test_C4_reasoning_becomes_thinking_under_each_name(field: str) -> None:
    async with chat_against(stream(delta(**{field: "hm"}), delta("stop"), DONE)) as (model, _):
        (block,) = (await whole_of(model)).blocks
    assert isinstance(block, Thinking)
    assert block.text == "hm"


async def test_C5_an_empty_answer_is_asked_again_twice_and_then_delivered() -> None:
    usage = '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}'
    empty = stream(delta(content=""), delta("stop"), usage, DONE)
    async with chat_against(empty) as (model, server):
        whole = await whole_of(model)
    assert whole.finished.empty
    assert whole.blocks == ()
    assert [(row.outcome, row.usage.input_tokens) for row in whole.finished.attempts] == [
        ("empty", 3),
        ("empty", 3),
        ("ok", 3),
    ]
    assert len({seen.body for seen in server.requests}) == 1


@pytest.mark.parametrize(
    "event", [delta(content="x"), delta(reasoning="x"), delta(refusal="x"), calls(call(0, "1", "f"))]
)
async def test_C5_any_content_at_all_is_not_empty(event: str) -> None:
    async with chat_against(stream(event, delta("stop"), DONE)) as (model, server):
        whole = await whole_of(model)
    assert not whole.finished.empty
    assert len(server.requests) == 1


async def test_C5_is_a_setting() -> None:
    async with chat_against(EMPTY, retry=RetryPolicy(empty_retries=0)) as (model, server):
        assert (await whole_of(model)).finished.empty
    assert len(server.requests) == 1


@pytest.mark.parametrize("last", [delta("stop"), DONE])
async def test_C6_a_finish_or_the_end_mark_is_enough(last: str) -> None:
    for end in ("clean", "reset"):
        async with chat_against(stream(delta(content="a"), last, end=end)) as (model, _):
            assert (await whole_of(model)).blocks == (Text("a"),)


async def test_C7_several_calls_at_index_0_are_several_calls() -> None:
    assert await calls_of(calls(call(0, "1", "f", '{"a":1}')), calls(call(0, "2", "f", '{"a":2}'))) == [
        ToolCall("1", "f", {"a": 1}),
        ToolCall("2", "f", {"a": 2}),
    ]
    found = await calls_of(calls(call(0, None, "f", '{"a":1}')), calls(call(0, None, "f", '{"a":2}')))
    assert [row.arguments for row in found] == [{"a": 1}, {"a": 2}]
    found = await calls_of(calls(call(0, None, "f", "{}")), calls(call(0, None, "g", "{}")))
    assert [row.name for row in found] == ["f", "g"]
    assert len({row.id for row in found}) == 2


async def test_C7_a_new_id_with_a_name_is_a_call_although_the_one_before_has_no_arguments() -> None:
    found = await calls_of(calls(call(0, "1", "f", "")), calls(call(0, "2", "f", '{"a":1}')))
    assert found == [ToolCall("1", "f", {}), ToolCall("2", "f", {"a": 1})]


async def test_C7_a_new_id_with_each_fragment_is_one_call() -> None:
    found = await calls_of(calls(call(0, "r1", "f", '{"a"')), calls(call(0, "r2", arguments=":1}")))
    assert found == [ToolCall("r1", "f", {"a": 1})]


async def test_C7_calls_in_one_delta_without_index_and_id_are_several() -> None:
    found = await calls_of(calls(call(name="f", arguments=""), call(name="f", arguments="")))
    assert [row.name for row in found] == ["f", "f"]


async def test_C7_the_same_id_twice_in_one_reply_is_made_distinct() -> None:
    found = await calls_of(calls(call(0, "same", "f", "{}"), call(1, "same", "g", "{}")))
    assert found[0].id == "same"
    assert found[1].id not in ("same", "")


async def test_C7_a_legacy_function_call_is_a_call() -> None:
    script = stream(
        delta(function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"a":'}),
        delta(function_call={"arguments": "1}"}),
        delta("function_call"),
    )
    async with chat_against(script) as (model, _):
        whole = await whole_of(model)
    (found,) = whole.blocks
    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments, whole.finished.stop.reason) == ("f", {"a": 1}, "tool_use")


async def test_C7_calls_after_a_stop_count() -> None:
    script = stream(delta("stop", content="a"), calls(call(0, "1", "f", "{}")), DONE)
    async with chat_against(script) as (model, _):
        whole = await whole_of(model)
    assert whole.finished.stop.reason == "tool_use"
    assert whole.blocks == (Text("a"), ToolCall("1", "f", {}))


async def test_M13_tool_names_come_back_as_the_tools_own() -> None:
    request = a_request(tools=["mcp.server/tool", "plain"])
    async with chat_against(OK) as (model, _):
        wire = json.loads(model.encode(request).body)["tools"][0]["function"]["name"]  # type: ignore[attr-defined]
    assert wire != "mcp.server/tool"
    async with chat_against(stream(calls(call(0, "1", wire, "{}")), delta("tool_calls"), DONE)) as (model, _):
        (found,) = (await whole_of(model, request)).blocks
    assert isinstance(found, ToolCall)
    assert found.name == "mcp.server/tool"
