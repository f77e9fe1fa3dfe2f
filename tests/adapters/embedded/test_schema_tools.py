"""Tools by JSON schema: what the model is told, what its JSON means, and answers that stream."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.embedded.model import SchemaToolsModel
from norma.adapters.embedded.schema_codec import (
    Answered,
    AnswerScanner,
    BrokenStep,
    Called,
    plain_request,
    step_of,
)
from norma.adapters.memory.model import ScriptedModel, end, say, think
from norma.domain.model.blocks import Text, Thinking, ToolCall, ToolResult, text_of
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyWhole, TextDelta, fold_reply
from norma.domain.model.requests import ReplyOptions, ReplyRequest, ToolSpec
from norma.domain.model.usage import Usage
from norma.ports.errors import ModelError

SEARCH = {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
GREP = ToolSpec("Grep", "Search the files.", SEARCH)
REQUEST = ReplyRequest((Message("user", (Text("Where?"),)),), tools=(GREP,))
CALL = '{"tool": "Grep", "arguments": {"pattern": "turn"}}'


def answer(text: str, *, ascii_only: bool = True) -> str:
    return json.dumps({"tool": "answer", "arguments": {"text": text}}, ensure_ascii=ascii_only)


async def whole_of(script: object, request: ReplyRequest = REQUEST) -> tuple[list[str], ReplyWhole]:
    """The deltas and the folded reply."""
    model = SchemaToolsModel(ScriptedModel([script]))  # type: ignore[list-item]
    events = [event async for event in model.reply(request)]
    return [event.text for event in events if isinstance(event, TextDelta)], fold_reply(events)


async def test_a_call_is_one_tool_call_and_no_text():
    usage = Usage(output_tokens=9, provenance="reported")
    deltas, whole = await whole_of((say(CALL, 7), end("end_turn", usage=usage)))
    assert deltas == []
    assert whole.blocks == (ToolCall("guided_1", "Grep", {"pattern": "turn"}),)
    assert whole.finished.stop.reason == "tool_use"
    assert whole.finished.usage == usage


async def test_an_answer_streams_as_text():
    deltas, whole = await whole_of((say(answer("It is in turn.py."), 12), end()))
    assert len(deltas) == 3
    assert "".join(deltas) == "It is in turn.py."
    assert whole.blocks == (Text("It is in turn.py."),)
    assert whole.finished.stop.reason == "end_turn"


async def test_keys_in_another_order_still_give_the_answer():
    deltas, whole = await whole_of((say('{"arguments": {"text": "Here."}, "tool": "answer"}'), end()))
    assert whole.blocks == (Text("Here."),)
    assert "".join(deltas) == "Here."


async def test_an_answer_cut_by_the_token_limit_is_the_text_so_far():
    deltas, whole = await whole_of((say(answer("It is in turn.py.")[:-9]), end("max_tokens")))
    assert whole.blocks == (Text("".join(deltas)),)
    assert "".join(deltas) == "It is in tu"
    assert whole.finished.stop.reason == "max_tokens"


async def test_a_call_cut_by_the_token_limit_is_invalid_with_its_raw_text():
    _, whole = await whole_of((say(CALL[:-9]), end("max_tokens")))
    [call] = whole.blocks
    assert isinstance(call, ToolCall)
    assert call.invalid
    assert call.raw == CALL[:-9]
    assert whole.finished.stop.reason == "max_tokens"


async def test_thinking_is_kept_in_front():
    _, whole = await whole_of((think("hm"), say(CALL), end()))
    assert [type(block) for block in whole.blocks] == [Thinking, ToolCall]


async def test_a_request_without_tools_is_left_alone():
    inner = ScriptedModel([(say("plain"), end())])
    request = ReplyRequest(REQUEST.messages)
    whole = fold_reply([event async for event in SchemaToolsModel(inner).reply(request)])
    assert whole.blocks == (Text("plain"),)
    assert inner.requests == [request]


async def test_a_failure_keeps_the_text_that_was_shown():
    broken = ModelError(Failure("stream_dropped", "gone", "transport"))
    model = SchemaToolsModel(ScriptedModel([(TextDelta(answer("It is in")[:-3]), broken)]))
    with pytest.raises(ModelError) as caught:
        async for _ in model.reply(REQUEST):
            pass
    assert text_of(caught.value.partial) == "It is in"


def test_the_model_is_told_of_the_tools_in_words_and_held_to_their_schemas():
    plain = plain_request(REQUEST)
    assert plain.tools == ()
    assert "Grep: Search the files." in plain.system[-1].text
    assert '{"tool": "Grep", "arguments": {"pattern": "<string>"}}' in plain.system[-1].text
    schema = plain.options.extra_body["response_format"]["json_schema"]["schema"]
    assert [step["properties"]["tool"]["const"] for step in schema["anyOf"]] == ["Grep", "answer"]
    assert schema["anyOf"][0]["properties"]["arguments"] == SEARCH


def test_a_response_format_in_the_options_wins():
    options = ReplyOptions(extra_body={"response_format": {"type": "text"}, "seed": 1})
    plain = plain_request(ReplyRequest(REQUEST.messages, tools=REQUEST.tools, options=options))
    assert plain.options.extra_body == {"response_format": {"type": "text"}, "seed": 1}


def test_the_past_is_told_as_the_model_wrote_it():
    messages = (
        *REQUEST.messages,
        Message("assistant", (ToolCall("guided_1", "Grep", {"pattern": "turn"}),)),
        Message("tool", (ToolResult("guided_1", (Text("turn.py:1:x"),)),)),
        Message("assistant", (Text("There."),)),
        Message("tool", (ToolResult("guided_2", (Text("no"),), is_error=True),)),
    )
    plain = plain_request(ReplyRequest(messages, tools=(GREP,)))
    assert [message.role for message in plain.messages] == ["user", "assistant", "user", "assistant", "user"]
    texts = [text_of(message.blocks) for message in plain.messages]
    assert texts[1] == CALL
    assert texts[2] == "Result of Grep:\nturn.py:1:x\n"
    assert texts[3] == answer("There.")
    assert texts[4] == "Error of a tool:\nno\n"


@pytest.mark.parametrize(
    "written", ["", "no", "[]", "{}", '{"tool": 7, "arguments": {}}', CALL[:-1], '{"tool": "answer"}']
)
def test_what_is_no_step_says_so(written: str):
    with pytest.raises(BrokenStep):
        step_of(written)


def test_steps():
    assert step_of(CALL) == Called("Grep", {"pattern": "turn"})
    assert step_of(answer("yes")) == Answered("yes")


def test_halves_of_surrogate_pairs_and_nul_can_be_written_as_utf_8():
    step = step_of(r'{"tool": "answer", "arguments": {"text": "a\ud83d b\u0000 \udc00 \ud83d\ude00"}}')
    assert step == Answered("a\ufffd b\ufffd \ufffd \U0001f600")
    scanner = AnswerScanner()
    raw = r'{"tool": "answer", "arguments": {"text": "a\ud83d b\u0000 \udc00 \ud83d\ude00"}}'
    assert "".join(map(scanner.feed, raw)) == "a\ufffd b\ufffd \ufffd \U0001f600"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.booleans(), st.data())
def test_however_an_answer_is_cut_into_pieces_the_text_is_the_same(
    text: str, ascii_only: bool, data: st.DataObject
):
    written = answer(text, ascii_only=ascii_only)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(written)))) | {0, len(written)})
    scanner = AnswerScanner()
    pieces = [written[start:stop] for start, stop in pairwise(cuts)]
    assert "".join(map(scanner.feed, pieces)) == text


@given(st.text(max_size=200))
def test_the_scanner_shows_nothing_of_what_is_no_answer(text: str):
    scanner = AnswerScanner()
    written = json.dumps({"tool": "Write", "arguments": {"text": text}})
    assert "".join(map(scanner.feed, written)) == ""
