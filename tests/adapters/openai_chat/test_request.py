"""What the chat wire sends (C1-C4, M6-M8, M13-M16)."""

import json
import re
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.openai_chat.codec import ChatCodec
from norma.adapters.wires.pairs import NO_RESULT
from norma.adapters.wires.profiles import PROFILES, profile_for
from norma.domain.model.blocks import (
    Block,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from norma.domain.model.messages import Message, Role
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment, ThinkingWish, ToolSpec
from norma.domain.model.secrets import Secret
from tests.adapters.wires.histories import HISTORY
from tests.rigs.model_fixtures import chat_pairs, strict_json

URL = "https://h.test/v1"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def codec(profile: str = "compatible", model: str = "m", **changes: Any) -> ChatCodec:
    return ChatCodec(
        base_url=URL, model=model, api_key=Secret("k"), profile=evolve(profile_for(profile), **changes)
    )


def body_of(request: ReplyRequest, profile: str = "compatible", **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = strict_json(codec(profile, **options).encode(request).body)
    return body


def asking(*messages: Message, **options: Any) -> ReplyRequest:
    return ReplyRequest(messages or (user("q"),), options=ReplyOptions(**options))


def user(*blocks: Block | str) -> Message:
    return said("user", *blocks)


def said(role: Role, *blocks: Block | str) -> Message:
    return Message(role, tuple(Text(block) if isinstance(block, str) else block for block in blocks))


def result(call_id: str, text: str) -> ToolResult:
    return ToolResult(call_id, (Text(text),))


def test_C1_the_body_is_what_the_wire_wants_and_nothing_else() -> None:
    request = ReplyRequest(
        (user("q"),),
        (SystemSegment("one"), SystemSegment("  "), SystemSegment("two", cache=True)),
        (ToolSpec("f", "does f", SCHEMA),),
        ReplyOptions(max_tokens=7, temperature=0.5, stop=("x",), reasoning_effort="low"),
    )
    assert body_of(request) == {
        "model": "m",
        "messages": [{"role": "system", "content": "one\n\ntwo"}, {"role": "user", "content": "q"}],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "does f", "parameters": SCHEMA}}
        ],
        "max_tokens": 7,
        "temperature": 0.5,
        "stop": ["x"],
        "reasoning_effort": "low",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert body_of(asking(stream=False)).keys() == {"model", "messages", "stream"}


def test_C1_the_key_is_a_bearer_and_shown_to_nobody() -> None:
    encoded = codec().encode(asking())
    key = encoded.headers["Authorization"]
    assert isinstance(key, Secret)
    assert key.reveal() == "Bearer k"
    assert encoded.shown()["headers"]["Authorization"] == "***"
    azure = codec("azure").encode(asking())
    assert "Authorization" not in azure.headers
    assert azure.headers["api-key"] == Secret("k")


def test_M8_extra_headers_and_fields_win_and_stand_once() -> None:
    request = asking(
        extra_headers={"authorization": "mine", "X-A": "1"}, extra_body={"model": "other", "top_k": 3}
    )
    encoded = codec(extra_headers={"x-a": "0", "X-B": "2"}, extra_body={"top_k": 1, "seed": 4}).encode(
        request
    )
    names = [name.lower() for name in encoded.headers]
    assert len(names) == len(set(names))
    assert (encoded.headers["authorization"], encoded.headers["X-A"], encoded.headers["X-B"]) == (
        "mine",
        "1",
        "2",
    )
    body = strict_json(encoded.body)
    assert (body["model"], body["top_k"], body["seed"]) == ("other", 3, 4)
    assert encoded.shown()["headers"]["authorization"] == "***"


def test_M14_what_is_shown_is_what_is_sent() -> None:
    encoded = codec().encode(asking(max_tokens=3))
    shown = encoded.shown()
    assert (shown["type"], shown["method"], shown["url"]) == ("request", "POST", f"{URL}/chat/completions")
    assert shown["body"] == json.loads(encoded.body)
    assert shown["losses"] == []


@pytest.mark.parametrize("base", ["ftp://h", "h.test/v1", "", "https://user:pw@h.test/v1"])
def test_M6_a_base_url_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="base_url") as refused:
        ChatCodec(base_url=base, model="m", api_key=None, profile=profile_for("compatible"))
    assert "pw" not in str(refused.value)


def test_M7_options_that_a_model_refuses_are_left_out_and_said() -> None:
    request = asking(temperature=0.5, stop=("a",), max_tokens=5)
    encoded = codec("openai", "gpt-5-mini").encode(request)
    body = strict_json(encoded.body)
    assert body["max_completion_tokens"] == 5
    assert not {"temperature", "stop", "max_tokens"} & body.keys()
    assert {loss.what for loss in encoded.losses} == {"temperature", "stop"}
    assert strict_json(codec("openai", "gpt-4.1").encode(request).body)["temperature"] == 0.5
    assert strict_json(codec("openai", "gpt-5", forbidden=frozenset(), models=()).encode(request).body)[
        "stop"
    ] == ["a"]


@pytest.mark.parametrize(
    ("profile", "wish", "fields"),
    [
        ("deepseek", ThinkingWish(), {"thinking": {"type": "enabled"}}),
        ("glm", ThinkingWish(enabled=False), {"thinking": {"type": "disabled"}}),
        ("qwen", ThinkingWish(budget_tokens=9), {"enable_thinking": True, "thinking_budget": 9}),
        ("qwen", ThinkingWish(enabled=False, budget_tokens=9), {"enable_thinking": False}),
        ("openrouter", ThinkingWish(budget_tokens=9), {"reasoning": {"max_tokens": 9}}),
        ("openrouter", ThinkingWish(enabled=False), {"reasoning": {"enabled": False}}),
        ("compatible", ThinkingWish(), {}),
    ],
)
def test_M15_each_provider_has_its_own_switch_for_thinking(
    profile: str, wish: ThinkingWish, fields: dict[str, Any]
) -> None:
    plain = body_of(asking(), profile)
    assert body_of(asking(thinking=wish), profile) == plain | fields


def test_M15_a_profile_is_found_by_name_and_by_host() -> None:
    assert profile_for("DeepSeek").name == "deepseek"
    assert profile_for("api.deepseek.com").name == "deepseek"
    assert profile_for("mine.openai.azure.com:443").name == "azure"
    assert profile_for("notapi.openai.com.evil.test").name == "compatible"
    assert profile_for("127.0.0.1:8080").name == "compatible"
    named = {
        "openai",
        "azure",
        "anthropic",
        "deepseek",
        "kimi",
        "minimax",
        "glm",
        "qwen",
        "mistral",
        "gemini",
    }
    assert named | {"groq", "openrouter", "ollama", "llama.cpp", "vllm"} <= {row.name for row in PROFILES}


def test_C3_an_assistant_message_without_content_gets_a_placeholder() -> None:
    for empty in (said("assistant"), said("assistant", "  "), said("assistant", Thinking("x"))):
        (_, message, _) = body_of(asking(user("a"), empty, user("b")))["messages"]
        assert re.search(r"\S", message["content"])


def test_C4_thinking_goes_back_to_its_own_provider_where_that_wants_it() -> None:
    turn = said("assistant", Thinking("why", vendor="deepseek"), ToolCall("1", "f"))
    plain = said("assistant", Thinking("hm", vendor="deepseek"), "text")
    history = (user("a"), plain, user("b"), turn, said("tool", result("1", "r")))
    messages = body_of(asking(*history), "deepseek")["messages"]
    assert "reasoning_content" not in messages[1]
    assert messages[3]["reasoning_content"] == "why"
    for profile in ("kimi", "openai", "compatible"):
        assert "why" not in json.dumps(body_of(asking(*history), profile))
    assert "why" not in json.dumps(body_of(asking(*history, reasoning_replay=False), "deepseek"))
    always = body_of(asking(*history, reasoning_replay=True), "openrouter")["messages"]
    assert (always[1]["reasoning"], always[3]["reasoning"]) == ("hm", "why")


def test_M13_ids_are_kept_where_legal_and_new_else_derived_the_same_each_time() -> None:
    long = "call_" + "x" * 60
    rounds = [
        (
            said("assistant", ToolCall(call_id, "f"), ToolCall(other, "f")),
            said("tool", result(call_id, "1"), result(other, "2")),
        )
        for call_id, other in (("a", long), ("a", "has space"))
    ]
    history = [user("q"), *rounds[0], *rounds[1]]
    body = body_of(asking(*history))
    chat_pairs(body, "")
    ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    assert ids[0] == "a"
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"\S{1,40}", call_id) for call_id in ids)
    assert body_of(asking(*history)) == body
    again = body_of(asking(*history, user("more")))
    assert again["messages"][: len(body["messages"])] == body["messages"]


def test_M13_mistral_gets_nine_letters_and_digits() -> None:
    history = (user("q"), said("assistant", ToolCall("call_" + "a" * 24, "f"), ToolCall("abcDEF123", "f")))
    calls = body_of(asking(*history), "mistral")["messages"][1]["tool_calls"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", calls[0]["id"])
    assert calls[1]["id"] == "abcDEF123"


def test_M13_names_are_legal_distinct_and_the_same_in_the_history() -> None:
    names = ["a.b", "a_b", "a/b", "mcp__" + "x" * 90, "mcp__" + "x" * 91, "ü", "plain"]
    history = (user("q"), *(said("assistant", ToolCall(str(at), name)) for at, name in enumerate(names)))
    request = ReplyRequest(history, tools=tuple(ToolSpec(name, "d", SCHEMA) for name in names))
    encoded = codec().encode(request)
    body = strict_json(encoded.body)
    wire = [tool["function"]["name"] for tool in body["tools"]]
    assert len(set(wire)) == len(names)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in wire)
    assert (wire[1], wire[-1]) == ("a_b", "plain")
    assert [encoded.names.from_wire(name) for name in wire] == names
    called = [
        call["function"]["name"] for message in body["messages"] for call in message.get("tool_calls", ())
    ]
    assert called == wire
    alone = codec().encode(ReplyRequest((user("q"),), tools=(ToolSpec("a.b", "d", SCHEMA),)))
    assert strict_json(alone.body)["tools"][0]["function"]["name"] == wire[0]


def test_M13_a_call_without_a_name_can_be_sent_again() -> None:
    chat_pairs(body_of(asking(user("q"), said("assistant", ToolCall("1", "")))), "")


def test_M13_schemas_are_cleaned_and_what_can_not_be_is_refused_by_name() -> None:
    ref = {"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}}
    either = {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {}}}
    request = ReplyRequest((user("q"),), tools=(ToolSpec("r", "d", ref), ToolSpec("e", "d", either)))
    encoded = codec("gemini").encode(request)
    tools = [tool["function"]["parameters"] for tool in strict_json(encoded.body)["tools"]]
    assert tools == [
        {"type": "object", "properties": {"x": {"type": "string"}}},
        {"type": "object", "properties": {"a": {}}},
    ]
    assert [(loss.what, "e" in loss.why) for loss in encoded.losses] == [("schema", True)]
    loop = {"type": "object", "properties": {"x": {"$ref": "#"}}}
    with pytest.raises(ValueError, match=r"'looping'.*refers to itself"):
        codec("gemini").encode(ReplyRequest((user("q"),), tools=(ToolSpec("looping", "d", loop),)))


def test_E16_a_schema_for_the_answer_is_strict_where_it_can_be() -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    sent = body_of(asking(response_schema=one))["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"] == {**one, "additionalProperties": False}
    optional = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert body_of(asking(response_schema=optional))["response_format"]["json_schema"]["strict"] is False


NAMES = st.sampled_from([profile.name for profile in PROFILES])


@given(HISTORY, NAMES)
def test_M16_whatever_the_history_the_pairs_are_whole(history: list[Message], profile: str) -> None:
    chat_pairs(body_of(asking(*history), profile), "")


def test_a_known_message_does_not_bring_an_id_that_is_taken() -> None:
    one, two = (
        (said("assistant", ToolCall("a", "f", {"n": n})), said("tool", result("a", str(n)))) for n in (1, 2)
    )
    known = codec()
    known.encode(asking(user("q"), *two))
    body = strict_json(known.encode(asking(user("q"), *one, *two)).body)
    chat_pairs(body, "")
    ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    assert ids[0] == "a"
    assert len(set(ids)) == 2
    assert body == body_of(asking(user("q"), *one, *two))


def test_M16_missing_late_double_and_stray_results_are_mended() -> None:
    history = (
        said("tool", result("gone", "x")),
        said("assistant", ToolCall("1", "f"), ToolCall("2", "f")),
        user("wait"),
        said("tool", result("2", "second")),
        said("tool", result("2", "again")),
        user("end"),
    )
    messages = body_of(asking(user("q"), *history))["messages"]
    assert [row["role"] for row in messages] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert [row["content"] for row in messages[2:]] == [NO_RESULT, "second", "wait", "end"]


def test_M16_a_right_history_is_left_as_it_is() -> None:
    from norma.adapters.wires.pairs import paired

    history = (user("q"), said("assistant", ToolCall("1", "f")), said("tool", result("1", "r")))
    assert paired(history) is history


def test_pictures_of_a_result_follow_in_a_user_message_after_the_round() -> None:
    shot = ToolResult("1", (Text("see"), Image("image/png", "AA==")))
    history = (
        user("q"),
        said("assistant", ToolCall("1", "f"), ToolCall("2", "f")),
        said("tool", shot, result("2", "r")),
    )
    messages = body_of(asking(*history))["messages"]
    assert [row["role"] for row in messages[1:]] == ["assistant", "tool", "tool", "user"]
    assert messages[-1]["content"][1]["image_url"]["url"] == "data:image/png;base64,AA=="


def test_what_is_kept_of_messages_goes_with_them() -> None:
    from norma.adapters.wires.memo import Memo

    memo: Memo[int] = Memo()
    one, equal = user("a"), user("a")
    memo.put(one, 1)
    assert (memo.get(one), memo.get(equal), len(memo)) == (1, None, 1)
    del one
    assert len(memo) == 0


def test_extra_data_of_a_call_goes_back_to_its_provider_alone() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "s"}}}
    turn = said("assistant", ToolCall("1", "f", vendor="gemini", extra=extra))
    assert "thought_signature" in json.dumps(body_of(asking(user("q"), turn), "gemini"))
    assert "thought_signature" not in json.dumps(body_of(asking(user("q"), turn), "openai"))


_KN: dict[str, Any] = {"k": {"const": "a"}, "n": {"type": "integer"}}
_A: dict[str, Any] = {"type": "object", "properties": _KN, "required": ["k", "n"]}
_B: dict[str, Any] = {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]}
_M: dict[str, Any] = {"properties": {"m": {}}, "required": ["m"]}
_EITHER = {"k": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "n": {"type": "integer"}}


@pytest.mark.parametrize("profile", ["compatible", "gemini"])
@pytest.mark.parametrize(
    ("schema", "properties", "required"),
    [
        ({"oneOf": [_A, _B]}, _EITHER, None),
        ({"anyOf": [_A, {"type": "null"}]}, _KN, None),
        ({"allOf": [_A, _M]}, {**_KN, "m": {}}, ["k", "n", "m"]),
        ({"properties": {"k": {"type": "string"}}, "anyOf": [_B]}, {"k": {"type": "string"}}, None),
        ({"oneOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": {"allOf": [_B]}}}, _B["properties"], None),
        ({"$ref": "#/$defs/a", "$defs": {"a": _A}}, _KN, ["k", "n"]),
    ],
)
def test_M13_what_a_combinator_or_reference_at_the_top_says_of_properties_is_kept(
    profile: str, schema: dict[str, Any], properties: dict[str, Any], required: list[str] | None
) -> None:
    request = ReplyRequest((user("q"),), tools=(ToolSpec("f", "d", schema),))
    sent = body_of(request, profile)["tools"][0]["function"]["parameters"]
    assert (sent["type"], sent["properties"], sent.get("required")) == ("object", properties, required)
    assert not {"oneOf", "anyOf", "allOf", "$ref"} & sent.keys()


def test_M13_a_choice_that_leads_back_to_the_top_or_nowhere_is_left_out() -> None:
    schema = {"properties": {"a": {}}, "anyOf": [{"$ref": "#"}, {"$ref": "#/gone"}, _B]}
    encoded = codec().encode(ReplyRequest((user("q"),), tools=(ToolSpec("f", "d", schema),)))
    sent = strict_json(encoded.body)["tools"][0]["function"]["parameters"]
    assert sent["properties"] == {"a": {}, "k": {"const": "b"}}
    assert [loss.what for loss in encoded.losses] == ["schema"]
    for ref in ("#", "#/gone", "https://h.test/s"):
        with pytest.raises(ValueError, match="'f' can't be offered"):
            codec().encode(ReplyRequest((user("q"),), tools=(ToolSpec("f", "d", {"$ref": ref}),)))


@pytest.mark.parametrize(
    ("profile", "ours", "theirs"),
    [
        ("compatible", "max_tokens", "max_completion_tokens"),
        ("openai", "max_completion_tokens", "max_tokens"),
    ],
)
def test_C1_a_limit_that_somebody_adds_is_the_only_one(profile: str, ours: str, theirs: str) -> None:
    body = body_of(asking(max_tokens=5, extra_body={theirs: 7}), profile)
    assert (body.get(ours), body[theirs]) == (None, 7)
    assert body_of(asking(max_tokens=5, extra_body={ours: 7}), profile)[ours] == 7


def test_M8_a_stream_that_somebody_switches_off_takes_its_options_with_it() -> None:
    encoded = codec().encode(asking(extra_body={"stream": False}))
    assert "stream_options" not in strict_json(encoded.body)
    assert (encoded.stream, encoded.headers["Accept"]) == (False, "application/json")
    theirs = {"stream": False, "stream_options": {"x": 1}}
    assert body_of(asking(extra_body=theirs))["stream_options"] == {"x": 1}


@pytest.mark.parametrize("model", ["gpt-5-mini", "openai/o3", "O4-mini"])
def test_M7_a_model_that_refuses_the_old_limit_gets_the_new_one_wherever_it_is_served(model: str) -> None:
    body = body_of(asking(max_tokens=5), model=model)
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 5)
    assert body_of(asking(max_tokens=5), model="gpt-4.1")["max_tokens"] == 5
