"""What the Responses wire sends (R1, R3, M7, M13, M14, M16)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.model.blocks import Document, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest, SystemSegment, ThinkingWish, ToolSpec
from norma.domain.model.secrets import Secret
from tests.adapters.wires.codecs import asking, codec, result, said, user
from tests.adapters.wires.codecs import body_of as body_on
from tests.adapters.wires.histories import HISTORY
from tests.rigs.model_fixtures import no_server_item_ids, responses_pairs

WIRE = "openai-responses"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
REASONS = {"profile": "openai", "model": "gpt-5.4"}
THOUGHT = Thinking("why", encrypted="ENC", vendor="openai")
SENT = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "why"}],
    "encrypted_content": "ENC",
}


def answered(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def body_of(request: ReplyRequest, profile: str = "compatible", **options: Any) -> dict[str, Any]:
    return body_on(WIRE, request, profile, **options)


def losses_of(request: ReplyRequest, profile: str = "compatible", **options: Any) -> list[tuple[str, str]]:
    return [(loss.what, loss.fate) for loss in codec(WIRE, profile, **options).encode(request).losses]


def test_R1_the_body_is_what_the_wire_wants_and_nothing_else() -> None:
    request = ReplyRequest(
        (
            user("q"),
            said("assistant", "a", ToolCall("c", "f", {"n": 1})),
            said("tool", result("c", "r")),
            user("b", "c"),
        ),
        (SystemSegment("one"), SystemSegment(" "), SystemSegment("two", cache=True)),
        (ToolSpec("f", "does f", SCHEMA),),
        asking(max_tokens=7, temperature=0.5, stop=("x",), reasoning_effort="low").options,
    )
    assert body_of(request) == {
        "model": "m",
        "instructions": "one\n\ntwo",
        "input": [
            {"role": "user", "content": "q"},
            answered("a"),
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"n":1}'},
            {"type": "function_call_output", "call_id": "c", "output": "r"},
            {"role": "user", "content": "b\n\nc"},
        ],
        "tools": [
            {"type": "function", "name": "f", "description": "does f", "parameters": SCHEMA, "strict": False}
        ],
        "max_output_tokens": 7,
        "temperature": 0.5,
        "reasoning": {"effort": "low"},
        "store": False,
        "stream": True,
    }
    assert losses_of(request) == [("stop", "dropped")]
    assert body_of(asking(stream=False)).keys() == {"model", "input", "store", "stream"}


def test_R1_the_key_is_a_bearer_and_shown_to_nobody() -> None:
    encoded = codec(WIRE).encode(asking())
    assert encoded.url == "https://h.test/v1/responses"
    assert encoded.headers["Authorization"] == Secret("Bearer k")
    assert encoded.shown()["headers"]["Authorization"] == "***"
    assert codec(WIRE, "azure").encode(asking()).headers["api-key"] == Secret("k")


def test_M7_what_a_model_or_the_wire_refuses_is_left_out_and_said() -> None:
    request = asking(temperature=0.5, stop=("a",), thinking=ThinkingWish(budget_tokens=9))
    assert {"temperature", "stop"}.isdisjoint(body_of(request, **REASONS))
    assert body_of(request, **REASONS)["reasoning"] == {"summary": "auto"}
    assert losses_of(request, **REASONS) == [
        ("temperature", "dropped"),
        ("stop", "dropped"),
        ("thinking", "translated"),
    ]
    assert "reasoning" not in body_of(asking(thinking=ThinkingWish()))
    assert losses_of(asking(thinking=ThinkingWish())) == [("thinking", "dropped")]
    off = asking(thinking=ThinkingWish(enabled=False), reasoning_effort="high")
    assert "reasoning" not in body_of(off, **REASONS)


def test_E16_a_schema_for_the_answer_is_strict_where_it_can_be() -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    sent = body_of(asking(response_schema=one))["text"]["format"]
    assert (sent["type"], sent["strict"]) == ("json_schema", True)
    assert sent["schema"] == {**one, "additionalProperties": False}
    optional = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert body_of(asking(response_schema=optional))["text"]["format"]["strict"] is False


def history(*before: Any) -> tuple[Message, ...]:
    call = ToolCall("c", "f")
    return (user("q"), said("assistant", *before, "t", call), said("tool", result("c", "r")))


def test_R3_encrypted_reasoning_is_asked_for_and_goes_back_where_the_model_reasons() -> None:
    body = body_of(asking(*history(THOUGHT)), **REASONS)
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["input"][1:3] == [SENT, answered("t")]
    no_server_item_ids(body, "")
    for profile, model in (("compatible", "m"), ("openai", "gpt-4.1")):
        other = body_of(asking(*history(THOUGHT)), profile, model=model)
        assert "include" not in other
        assert "ENC" not in json.dumps(other)
    by_rule = body_of(asking(*history(THOUGHT)), "openai", reasons=True, model="mine")
    assert by_rule["include"] == ["reasoning.encrypted_content"]


def test_R3_a_models_name_says_that_it_reasons_wherever_it_is_served() -> None:
    body = body_of(asking(*history(THOUGHT), temperature=0.5), model="openai/gpt-5.4")
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["input"][1] == SENT
    assert "temperature" not in body


def test_R3_it_is_off_and_on_by_option() -> None:
    off = body_of(asking(*history(THOUGHT), reasoning_replay=False), **REASONS)
    assert "include" not in off
    assert "ENC" not in json.dumps(off)
    ours = Thinking("why", encrypted="ENC", vendor="h.test")
    on = body_of(asking(*history(ours), reasoning_replay=True))
    assert on["include"] == ["reasoning.encrypted_content"]
    assert on["input"][1] == SENT
    vendors = body_of(asking(*history(THOUGHT), reasoning_replay=True))
    assert vendors["input"][1] == SENT, "a host that nobody described may lead to the wire's vendor"
    foreign = Thinking("why", encrypted="ENC", vendor="other.test")
    assert "ENC" not in json.dumps(body_of(asking(*history(foreign), reasoning_replay=True)))


@pytest.mark.parametrize(
    "thought",
    [
        Thinking("secret"),
        Thinking("secret", encrypted="E"),
        Thinking("secret", encrypted="E", vendor="x"),
        Thinking("secret", "SIG", vendor="openai"),
        Thinking(redacted="secret", vendor="openai"),
    ],
)
def test_R3_other_thinking_is_not_replayed(thought: Thinking) -> None:
    request = asking(*history(thought))
    body = body_of(request, **REASONS)
    assert not [item for item in body["input"] if item.get("type") == "reasoning"]
    assert "secret" not in json.dumps(body)
    assert losses_of(request, **REASONS) == [("thinking", "dropped")]


def test_R3_reasoning_stands_in_front_of_what_followed_it_or_not_at_all() -> None:
    second = Thinking("", encrypted="ENC2", vendor="openai")
    turn = said("assistant", THOUGHT, Text(""), ToolCall("c", "f"), second)
    items = body_of(asking(user("q"), turn, said("tool", result("c", "r"))), **REASONS)["input"]
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert losses_of(asking(user("q"), turn), **REASONS)[0] == ("thinking", "dropped")
    between = said("assistant", "a", THOUGHT, "b")
    items = body_of(asking(user("q"), between), **REASONS)["input"]
    assert items == [{"role": "user", "content": "q"}, answered("a"), SENT, answered("b")]
    two = body_of(asking(user("q"), said("assistant", "a", "b")))["input"]
    assert [part["text"] for part in two[1]["content"]] == ["a", "b"]


def test_R3_items_that_the_provider_ran_go_back_without_their_ids_where_reasoning_does() -> None:
    search = Opaque(
        "openai", {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"q": 1}}
    )
    request = asking(user("q"), said("assistant", THOUGHT, search, "t"), user("and"))
    items = body_of(request, **REASONS)["input"]
    assert items[1:3] == [SENT, {"type": "web_search_call", "action": {"q": 1}}]
    for other in (body_of(request, "openai", model="gpt-4.1"), body_of(request)):
        assert "web_search_call" not in json.dumps(other)
    foreign = Opaque("openai", {"type": "server_tool_use", "id": "s", "name": "n", "input": {}})
    assert losses_of(asking(user("q"), said("assistant", foreign)), **REASONS) == [("opaque", "dropped")]


def test_M13_calls_have_legal_ids_and_arguments_that_are_objects() -> None:
    calls = (
        ToolCall("has space", "a.b"),
        ToolCall("x" * 60, "f"),
        ToolCall("ok", "f", {}, invalid=True, raw='{"a'),
    )
    body = body_of(asking(user("q"), said("assistant", *calls)))
    responses_pairs(body, "")
    sent = [item for item in body["input"] if item.get("type") == "function_call"]
    assert sent[2]["call_id"] == "ok"
    assert json.loads(sent[2]["arguments"]) == {"INVALID_JSON": '{"a'}
    assert all(len(item["call_id"]) <= 40 for item in sent)


def test_M14_pictures_and_files_go_where_the_provider_takes_them() -> None:
    blocks = (
        Text("see"),
        Image("image/png", "AA=="),
        Document("application/pdf", "AA==", name="a.pdf"),
        Document("application/pdf", url="https://d.test/a.pdf"),
    )
    parts = body_of(asking(user(*blocks)), "openai")["input"][0]["content"]
    assert parts == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
        {"type": "input_file", "file_url": "https://d.test/a.pdf"},
    ]
    shot = ToolResult("c", (Text("see"), Image("image/png", "AA==")))
    turn = (user("q"), said("assistant", ToolCall("c", "f")), said("tool", shot))
    (_, _, output) = body_of(asking(*turn), "openai")["input"]
    assert [part["type"] for part in output["output"]] == ["input_text", "input_image"]
    plain = body_of(asking(user(*blocks)), "deepseek")["input"][0]["content"]
    assert isinstance(plain, str)
    assert "a.pdf left out" in plain


@given(HISTORY, st.sampled_from(["openai", "compatible"]))
def test_M16_whatever_the_history_the_wire_takes_it(messages: list[Message], profile: str) -> None:
    body = body_of(ReplyRequest(tuple(messages)), profile, reasons=True)
    responses_pairs(body, "")
    no_server_item_ids(body, "")
    items = body["input"]
    for at, item in enumerate(items):
        if item.get("type") == "reasoning":
            after = items[at + 1]
            assert (
                after.get("type") in ("reasoning", "function_call", "web_search_call")
                or after["role"] == "assistant"
            )
