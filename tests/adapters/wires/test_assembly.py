"""The assembly of replies, in the parts that wires with explicit block ends use (M5, M9, M12)."""

import pytest

from norma.adapters.wires.arguments import read_arguments
from norma.adapters.wires.assembly import Assembly, LateArguments
from norma.domain.model.blocks import Opaque, Text, Thinking, ToolCall
from norma.domain.model.replies import (
    BlockEnded,
    ReplyFinished,
    Stop,
    TextDelta,
    ThinkingDelta,
    fold_reply,
)
from norma.domain.model.usage import Usage

END = Stop("end_turn", "x")


def an_assembly(**options: bool) -> Assembly:
    ids = iter("abcdefgh")
    return Assembly(new_id=lambda: next(ids), vendor="v", tool_name=str.upper, **options)


def test_thinking_keeps_its_proofs_byte_for_byte() -> None:
    made = an_assembly()
    made.thinking("step ")
    made.thinking("one")
    made.signature("SIG")
    made.signature("AB==")
    made.end_block()
    made.redacted("EnCr==")
    made.thinking("")
    made.encrypted("gAAA")
    made.finish(END)
    assert fold_reply(made.events).blocks == (
        Thinking("step one", "SIGAB==", vendor="v"),
        Thinking(redacted="EnCr==", vendor="v"),
        Thinking(encrypted="gAAA", vendor="v"),
    )


def test_a_signature_alone_makes_a_block() -> None:
    made = an_assembly()
    made.signature("s")
    made.finish(END)
    assert fold_reply(made.events).blocks == (Thinking(signature="s", vendor="v"),)


def test_citations_belong_to_the_text_they_came_with() -> None:
    made = an_assembly()
    made.citation({"url": "1"})
    made.text("cited")
    made.end_block()
    made.text("not cited")
    made.finish(END)
    assert fold_reply(made.events).blocks == (Text("cited", ({"url": "1"},)), Text("not cited"))


def test_a_vendors_own_block_keeps_its_place() -> None:
    made = an_assembly()
    made.text("a")
    made.opaque({"type": "server_tool_use"})
    made.text("b")
    made.finish(END)
    blocks = fold_reply(made.events).blocks
    assert blocks == (Text("a"), Opaque("v", {"type": "server_tool_use"}), Text("b"))


def test_E3_a_call_is_told_at_its_end_but_never_before_an_earlier_one() -> None:
    made = an_assembly()
    made.open_call(1, "i1", "f")
    made.open_call(2, "i2", "g")
    made.arguments(2, '{"b": 2}')
    made.end_call(2)
    assert not made.events
    made.arguments(1, '{"a": 1}')
    made.end_call(1)
    assert list(made.events) == [
        BlockEnded(ToolCall("i1", "F", {"a": 1})),
        BlockEnded(ToolCall("i2", "G", {"b": 2})),
    ]
    made.arguments(1, "  ")
    with pytest.raises(LateArguments, match="'f'"):
        made.arguments(1, "more")


def test_text_after_an_open_call_is_told_at_once_and_ends_after_it() -> None:
    made = an_assembly()
    made.open_call(1, "i", "f")
    made.text("meanwhile")
    assert list(made.events) == [TextDelta("meanwhile")]
    made.finish(END)
    blocks = fold_reply(made.events).blocks
    assert blocks == (ToolCall("i", "F", {}), Text("meanwhile"))


def test_deltas_come_before_the_end_of_their_block() -> None:
    made = an_assembly()
    made.thinking("t\ud83d")
    made.text("x")
    assert list(made.events) == [
        ThinkingDelta("t"),
        ThinkingDelta("\ufffd"),
        BlockEnded(Thinking("t\ufffd", vendor="v")),
        TextDelta("x"),
    ]


def test_a_whole_value_beats_the_pieces() -> None:
    made = an_assembly()
    made.open_call(1, "i", "f")
    made.arguments(1, '{"cut')
    made.set_arguments(1, '{"whole": 1}')
    made.finish(END)
    assert fold_reply(made.events).blocks == (ToolCall("i", "F", {"whole": 1}),)


def test_M9_partial_keeps_whole_calls_and_leaves_out_a_cut_one() -> None:
    made = an_assembly()
    made.thinking("hm")
    made.text("half")
    made.open_call(1, "i1", "f")
    made.end_call(1)
    made.open_call(2, "i2", "g")
    made.arguments(2, '{"a":1}')
    made.add_usage(Usage(5))
    assert made.partial() == (Thinking("hm", vendor="v"), Text("half"), ToolCall("i1", "F", {}))
    assert made.partial_usage() == Usage(5, provenance="partial")


@pytest.mark.parametrize(("reason", "empty"), [("end_turn", True), ("max_tokens", False), ("refusal", False)])
def test_empty_is_a_normal_stop_without_any_content(reason: str, empty: bool) -> None:
    made = an_assembly()
    made.text("")
    made.thinking("")
    made.finish(Stop(reason))  # type: ignore[arg-type]  # one of the table's
    (finished,) = made.events
    assert isinstance(finished, ReplyFinished)
    assert finished.empty is empty


def test_M12_arguments_are_joined_and_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def read_and_count(raw: str) -> object:
        parsed.append(raw)
        return read_arguments(raw)

    monkeypatch.setattr("norma.adapters.wires.slots.read_arguments", read_and_count)
    made = an_assembly(calls_overlap=True)
    made.open_call(1, "i", "f")
    for piece in ('{"a": "', *("x" * 1000), '"}'):
        made.arguments(1, piece)
    made.finish(END)
    assert len(parsed) == 1
