"""What holds on every wire, against a scripted server (M1-M5, M8, M9, M12, M13, C2, C5, R4, N5, N7)."""

import gzip
import json
import traceback
from typing import Any

import pytest

from norma.adapters.http.limiter import Limiter
from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import Text, ToolCall, ToolResult
from norma.domain.model.replies import BlockEnded, TextDelta
from norma.ports.errors import ModelError
from tests.adapters.wires.answers import (
    BEGUN,
    DELTA,
    FINE,
    call_block,
    called,
    chunk,
    events,
    message,
    message_end,
    message_start,
    response,
    said,
    text_block,
    unnamed,
    whole,
)
from tests.adapters.wires.codecs import SHORT, asking, body_of, result, user
from tests.adapters.wires.codecs import said as says
from tests.rigs.model_fixtures import chat_pairs
from tests.rigs.wire_models import KEY, WIRES, a_request, events_of, model_against, whole_of
from tests.rigs.wire_server import JSON, Scripted


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


EMPTY = {
    "anthropic": Scripted([events(message_start(input_tokens=3), *message_end("end_turn", output_tokens=0))]),
    "openai-chat": Scripted([unnamed(chunk(content=""), chunk("stop"), "[DONE]")]),
    "openai-responses": Scripted([response()]),
}
"""A normal end and no content at all."""


async def failure_of(wire: str, *script: Scripted, **options: Any) -> tuple[ModelError, int]:
    async with model_against(wire, *script, **options) as (model, server):
        with pytest.raises(ModelError) as failed:
            await whole_of(model)
        return failed.value, len(server.requests)


async def test_M1_statuses_of_the_set_are_tried_again_with_the_same_bytes(wire: str) -> None:
    clock = ManualClock()
    retry = RetryPolicy(jitter=False)
    busy = Scripted([b"{}"], 529, JSON)
    async with model_against(wire, busy, busy, busy, FINE[wire], clock=clock, retry=retry) as (model, server):
        reply = await whole_of(model)
    assert reply.blocks == (Text("ok"),)
    assert clock.sleeps == [0.5, 1, 2]
    assert len({seen.body for seen in server.requests}) == 1
    assert [row.outcome for row in reply.finished.attempts] == ["overloaded"] * 3 + ["ok"]
    assert (await failure_of(wire, Scripted([b"{}"], 400, JSON)))[1] == 1


@pytest.mark.parametrize("first", ["close", "reset", "after the headers", "after an empty start"])
async def test_M1_a_drop_before_anything_was_shown_is_tried_again(wire: str, first: str) -> None:
    drops = {
        "close": Scripted(action="close"),
        "reset": Scripted(action="reset"),
        "after the headers": Scripted([], end="reset"),
        "after an empty start": Scripted([BEGUN[wire]]),
    }
    async with model_against(wire, drops[first], FINE[wire]) as (model, server):
        assert (await whole_of(model)).blocks == (Text("ok"),)
    assert len(server.requests) == 2


@pytest.mark.parametrize("end", ["clean", "reset"])
async def test_M2_a_drop_after_something_was_shown_is_final_and_keeps_it(wire: str, end: str) -> None:
    half = Scripted([BEGUN[wire], DELTA[wire]], end=end)
    error, requests = await failure_of(wire, half, FINE[wire])
    assert (error.failure.kind, error.partial, requests) == ("stream_dropped", (Text("x"),), 1)


_ERRORS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
    "openai-chat": {"error": {"type": "requests", "code": "rate_limit_exceeded", "message": "slow down"}},
    "openai-responses": {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
}


async def test_M3_an_error_inside_a_200_answer_is_tried_again_by_its_kind_unless_something_was_shown(
    wire: str,
) -> None:
    error = _ERRORS[wire]
    stream = events(error) if "type" in error else unnamed(error)
    failed, requests = await failure_of(wire, Scripted([BEGUN[wire], stream]))
    assert (failed.failure.kind, failed.failure.source, requests) == ("rate_limited", "api", 4)
    failed, requests = await failure_of(wire, Scripted([BEGUN[wire], DELTA[wire], stream]))
    assert (failed.failure.kind, failed.partial, requests) == ("rate_limited", (Text("x"),), 1)
    failed, requests = await failure_of(wire, whole(error))
    assert (failed.failure.kind, failed.failure.source, requests) == ("rate_limited", "api", 4)


async def test_M3_a_status_keeps_the_providers_words_and_the_id_of_the_request(wire: str) -> None:
    body = json.dumps(
        {"error": {"message": "no such model", "type": "t", "code": "model_not_found"}}
    ).encode()
    error, _ = await failure_of(wire, Scripted([body], 404, {**JSON, "request-id": "req_7"}))
    words = error.failure.provider
    assert (words.type, words.code, words.message, words.request_id) == (
        "t",
        "model_not_found",
        "no such model",
        "req_7",
    )
    assert (error.failure.kind, error.failure.status) == ("not_found", 404)
    zipped = Scripted([gzip.compress(body)], 404, {**JSON, "Content-Encoding": "gzip"})
    assert "no such model" in str((await failure_of(wire, zipped))[0])


async def test_M4_the_limiter_is_asked_once_for_a_logical_request(wire: str) -> None:
    class Counting(Limiter):
        turns = 0

        async def acquire(self) -> None:
            self.turns += 1

    limiter = Counting()
    async with model_against(wire, Scripted([b"{}"], 503, JSON), FINE[wire], limiter=limiter) as (model, _):
        await whole_of(model)
        assert limiter.turns == 1


_BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"},
    "openai-chat": {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]},
    "openai-responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    },
}


@pytest.mark.parametrize("wants_stream", [True, False])
async def test_M5_json_is_read_as_json_whatever_was_asked(wire: str, wants_stream: bool) -> None:
    async with model_against(wire, whole(_BODIES[wire])) as (model, server):
        reply = await whole_of(model, a_request(stream=wants_stream))
    assert reply.blocks == (Text("ok"),)
    assert reply.finished.stop.reason == "end_turn"
    assert bool(json.loads(server.requests[0].body).get("stream")) is wants_stream
    accepts = server.requests[0].header("Accept")
    assert accepts == ("text/event-stream" if wants_stream else "application/json")


async def test_M5_a_page_is_a_protocol_error_that_shows_its_beginning(wire: str) -> None:
    page = Scripted([b"<html><title>Sign in</title>"], headers={"Content-Type": "text/html; charset=utf-8"})
    error, requests = await failure_of(wire, page)
    assert (error.failure.kind, requests) == ("protocol", 1)
    assert "<title>Sign in" in str(error)


async def test_C5_and_R4_only_the_chat_wire_asks_again_for_an_empty_answer(wire: str) -> None:
    async with model_against(wire, EMPTY[wire], EMPTY[wire], FINE[wire]) as (model, server):
        reply = await whole_of(model)
    asked = 3 if wire == "openai-chat" else 1
    assert len(server.requests) == asked
    assert reply.finished.empty is (asked == 1)


async def test_R4_the_establishment_is_tried_again_and_nothing_else() -> None:
    wire = "openai-responses"
    async with model_against(wire, Scripted([b"{}"], 503, JSON), EMPTY[wire], FINE[wire]) as (model, server):
        assert (await whole_of(model)).finished.empty
    assert len(server.requests) == 2


def test_C2_every_call_on_the_chat_wire_has_its_result_and_every_result_its_call() -> None:
    history = (
        user("q"),
        says("tool", result("gone", "x")),
        says("assistant", ToolCall("1", "f"), ToolCall("2", "f")),
        says("tool", result("2", "two"), result("2", "again")),
        says("assistant", ToolCall("3", "f")),
        user("end"),
    )
    body = body_of("openai-chat", asking(*history))
    chat_pairs(body, "")
    assert [row["role"] for row in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "user",
    ]


_HALVES = ["a\ud83d", "\ude42b", "\ud83d", "c\0", "\udc00", "\ud83d"]


async def test_M12_halves_of_a_pair_are_joined_over_deltas_and_lone_ones_replaced(wire: str) -> None:
    streams = {
        "anthropic": message(text_block(0, *_HALVES)),
        "openai-chat": unnamed(*(chunk(content=piece) for piece in _HALVES), chunk("stop"), "[DONE]"),
        "openai-responses": response(said(0, *_HALVES)),
    }
    async with model_against(wire, Scripted([streams[wire]])) as (model, _):
        told = await events_of(model, a_request())
    shown = "".join(event.text for event in told if isinstance(event, TextDelta))
    assert shown == "a🙂b\ufffdc\ufffd\ufffd\ufffd"
    assert BlockEnded(Text(shown)) in told


def _calling(wire: str, call_id: str, name: str, *pieces: str) -> Scripted:
    if wire == "anthropic":
        return Scripted([message(call_block(0, call_id, name, *pieces), reason="tool_use")])
    if wire == "openai-responses":
        return Scripted([response(called(0, call_id, name, *pieces))])
    rows = [
        chunk(tool_calls=[{"index": 0, "id": call_id, "function": {"name": name, "arguments": piece}}])
        for piece in pieces
    ]
    return Scripted([unnamed(*rows, chunk("tool_calls"), "[DONE]")])


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
        (f'{{"a": {"9" * 5000}}}', None),
        ('{"a": 1} extra', None),
    ],
)
async def test_M12_arguments_are_an_exact_object_or_the_call_is_invalid(
    wire: str, raw: str, arguments: Any
) -> None:
    middle = len(raw) // 2
    async with model_against(wire, _calling(wire, "c", "f", raw[:middle], raw[middle:])) as (model, _):
        (found,) = (await whole_of(model)).blocks
    assert isinstance(found, ToolCall)
    if arguments is None:
        assert (found.invalid, found.raw, found.arguments) == (True, raw, {})
    else:
        assert (found.invalid, found.arguments) == (False, arguments)


async def test_M13_tool_names_come_back_as_the_tools_own(wire: str) -> None:
    request = a_request(tools=["mcp.server/tool", "plain"])
    async with model_against(wire, FINE[wire]) as (model, _):
        sent = json.loads(model.encode(request).body)["tools"][0]  # type: ignore[attr-defined]  # beyond the port
    name = sent.get("name") or sent["function"]["name"]
    assert name != "mcp.server/tool"
    async with model_against(wire, _calling(wire, "c", name, "{}")) as (model, _):
        (found,) = (await whole_of(model, request)).blocks
    assert isinstance(found, ToolCall)
    assert found.name == "mcp.server/tool"


async def test_M8_extra_fields_and_headers_win(wire: str) -> None:
    request = a_request(
        extra_body={"model": "other", "top_k": 3}, extra_headers={"accept": "x/y", "X-A": "1"}
    )
    async with model_against(wire, FINE[wire]) as (model, server):
        await whole_of(model, request)
    (seen,) = server.requests
    body = json.loads(seen.body)
    assert (body["model"], body["top_k"]) == ("other", 3)
    assert (seen.header("Accept"), seen.header("x-a")) == ("x/y", "1")


async def test_N5_a_key_that_the_server_echoes_is_not_shown(wire: str) -> None:
    echo = json.dumps({"error": {"message": f"bad key {KEY}", "code": KEY, "type": KEY}}).encode()
    event = unnamed(json.loads(echo))
    for script in (Scripted([echo], 401, JSON), Scripted([KEY.encode()], 500, {}), Scripted([event])):
        error, _ = await failure_of(wire, script)
        shown = "".join(traceback.format_exception(error)) + repr(error.failure) + repr(error.__cause__)
        assert KEY not in shown
        assert "***" in shown


async def test_N6_silence_is_a_timeout_that_is_not_tried_again(wire: str) -> None:
    policy = NetworkPolicy(idle_timeout_s=0.1)
    error, requests = await failure_of(wire, Scripted([], end="hold_open"), policy=policy)
    assert (error.failure.kind, requests) == ("timeout", 1)
    begun = Scripted([BEGUN[wire], DELTA[wire]], end="hold_open")
    error, requests = await failure_of(wire, begun, policy=policy)
    assert (error.failure.kind, error.partial, requests) == ("timeout", (Text("x"),), 1)


async def test_N7_encodings_are_offered_the_same_everywhere_and_others_are_named(wire: str) -> None:
    async with model_against(wire, FINE[wire]) as (model, server):
        await whole_of(model)
    assert server.requests[0].header("Accept-Encoding") == "gzip, deflate"
    odd = Scripted(FINE[wire].chunks, headers={**FINE[wire].headers, "Content-Encoding": "br"})
    error, _ = await failure_of(wire, odd)
    assert error.failure.kind == "protocol"
    assert "br" in str(error)


def test_the_wires_are_those_of_the_fixtures() -> None:
    assert set(SHORT.values()) == set(WIRES)


@pytest.mark.parametrize("blocks", [(), (Text(""),), (Text(" "), Text("\n"))])
def test_M14_a_result_that_holds_nothing_says_so(wire: str, blocks: tuple[Text, ...]) -> None:
    history = (user("q"), says("assistant", ToolCall("1", "f")), says("tool", ToolResult("1", blocks)))
    assert json.dumps(body_of(wire, asking(*history))).count("(no output)") == 1
