"""What the Messages wire sends (A1-A4, A6, A7, M7, M13, M14, M16)."""

import json
from base64 import b64encode
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
from tests.rigs.model_fixtures import anthropic_pairs, cache_marks, no_empty_text, roles_alternate

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
OURS = "anthropic"
SIGNED = Thinking("why", "SIG", vendor=OURS)
MARK = {"type": "ephemeral"}


def body_of(request: ReplyRequest, profile: str = OURS, **options: Any) -> dict[str, Any]:
    return body_on("anthropic", request, profile, **options)


def losses_of(request: ReplyRequest, **options: Any) -> list[tuple[str, str]]:
    return [(loss.what, loss.fate) for loss in codec("anthropic", OURS, **options).encode(request).losses]


def test_A1_the_headers_are_those_of_the_wire_and_the_key_is_shown_to_nobody() -> None:
    encoded = codec("anthropic", OURS).encode(asking())
    assert encoded.url == "https://h.test/v1/messages"
    assert dict(encoded.headers) == {
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "anthropic-version": "2023-06-01",
        "x-api-key": Secret("k"),
    }
    assert encoded.shown()["headers"]["x-api-key"] == "***"
    beta = codec("anthropic", OURS, extra_headers={"anthropic-beta": "b-1"}).encode(
        asking(extra_headers={"Anthropic-Version": "2030-01-01"}, stream=False)
    )
    assert beta.headers["anthropic-beta"] == "b-1"
    assert beta.headers["Anthropic-Version"] == "2030-01-01"
    assert "anthropic-version" not in beta.headers
    assert beta.headers["Accept"] == "application/json"


def test_A2_the_body_is_what_the_wire_wants_and_nothing_else() -> None:
    request = ReplyRequest(
        (user("q"),),
        (SystemSegment("one"), SystemSegment(" "), SystemSegment("two")),
        (ToolSpec("f", "does f", SCHEMA),),
        asking(max_tokens=7, temperature=0.5, stop=("x", "  "), reasoning_effort="low").options,
    )
    assert body_of(request) == {
        "model": "m",
        "system": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
        "tools": [{"name": "f", "description": "does f", "input_schema": SCHEMA}],
        "max_tokens": 7,
        "temperature": 0.5,
        "stop_sequences": ["x"],
        "output_config": {"effort": "low"},
        "stream": True,
    }
    assert losses_of(request) == [("stop", "dropped")]
    assert body_of(asking(stream=False)).keys() == {"model", "messages", "max_tokens", "stream"}


@pytest.mark.parametrize("given", [None, 0])
def test_A2_no_limit_means_8192(given: int | None) -> None:
    assert body_of(asking(max_tokens=given))["max_tokens"] == 8192


@pytest.mark.parametrize(
    ("budget", "most", "sent", "limit"),
    [
        (9000, None, 9000, 13096),
        (2000, None, 2000, 8192),
        (9000, 4000, 3999, 4000),
        (9000, 20000, 9000, 20000),
        (5, None, 1024, 8192),
        (None, None, 4096, 8192),
        (9000, 500, 1024, 1524),
    ],
)
def test_A2_a_budget_and_the_limit_fit_each_other(
    budget: int | None, most: int | None, sent: int, limit: int
) -> None:
    body = body_of(asking(max_tokens=most, temperature=0.2, thinking=ThinkingWish(budget_tokens=budget)))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": sent}
    assert body["max_tokens"] == limit
    assert "temperature" not in body


@pytest.mark.parametrize(
    ("model", "thinking", "temperature"),
    [
        ("claude-sonnet-5", {"type": "adaptive"}, False),
        ("claude-opus-4-7", {"type": "adaptive"}, False),
        ("claude-mythos-preview", {"type": "adaptive"}, False),
        ("claude-haiku-5-5", {"type": "adaptive"}, False),
        ("claude-opus-4-5-20251101", {"type": "enabled", "budget_tokens": 2000}, True),
        ("claude-whatever", {"type": "enabled", "budget_tokens": 2000}, True),
        ("claude-opus-4-6", {"type": "adaptive"}, True),
        ("claude-haiku-4-5-20251001", {"type": "enabled", "budget_tokens": 2000}, True),
        ("claude-3-7-sonnet-latest", {"type": "enabled", "budget_tokens": 2000}, True),
    ],
)
def test_M7_newer_models_decide_themselves_how_much_to_think(
    model: str, thinking: dict[str, Any], temperature: bool
) -> None:
    wish = asking(thinking=ThinkingWish(budget_tokens=2000))
    for profile in (OURS, "compatible"):
        assert body_of(wish, profile, model=model)["thinking"] == thinking
        assert ("temperature" in body_of(asking(temperature=0.3), profile, model=model)) is temperature


def test_M7_what_this_wire_says_otherwise_is_mapped() -> None:
    assert body_of(asking(temperature=1.7))["temperature"] == 1
    assert body_of(asking(thinking=ThinkingWish(enabled=False)))["thinking"] == {"type": "disabled"}
    assert body_of(asking(reasoning_effort="minimal"))["output_config"] == {"effort": "low"}
    assert "output_config" not in body_of(asking(reasoning_effort="none"))
    assert "output_config" not in body_of(asking(reasoning_effort="high"), model="claude-haiku-4-5")


def test_E16_a_schema_for_the_answer_is_closed_as_the_wire_wants_it() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    sent = body_of(asking(response_schema=schema, reasoning_effort="low"))["output_config"]
    assert sent["effort"] == "low"
    assert sent["format"]["type"] == "json_schema"
    assert sent["format"]["schema"]["additionalProperties"] is False
    assert sent["format"]["schema"]["properties"]["a"]["additionalProperties"] is False
    assert "additionalProperties" not in schema


def test_A3_neighbours_of_one_role_are_one_message() -> None:
    history = (user("a"), user("b", "c"), said("assistant", "d"), said("assistant", "e"), user("f"))
    messages = body_of(asking(*history))["messages"]
    assert [row["role"] for row in messages] == ["user", "assistant", "user"]
    assert [part["text"] for part in messages[0]["content"]] == ["a", "b", "c"]
    assert [part["text"] for part in messages[1]["content"]] == ["d", "e"]


def test_A3_two_answers_in_one_message_keep_the_thinking_of_the_later_one() -> None:
    later = Thinking("then", "SIG2", vendor=OURS)
    history = (user("a"), said("assistant", SIGNED, "one"), said("assistant", later, "two"), user("b"))
    request = asking(*history)
    (_, message, _) = body_of(request)["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "thinking", "text"]
    assert message["content"][1]["signature"] == "SIG2"
    assert losses_of(request) == [("thinking", "dropped")]


def test_A3_blank_text_is_dropped_and_the_end_of_the_last_answer_trimmed() -> None:
    history = (user("a"), said("assistant", "kept  ", " \n"), user(" ", "b"), said("assistant", "x: \n"))
    messages = body_of(asking(*history))["messages"]
    assert [[part["text"] for part in row["content"]] for row in messages] == [
        ["a"],
        ["kept  "],
        ["b"],
        ["x:"],
    ]


@pytest.mark.parametrize(
    "history", [(), (user("  "),), (said("assistant", "a"),), (said("assistant", " "), user("b"))]
)
def test_A3_a_user_speaks_first_and_somebody_speaks(history: tuple[Message, ...]) -> None:
    body = body_of(ReplyRequest(history))
    assert body["messages"]
    roles_alternate(body, "")
    no_empty_text(body, "")


def exchange(*before: Any) -> tuple[Message, ...]:
    return (user("a"), said("assistant", *before, ToolCall("1", "f")), said("tool", result("1", "r")))


def test_A4_signed_thinking_goes_back_to_its_own_provider() -> None:
    redacted = Thinking(redacted="RED==", vendor=OURS)
    omitted = Thinking("", "SIG3", vendor=OURS)
    (_, message, _) = body_of(asking(*exchange(SIGNED, redacted, omitted)))["messages"]
    assert message["content"][:3] == [
        {"type": "thinking", "thinking": "why", "signature": "SIG"},
        {"type": "redacted_thinking", "data": "RED=="},
        {"type": "thinking", "thinking": "", "signature": "SIG3"},
    ]


@pytest.mark.parametrize(
    "thought",
    [
        Thinking("why", "SIG"),
        Thinking("why", "SIG", vendor="deepseek"),
        Thinking("why", vendor=OURS),
        Thinking(redacted="R", vendor="x"),
        Thinking("why", encrypted="E", vendor=OURS),
    ],
)
def test_A4_other_thinking_stays_here(thought: Thinking) -> None:
    request = asking(*exchange(thought))
    assert "why" not in json.dumps(body_of(request))
    assert losses_of(request) == [("thinking", "dropped")]


def test_A4_a_host_that_nobody_described_takes_its_own_proofs_and_those_of_the_wires_vendor() -> None:
    for vendor, is_sent in (("h.test", True), (OURS, True), ("other.test", False), (None, False)):
        body = body_of(asking(*exchange(Thinking("why", "SIG", vendor=vendor))), "compatible")
        assert ("SIG" in json.dumps(body)) is is_sent
    gateways = Thinking("why", "SIG", vendor="h.test")
    assert "SIG" not in json.dumps(body_of(asking(*exchange(gateways)))), "the vendor knows only its own"


def test_A4_thinking_is_filtered_where_it_is_off() -> None:
    off = asking(*exchange(SIGNED), thinking=ThinkingWish(enabled=False))
    assert "SIG" not in json.dumps(body_of(off))
    assert "SIG" not in json.dumps(body_of(asking(*exchange(SIGNED), reasoning_replay=False)))


def test_A4_a_model_is_not_asked_to_think_amid_calls_that_came_without() -> None:
    wish = ThinkingWish(budget_tokens=2000)
    foreign = asking(*exchange(Thinking("why", vendor="x")), thinking=wish)
    assert "thinking" not in body_of(foreign)
    assert ("thinking", "dropped") in losses_of(foreign)
    assert "thinking" in body_of(asking(*exchange(SIGNED), thinking=wish))
    later = (*exchange(SIGNED), said("assistant", ToolCall("2", "f")), said("tool", result("2", "r")))
    assert "thinking" in body_of(asking(*later, thinking=wish))
    assert "thinking" not in body_of(asking(*exchange(), user("next"), thinking=wish))
    assert "thinking" in body_of(asking(*exchange(), said("assistant", "so"), user("next"), thinking=wish))


SEARCH = Opaque(OURS, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}})
HITS = Opaque(OURS, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})
CITATION = {"type": "web_search_result_location", "url": "u", "encrypted_index": "e"}


def test_A6_blocks_of_provider_run_tools_and_citations_go_back_as_they_came() -> None:
    cited = Text("found", (CITATION, {"type": "url_citation", "url": "o"}))
    request = asking(user("a"), said("assistant", SEARCH, HITS, cited), user("b"))
    (_, message, _) = body_of(request)["messages"]
    assert message["content"] == [
        dict(SEARCH.payload),
        dict(HITS.payload),
        {"type": "text", "text": "found", "citations": [CITATION]},
    ]
    assert losses_of(request) == [("text", "translated")]
    assert "server_tool_use" not in json.dumps(body_of(request, "deepseek"))


def test_A6_halves_of_a_provider_run_tool_are_left_out() -> None:
    for half in (SEARCH, HITS):
        request = asking(user("a"), said("assistant", half, "t"), user("b"))
        assert [part["type"] for part in body_of(request)["messages"][1]["content"]] == ["text"]
        assert losses_of(request) == [("opaque", "dropped")]
    paused = asking(user("a"), said("assistant", "t", SEARCH))
    assert body_of(paused)["messages"][-1]["content"][-1] == dict(SEARCH.payload)


def test_A7_where_the_system_prompt_is_kept_so_are_the_tools_and_the_conversation() -> None:
    request = ReplyRequest(
        (user("a"), said("assistant", "b"), user("c")),
        (SystemSegment("s", cache=True), SystemSegment("t")),
        (ToolSpec("f", "d", SCHEMA), ToolSpec("g", "d", SCHEMA)),
    )
    body = body_of(request)
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert [segment.get("cache_control") for segment in body["system"]] == [MARK, None]
    assert [row["content"][-1].get("cache_control") for row in body["messages"]] == [None, None, MARK]
    plain = body_of(ReplyRequest(request.messages, (SystemSegment("s"),), request.tools))
    assert "cache_control" not in json.dumps(plain)


def test_A7_the_last_four_marks_are_sent_and_none_on_nothing() -> None:
    segments = [SystemSegment(f"s{at}", cache=True) for at in range(6)]
    request = ReplyRequest(
        (user("a"),), (*segments, SystemSegment("", cache=True)), (ToolSpec("f", "d", SCHEMA),)
    )
    body = body_of(request)
    cache_marks(body, "")
    assert [segment["text"] for segment in body["system"] if "cache_control" in segment] == ["s3", "s4", "s5"]
    assert "cache_control" in body["messages"][-1]["content"][-1]
    moved = body_of(ReplyRequest((user("a"),), (SystemSegment("s"), SystemSegment(" ", cache=True))))
    assert moved["system"] == [{"type": "text", "text": "s", "cache_control": MARK}]


def test_A7_marks_change_nothing_that_is_sent_again() -> None:
    speaker = codec("anthropic", OURS)
    history = (user("a"), said("assistant", "b"), user("c"))
    system = (SystemSegment("s", cache=True),)
    tools = (ToolSpec("f", "d", SCHEMA),)
    first = json.loads(speaker.encode(ReplyRequest(history, system, tools)).body)
    longer = ReplyRequest((*history, said("assistant", "d"), user("e")), system, tools)
    second = json.loads(speaker.encode(longer).body)
    marks = [row["content"][-1].get("cache_control") for row in second["messages"]]
    assert marks == [None, None, None, None, MARK]
    assert json.loads(speaker.encode(ReplyRequest(history, system, tools)).body) == first
    assert "cache_control" not in json.dumps(
        json.loads(speaker.encode(ReplyRequest(history, (), tools)).body)
    )


def test_M14_pictures_and_files_go_where_the_wire_takes_them() -> None:
    text = b64encode(b"words").decode()
    request = asking(
        user(
            Image("image/png", "AA=="),
            Image("image/png", url="https://i.test/x.png"),
            Document("application/pdf", "AA==", name="a.pdf"),
            Document("text/markdown", text),
            Image("image/tiff", "AA=="),
        )
    )
    parts = body_of(request)["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image", "image", "document", "document", "text"]
    assert parts[0]["source"] == {"type": "base64", "media_type": "image/png", "data": "AA=="}
    assert parts[1]["source"] == {"type": "url", "url": "https://i.test/x.png"}
    assert parts[2]["title"] == "a.pdf"
    assert parts[3]["source"] == {"type": "text", "media_type": "text/plain", "data": "words"}
    assert losses_of(request) == [("image", "dropped")]


def test_M14_a_result_goes_whole() -> None:
    shot = ToolResult("1", (Text("see"), Image("image/png", "AA==")), is_error=True)
    (_, _, message) = body_of(asking(user("a"), said("assistant", ToolCall("1", "f")), said("tool", shot)))[
        "messages"
    ]
    (sent,) = message["content"]
    assert sent["is_error"] is True
    assert [part["type"] for part in sent["content"]] == ["text", "image"]
    empty = said("tool", ToolResult("1", (), is_error=True))
    (_, _, message) = body_of(asking(user("a"), said("assistant", ToolCall("1", "f")), empty))["messages"]
    assert message["content"][0]["content"][0]["text"].strip()


def test_M13_ids_are_legal_and_arguments_objects() -> None:
    calls = (
        ToolCall("list dir:0", "f"),
        ToolCall("x" * 80, "f"),
        ToolCall("ok", "f", {}, invalid=True, raw='{"a'),
    )
    body = body_of(asking(user("a"), said("assistant", *calls)))
    anthropic_pairs(body, "")
    sent = body["messages"][1]["content"]
    assert sent[2]["id"] == "ok"
    assert sent[2]["input"] == {"INVALID_JSON": '{"a'}


def test_what_stood_beside_a_call_goes_back_to_its_provider_alone() -> None:
    call = ToolCall("1", "f", vendor=OURS, extra={"caller": {"type": "code"}})
    turn = asking(user("q"), said("assistant", call))
    assert body_of(turn)["messages"][1]["content"][0]["caller"] == {"type": "code"}
    assert "caller" not in json.dumps(body_of(turn, "deepseek"))


@given(HISTORY, st.sampled_from([OURS, "compatible"]), st.sampled_from([None, True, False]))
def test_M16_whatever_the_history_the_wire_takes_it(
    history: list[Message], profile: str, thinks: bool | None
) -> None:
    wish = None if thinks is None else ThinkingWish(enabled=thinks)
    request = ReplyRequest(
        tuple(history), (SystemSegment("s", cache=True),), (), asking(thinking=wish).options
    )
    body = body_of(request, profile)
    anthropic_pairs(body, "")
    roles_alternate(body, "")
    no_empty_text(body, "")
    cache_marks(body, "")


@pytest.mark.parametrize("last", [Thinking("hm", "SIG2", vendor=OURS), Thinking(redacted="R", vendor=OURS)])
def test_A4_thinking_that_nothing_follows_is_left_out(last: Thinking) -> None:
    request = asking(user("q"), said("assistant", SIGNED, "a  ", last), user("go on"))
    assert body_of(request)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "why", "signature": "SIG"},
        {"type": "text", "text": "a  "},
    ]
    assert losses_of(request) == [("thinking", "dropped")]
    at_the_end = asking(user("q"), said("assistant", SIGNED, "a  ", last))
    assert body_of(at_the_end)["messages"][1]["content"][1:] == [{"type": "text", "text": "a"}]


def test_A3_roles_take_turns_where_an_answer_comes_to_nothing() -> None:
    request = asking(
        user("q"), said("assistant", SIGNED), user("go on"), said("assistant", "  "), user("yes")
    )
    body = body_of(request)
    roles_alternate(body, "")
    (message,) = body["messages"]
    assert [part["text"] for part in message["content"]] == ["q", "go on", "yes"]
