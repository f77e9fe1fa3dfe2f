"""The stored form of an entry."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.journal.stored import Unstorable, read_entry, write_entry
from norma.domain.model.blocks import Text, ToolCall
from norma.domain.model.facts import CallOffered, Steered, ToolEnded

# Both halves of a pair beside each other are the same text as the whole character, so one half only.
texts = st.text(st.characters() | st.sampled_from(["\ud83d", "\0", "\u2028", "😀"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(texts, values, max_size=4), texts)
def test_S2_arguments_come_back_exactly(arguments: dict[str, Any], words: str) -> None:
    facts = (
        CallOffered((Text(words), ToolCall("c", "T", arguments))),
        ToolEnded("0.0", "c", "T", (Text(words),)),
    )
    text = write_entry(facts)
    text.encode()
    # NaN is not equal to itself, but it looks the same.
    assert repr(read_entry(text)) == repr(facts)


def test_S2_integers_beyond_64_bits_and_half_pairs_stay_what_they_are() -> None:
    arguments = {"big": 2**64 + 1, "low": -(2**63) - 1, "half": "a\ud800", "nan": math.nan, "inf": -math.inf}
    (fact,) = read_entry(write_entry([CallOffered((ToolCall("c", "T", arguments),))]))
    assert isinstance(fact, CallOffered)
    assert repr(fact.blocks[0]) == repr(ToolCall("c", "T", arguments))


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(Unstorable, match="object has no JSON form"):
        write_entry([CallOffered((ToolCall("c", "T", {"x": object()}),))])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"type":"steered","blocks":[', "Expecting value"),
        ("{}", "expected a list"),
        ('[{"type":"tomorrow"}]', "unknown"),
        ('[{"type":"steered","blocks":[],"more":1}]', "unknown key 'more'"),
        ('[{"type":"text","text":"a block is no fact"}]', "unknown"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_S2_what_is_no_entry_says_why(text: str, why: str) -> None:
    with pytest.raises(Unstorable, match=why):
        read_entry(text)


def test_an_entry_is_plain_text_for_other_readers() -> None:
    assert (
        write_entry([Steered((Text("grüß"),))])
        == '[{"type":"steered","blocks":[{"type":"text","text":"grüß"}]}]'
    )
