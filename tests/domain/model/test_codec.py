"""Values to JSON and back, and what is said of JSON that is no value."""

import json
from typing import Any, Literal, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from norma.domain.model import MalformedJson, from_json, to_json
from norma.domain.model.blocks import Block, ResultBlock, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.events import Event, ToolCalled
from norma.domain.model.facts import Fact, Prompted, ReplyCut, ToolEnded, TurnEnded
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyEvent, ReplyFinished, Stop
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.tags import class_of, known_tags, tag_of, tagged
from norma.domain.model.usage import Usage
from tests.domain.model.values import values_of

UNIONS: dict[str, Any] = {
    "block": Block,
    "result block": ResultBlock,
    "fact": Fact,
    "event": Event,
    "reply event": ReplyEvent,
}
TAGGED = sorted(
    {kind for union in UNIONS.values() for kind in get_args(union)} | {Message},
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", TAGGED, ids=lambda kind: kind.__name__)
def test_S2_every_value_with_a_tag_comes_back_as_it_was(kind: Any) -> None:
    @settings(max_examples=25)
    @given(values_of(kind))
    def there_and_back(value: Any) -> None:
        data = json.loads(json.dumps(to_json(value)))
        assert data["type"] == tag_of(kind)
        for back in (from_json(data), from_json(data, kind)):
            assert type(back) is kind
            assert back == value
            assert to_json(back) == data

    there_and_back()


@pytest.mark.parametrize("name", UNIONS)
@settings(max_examples=50)
@given(data=st.data())
def test_S2_a_member_of_a_union_comes_back_as_that_member(name: str, data: st.DataObject) -> None:
    value = data.draw(values_of(UNIONS[name]))
    back = from_json(to_json(value), UNIONS[name])
    assert (type(back), back) == (type(value), value)


@given(values_of(ReplyRequest))
def test_a_request_has_no_tag_and_comes_back_by_its_class(request: ReplyRequest) -> None:
    data = json.loads(json.dumps(to_json(request)))
    assert "type" not in data
    assert from_json(data, ReplyRequest) == request


def test_S2_every_tag_stands_for_one_class() -> None:
    assert all(tag_of(kind) for kind in TAGGED)
    shared: dict[str | None, set[str]] = {}
    for kind in TAGGED:
        shared.setdefault(tag_of(kind), set()).add(kind.__name__)
    assert {tag: names for tag, names in shared.items() if len(names) > 1} == {
        "tool_call": {"ToolCall", "ToolCalled"}
    }
    assert {tag for tag in shared if tag} == set(known_tags()), "a tag that no test here knows of"


def test_S2_two_classes_of_one_tag_are_told_apart_by_a_key() -> None:
    call = ToolCall("1", "Read", {"path": "a"})
    assert isinstance(from_json(to_json(call)), ToolCall)
    assert isinstance(from_json(to_json(ToolCalled.of("r1.0", call))), ToolCalled)
    assert class_of("no such tag", {}) is None


def test_S2_a_tag_can_not_be_taken_twice() -> None:
    before = known_tags()
    with pytest.raises(ValueError, match="two classes want the JSON tag 'text'"):

        @tagged("text")
        @attrs.frozen
        class _Other:
            pass

    assert known_tags() == before
    assert class_of("text", {}) is Text


def test_fields_with_their_default_are_left_out_save_where_readers_expect_them() -> None:
    assert to_json(Text("a")) == {"type": "text", "text": "a"}
    assert to_json(Thinking()) == {"type": "thinking"}
    assert to_json(ToolCall("1", "LS")) == {"type": "tool_call", "id": "1", "name": "LS", "arguments": {}}
    assert to_json(ToolResult("1")) == {"type": "tool_result", "id": "1", "blocks": [], "is_error": False}
    assert to_json(ReplyFinished(Stop("end_turn"))) == {
        "type": "reply_finished",
        "stop": {"reason": "end_turn", "raw": None},
        "usage": {
            "input_tokens": None,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
            "output_tokens": None,
            "reasoning_tokens": None,
            "provenance": "unknown",
        },
        "empty": False,
        "attempts": [],
    }


@pytest.mark.parametrize(
    "fact", [TurnEnded("model_failed", exception=OSError("x")), ReplyCut((), exception=OSError("x"))]
)
def test_an_exception_never_enters_the_json(fact: Any) -> None:
    assert "exception" not in to_json(fact)
    assert from_json(to_json(fact)).exception is None
    assert from_json(to_json(fact)) == fact, "an exception is no part of what happened"


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", Prompted, 1j])
def test_what_has_no_json_form_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="has no JSON form"):
        to_json(value)


FACT: Any = Fact


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (None, None, 'value: expected an object with a "type", got None'),
        ([], FACT, 'value: expected an object with a "type", got []'),
        ({"text": "a"}, None, "value: expected an object with a \"type\", got {'text': 'a'}"),
        ({"type": "text"}, None, "value: Text lacks text"),
        ({"type": "tool_started", "key": "k"}, FACT, "value: ToolStarted lacks id, name"),
        ({"type": "text", "text": 1}, None, "text: expected str, got 1"),
        ({"type": "text", "text": None}, None, "text: expected str, got None"),
        (
            {"type": "text", "text": "a", "txet": 1},
            None,
            "value: unknown key 'txet' in Text; known: text, citations",
        ),
        ({"type": "image", "text": "a"}, Text, "value: \"type\" is 'image', expected 'text'"),
        ({"type": "prompted", "blocks": {}}, None, "blocks: expected a list, got {}"),
        (
            {"type": "prompted", "blocks": [{"type": "text", "text": []}]},
            None,
            "blocks[0].text: expected str, got []",
        ),
        (
            {"type": "prompted", "blocks": [], "limits": {"max_turns": True}},
            None,
            "limits.max_turns: expected int or null, got True",
        ),
        (
            {"type": "prompted", "blocks": [], "limits": {"timeout_s": "1"}},
            None,
            "limits.timeout_s: expected float or null, got '1'",
        ),
        ({"type": "limit_reached", "limit": "money"}, FACT, "limit: expected one of 'timeout', got 'money'"),
        (
            {"type": "tool_call", "id": "1", "name": "a", "arguments": []},
            None,
            "arguments: expected an object, got []",
        ),
        (
            {"type": "tool_ended", "key": "k", "id": "1", "name": "a", "is_error": 0},
            None,
            "is_error: expected bool, got 0",
        ),
        (
            {"kind": "server", "message": "x", "retry_after_s": 1j},
            Failure,
            "retry_after_s: expected float or null, got 1j",
        ),
        ("a" * 100, Text, f"value: expected an object (Text), got 'aaaa{'a' * 52}..."),
    ],
)
def test_S2_json_that_is_no_value_is_told_where_and_what_is_wrong(data: Any, kind: Any, message: str) -> None:
    with pytest.raises(MalformedJson) as caught:
        from_json(data, kind)
    assert str(caught.value) == message


def test_S2_an_unknown_type_names_those_that_would_do() -> None:
    with pytest.raises(MalformedJson, match=r"unknown \"type\" 'txet'; known here: .*steered.*turn_ended"):
        from_json({"type": "txet"}, FACT)
    with pytest.raises(
        MalformedJson, match=r"^blocks\[1\]: unknown \"type\" 'prompted'; known here: audio, document"
    ):
        from_json(
            {"type": "prompted", "blocks": [{"type": "text", "text": ""}, {"type": "prompted", "blocks": []}]}
        )


def test_S2_a_number_stays_what_it_was() -> None:
    big = 2**80
    call = from_json(json.loads(json.dumps(to_json(ToolCall("1", "a", {"n": big, "x": 1.0, "b": True})))))
    assert call.arguments == {"n": big, "x": 1.0, "b": True}
    assert [type(value) for value in call.arguments.values()] == [int, float, bool]
    limits = Prompted((), from_json({"max_turns": None, "timeout_s": 2}, type(Prompted(()).limits)))
    assert limits.limits.timeout_s == 2


def test_from_json_takes_any_type_that_a_field_may_have() -> None:
    word: Any = Literal["a", "b"]
    assert from_json("a", word) == "a"
    assert from_json([{"type": "text", "text": "a"}], tuple[Text, ...]) == (Text("a"),)
    ended = ToolEnded("k", "1", "Read", (Text("a"),))
    assert from_json(to_json(ended), ToolEnded) == ended
    assert from_json(to_json(Usage()), Usage) == Usage()
    with pytest.raises(TypeError, match="no JSON form"):
        from_json({}, set[str])
