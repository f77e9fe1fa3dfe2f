"""A conversation that goes on is sent as a new one is: what was kept of it changes nothing but the cost."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.openai_chat.messages import MessageEncoder
from norma.adapters.wires.history import Memory
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.profiles import profile_for
from norma.domain.model.blocks import Image, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment, ToolSpec
from tests.adapters.wires.codecs import CODECS, codec

IDS = st.sampled_from(["a", "b", "a b", "", "c" * 70])
NAMES = st.sampled_from(["f", "g", "f.x", "f_x"])
WORDS = st.sampled_from(["w", " ", "", "end "])
SAID = st.one_of(
    st.builds(Text, WORDS, st.sampled_from([(), ({"type": "char_location"},)])),
    st.builds(Thinking, WORDS, vendor=st.sampled_from(["anthropic", "h.test", None])),
)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[Message, ...]:
    """What a turn adds: an answer, the results of its calls, now and then a word of the user's."""
    calls = draw(st.lists(st.builds(ToolCall, IDS, NAMES), max_size=3, unique_by=lambda call: call.id))
    blocks = (*draw(st.lists(SAID, max_size=2)), *calls)
    added = [Message("assistant", blocks)] if blocks else []
    if calls:
        inside = (Text("r"), Image("image/png", "AA=="))
        added.append(
            Message("tool", tuple(ToolResult(call.id, inside, draw(st.booleans())) for call in calls))
        )
    if not calls or draw(st.booleans()):
        added.append(Message("user", (Text(draw(WORDS)),)))
    return tuple(added)


def asking(
    messages: tuple[Message, ...], tools: tuple[str, ...] = (), *, cache: bool = False
) -> ReplyRequest:
    specs = tuple(ToolSpec(name, "does", {"type": "object", "properties": {}}) for name in tools)
    system = (SystemSegment("s", cache),) if cache else ()
    return ReplyRequest(messages, system, specs, ReplyOptions())


def same(wire: str, known: Any, request: ReplyRequest) -> None:
    fresh, again = codec(wire).encode(request), known.encode(request)
    assert (fresh.body, fresh.losses) == (again.body, again.losses)


@pytest.mark.parametrize("wire", CODECS)
@given(data=st.data())
def test_a_conversation_that_goes_on_is_sent_as_a_new_one(wire: str, data: st.DataObject) -> None:
    known = codec(wire)
    history: tuple[Message, ...] = (Message("user", (Text("q"),)),)
    for added in data.draw(st.lists(rounds(), min_size=1, max_size=6)):
        tools = data.draw(st.sampled_from([(), ("f",), ("f.x",), ("f_x", "f.x")]))
        same(wire, known, asking(history, tools, cache=data.draw(st.booleans())))
        history += added
    same(wire, known, asking(history))


@pytest.mark.parametrize("wire", CODECS)
@given(data=st.data())
def test_another_beginning_is_noticed(wire: str, data: st.DataObject) -> None:
    """A message in the middle is replaced, left out or doubled, and its end is the one that was sent."""
    known = codec(wire)
    turns = data.draw(st.lists(rounds(), min_size=2, max_size=4))
    history = (Message("user", (Text("q"),)), *(message for added in turns for message in added))
    known.encode(asking(history))
    at = data.draw(st.integers(0, len(history) - 2))
    other = data.draw(st.sampled_from([(), (history[at], history[at]), (Message("user", (Text("other"),)),)]))
    changed = history[:at] + other + history[at + 1 :]
    same(wire, known, asking(changed))
    same(wire, known, asking(history))
    same(wire, known, asking((*changed, *data.draw(rounds()))))


ODD = st.sampled_from(
    [
        Message("tool", (ToolResult("a", (Text("late"),)),)),
        Message("tool", (ToolResult("b", (Text("late"),)),)),
        Message("user", (Text("one more"),)),
        Message("assistant", (ToolCall("b", "f"),)),
        Message("assistant", (Text("w"),)),
    ]
)
"""What an honest engine would not add just so: it makes the pairs wrong, or a role come twice."""


@pytest.mark.parametrize("wire", CODECS)
@given(data=st.data())
def test_M16_what_has_to_be_mended_is_mended_from_the_beginning(wire: str, data: st.DataObject) -> None:
    known = codec(wire)
    call = Message("assistant", (ToolCall("a", "f"),))
    result = Message("tool", (ToolResult("a", (Text("r"),)),))
    history: tuple[Message, ...] = (Message("user", (Text("q"),)), call, result)
    for odd in data.draw(st.lists(ODD, max_size=4)):
        same(wire, known, asking(history))
        history += (odd,)
    same(wire, known, asking(history))


@pytest.mark.parametrize("wire", CODECS)
@given(data=st.data())
def test_two_ways_to_go_on_do_not_meet(wire: str, data: st.DataObject) -> None:
    known = codec(wire)
    begun = (Message("user", (Text("q"),)), *data.draw(rounds()))
    ways = [(*begun, *data.draw(rounds()), *data.draw(rounds())) for _ in range(2)]
    known.encode(asking(begun))
    for way in (*ways, *ways, begun):
        same(wire, known, asking(way))


def conversation(turns: int) -> Iterator[tuple[Message, ...]]:
    """The history before each model call of a conversation with a call a turn."""
    history: tuple[Message, ...] = (Message("user", (Text("q"),)),)
    for turn in range(turns):
        yield history
        call = ToolCall(f"call_{turn}", "f", {"n": turn})
        results = (ToolResult(call.id, (Text("done"),)),)
        history = (*history, Message("assistant", (Text("next"), call)), Message("tool", results))


def test_only_what_is_new_is_made_anew() -> None:
    """A turn of a long conversation asks for the messages that it brings, and for no other."""
    asked = 0

    class Counting(MessageEncoder):
        def _message(self, message: Message) -> list[dict[str, Any]]:
            nonlocal asked
            asked += 1
            return super()._message(message)

    memory, profile = Memory(), profile_for("compatible")
    for history in conversation(60):
        names = WireNames(["f"])
        Counting(profile, names, vendor="v", replay="never", memory=memory).encode(history)
    assert asked == 1 + 2 * 59
    assert len(memory.histories) == 1  # not one for each turn


def test_what_is_kept_goes_with_the_conversation() -> None:
    memory, profile = Memory(), profile_for("compatible")
    for history in conversation(5):
        MessageEncoder(profile, WireNames(["f"]), vendor="v", replay="never", memory=memory).encode(history)
    del history
    gc.collect()
    assert (len(memory.messages), len(memory.histories)) == (0, 0)
