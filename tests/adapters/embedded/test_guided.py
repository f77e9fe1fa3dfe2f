"""The guided model: our words first, then the real model's, marked; failures keep what was found."""

import asyncio

import pytest

from norma.adapters.embedded.answer import ADDS, SAYS
from norma.adapters.embedded.model import GuidedModel, Speed
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.gates import Forever, Gate
from norma.adapters.memory.model import ScriptedModel, end, say
from norma.domain.model.blocks import Text, ToolCall, text_of
from norma.domain.model.failures import Failure
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, Stop, TextDelta, fold_reply
from norma.domain.model.requests import ReplyOptions, ReplyRequest
from norma.domain.model.usage import NOTHING, Usage
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel
from tests.adapters.embedded.conversations import BOTH, Runs, answered, asked, files
from tests.adapters.embedded.test_planner import TREE, denied

PROMPT = "Where is the turn machine defined?"
USAGE = Usage(120, None, None, 21, None, "reported")


def guided(inner: ChatModel) -> GuidedModel:
    return GuidedModel(inner, clock=ManualClock())


async def events_of(model: ChatModel, request: ReplyRequest) -> list[ReplyEvent]:
    return [event async for event in model.reply(request)]


ON_THE_TREE = files(TREE)


async def up_to_the_answer(model: ChatModel, prompt: str, runs: Runs = ON_THE_TREE) -> ReplyRequest:
    """The request with which the answer is due."""
    request = asked(prompt)
    while True:
        whole = fold_reply(await events_of(model, request))
        calls = [block for block in whole.blocks if isinstance(block, ToolCall)]
        if not calls:
            return request
        request = answered(request, calls, runs)


@pytest.fixture
async def due() -> ReplyRequest:
    scribe = ScriptedModel([(say("words"), end())])
    return await up_to_the_answer(guided(scribe), PROMPT)


async def test_rounds_with_tools_never_touch_the_real_model():
    inner = ScriptedModel()
    events = await events_of(guided(inner), asked(PROMPT))
    whole = fold_reply(events)
    assert [type(block) for block in whole.blocks] == [Text, ToolCall]
    assert whole.finished == ReplyFinished(Stop("tool_use"), NOTHING)
    assert inner.requests == []


async def test_deltas_come_before_their_block_and_the_end_is_last(due: ReplyRequest):
    for request in (asked(PROMPT), due):
        events = await events_of(guided(ScriptedModel([(say("It is pure."), end())])), request)
        pending = ""
        for event in events[:-1]:
            if isinstance(event, TextDelta):
                pending += event.text
            elif isinstance(event, BlockEnded) and isinstance(event.block, Text):
                assert event.block.text == pending
                pending = ""
        assert isinstance(events[-1], ReplyFinished)
        assert pending == ""


async def test_the_answer_quotes_the_place_and_then_the_model_marked_as_such(due: ReplyRequest):
    inner = ScriptedModel([(say("It takes steps."), end(usage=USAGE))])
    whole = fold_reply(await events_of(guided(inner), due))
    text = text_of(whole.blocks)
    assert "domain/engine/turn.py:1\n```python\n" in text
    assert "The turn machine: a pure step from one state to the next." in text
    assert text.endswith(f"{ADDS}It takes steps.")
    assert whole.finished.usage == USAGE
    assert whole.finished.attempts[0].usage == USAGE


async def test_the_real_model_is_asked_about_the_best_place_coolly_and_in_few_words(due: ReplyRequest):
    inner = ScriptedModel([(say("It takes steps."), end())])
    await events_of(guided(inner), due)
    [request] = inner.requests
    assert request.tools == ()
    assert request.system
    prompt = text_of(request.messages[0].blocks)
    assert "a pure step from one state to the next" in prompt
    assert '"""' not in prompt, "a small model imitates the marks of docstrings"
    assert PROMPT in prompt
    assert len(prompt) < 2000
    assert request.options.temperature == 0.2
    assert request.options.max_tokens == 90
    assert request.options.extra_body["repeat_penalty"] == 1.1


async def test_the_findings_are_told_before_the_model_has_said_a_word(due: ReplyRequest):
    gate = Gate()
    model = guided(ScriptedModel([(gate, say("late"), end())]))
    async with model.reply(due) as reply:
        first = await reply.__anext__()
        assert isinstance(first, TextDelta)
        assert "turn.py:1" in first.text
        gate.open()
        rest = [event async for event in reply]
    assert TextDelta("la") in rest


async def test_deltas_of_the_real_model_are_passed_on_as_the_very_objects(due: ReplyRequest):
    script = say("one two three", 3)
    told = await events_of(guided(ScriptedModel([(script, end())])), due)
    assert all(any(event is one for event in told) for one in script)


async def test_its_own_limit_of_words_is_no_fault(due: ReplyRequest):
    inner = ScriptedModel([(say("It takes"), end("max_tokens"))])
    whole = fold_reply(await events_of(guided(inner), due))
    assert whole.finished.stop == Stop("end_turn", "max_tokens")
    assert text_of(whole.blocks).endswith("It takes …")


async def test_a_limit_that_the_request_sets_is_told_as_such():
    inner = ScriptedModel([(say("I"), end("max_tokens"))])
    request = ReplyRequest(asked("Hello").messages, tools=BOTH, options=ReplyOptions(max_tokens=3))
    whole = fold_reply(await events_of(guided(inner), request))
    assert inner.requests[0].options.max_tokens == 3
    assert whole.finished.stop.reason == "max_tokens"


async def test_an_empty_reply_of_the_real_model_is_said_plainly(due: ReplyRequest):
    inner = ScriptedModel([(ReplyFinished(Stop("end_turn", "stop"), empty=True),)])
    whole = fold_reply(await events_of(guided(inner), due))
    assert text_of(whole.blocks).endswith(f"{ADDS}nothing.")
    assert not whole.finished.empty


async def test_a_greeting_goes_to_the_real_model_with_the_mark():
    inner = ScriptedModel([(say("Hello there."), end())])
    whole = fold_reply(await events_of(guided(inner), asked("Hello!")))
    assert text_of(whole.blocks) == f"{SAYS}Hello there."
    assert text_of(inner.requests[0].messages[0].blocks) == "Hello!"


async def test_nothing_found_is_said_with_what_was_searched_and_the_model_is_left_out():
    inner = ScriptedModel()
    request = await up_to_the_answer(guided(inner), "Where is xyzzyplugh?")
    text = text_of(fold_reply(await events_of(guided(inner), request)).blocks)
    assert "Nothing was found" in text
    assert "`xyzzyplugh`" in text
    assert inner.requests == []


async def test_a_denied_search_is_said_with_its_reason_and_the_model_is_left_out():
    inner = ScriptedModel()
    request = await up_to_the_answer(guided(inner), PROMPT, denied)
    text = text_of(fold_reply(await events_of(guided(inner), request)).blocks)
    assert "Nothing could be looked up." in text
    assert "Grep gave no answer: Denied: the rule deny Grep says so." in text
    assert inner.requests == []


async def test_places_that_may_not_be_read_are_quoted_as_the_search_told_them():
    def run(call: ToolCall) -> tuple[str, bool]:
        return denied(call) if call.name == "Read" else files(TREE)(call)

    inner = ScriptedModel(lambda _: (say("words"), end()))
    request = await up_to_the_answer(guided(inner), PROMPT, run)
    text = text_of(fold_reply(await events_of(guided(inner), request)).blocks)
    assert "domain/engine/turn.py:2\n```python\nThe turn machine: a pure step" in text
    assert "Read gave no answer" in text


async def test_a_quotation_with_a_fence_in_it_stays_inside_its_own():
    tree = {"README.md": "The widget factory:\n```sh\nmake\n```\nend\n"}
    inner = ScriptedModel(lambda _: (say("words"), end()))
    request = await up_to_the_answer(guided(inner), "widget factory", files(tree))
    text = text_of(fold_reply(await events_of(guided(inner), request)).blocks)
    assert "````markdown\nThe widget factory:\n```sh\nmake\n```\nend\n````" in text


async def test_a_failure_of_the_real_model_keeps_what_was_found(due: ReplyRequest):
    broken = ModelError(
        Failure("stream_dropped", "the server is gone", "transport"), partial=(Text("It ta"),), usage=USAGE
    )
    reply = guided(ScriptedModel([(say("It ta")[0], broken)])).reply(due)
    with pytest.raises(ModelError) as caught:
        async for _ in reply:
            pass
    assert caught.value.failure == broken.failure
    assert caught.value.usage == USAGE
    text = text_of(caught.value.partial)
    assert "The turn machine: a pure step" in text
    assert text.endswith(f"{ADDS}It ta")
    with pytest.raises(StopAsyncIteration):
        await reply.__anext__()


async def test_the_speed_of_the_real_model_is_measured_from_its_first_words(due: ReplyRequest):
    clock, asked_gate, written_gate = ManualClock(), Gate(), Gate()
    speeds: list[Speed] = []
    inner = ScriptedModel([(asked_gate, say("words", 1), written_gate, end(usage=USAGE))])
    model = GuidedModel(inner, clock=clock, report=speeds.append)
    reading = asyncio.create_task(events_of(model, due))
    await inner.asked()
    clock.advance(1.5)
    asked_gate.open()
    await written_gate.reached()
    clock.advance(2.0)
    written_gate.open()
    await reading
    assert speeds == [Speed(1.5, 2.0, 21)]
    assert speeds[0].tokens_per_s == 10.0
    assert Speed(1.0, 2.0, None).tokens_per_s is None


async def test_cancelling_closes_the_real_reply(due: ReplyRequest):
    inner = ScriptedModel([(Forever(), end())])
    reply = guided(inner).reply(due)
    assert isinstance(await anext(reply), TextDelta)
    assert isinstance(await anext(reply), BlockEnded)
    reading = asyncio.create_task(anext(reply))
    await inner.asked()
    assert inner.open == 1
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert inner.open == 0
    with pytest.raises(StopAsyncIteration):
        await reply.__anext__()


async def test_closing_closes_the_real_reply(due: ReplyRequest):
    inner = ScriptedModel([(say("one two"), Forever(), end())])
    async with guided(inner).reply(due) as reply:
        assert isinstance(await anext(reply), TextDelta)
        assert isinstance(await anext(reply), BlockEnded)
        assert await anext(reply) == TextDelta("one ")
        assert inner.open == 1
    assert inner.open == 0


async def test_nothing_is_asked_before_the_first_event_is_wanted_nor_after_closing(due: ReplyRequest):
    inner = ScriptedModel()
    reply = guided(inner).reply(due)
    async with reply:
        pass
    await reply.aclose()
    with pytest.raises(StopAsyncIteration):
        await reply.__anext__()
    assert inner.requests == []
