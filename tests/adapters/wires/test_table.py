"""M14: one table says what becomes of each kind of block on each wire, and the codecs do what it says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.wires.losses import TABLE
from norma.adapters.wires.profiles import PROFILES
from norma.domain.model.blocks import Opaque, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.messages import Message, Role
from tests.adapters.wires.codecs import CODECS, asking, codec, result, said, user
from tests.adapters.wires.histories import BLOCKS, HISTORY
from tests.rigs.model_fixtures import anthropic_pairs, chat_pairs, responses_pairs, strict_json

NAMES = st.sampled_from([profile.name for profile in PROFILES])
PAIRS = {"anthropic": anthropic_pairs, "openai-chat": chat_pairs, "openai-responses": responses_pairs}


def test_M14_every_wire_has_a_row_for_every_kind_of_block() -> None:
    assert TABLE.keys() == CODECS.keys()
    for rows in TABLE.values():
        assert rows.keys() == BLOCKS.keys()
        assert all(row.fates and row.why for row in rows.values())


@pytest.mark.parametrize("wire", CODECS)
@given(HISTORY, NAMES, st.sampled_from([None, True, False]))
def test_M14_every_loss_is_one_that_the_table_knows(
    wire: str, history: list[Message], profile: str, replay: bool | None
) -> None:
    encoded = codec(wire, profile).encode(asking(*history, reasoning_replay=replay))
    body = strict_json(encoded.body)
    PAIRS[wire](body, "")
    for loss in encoded.losses:
        assert loss.fate in TABLE[wire][loss.what].fates, loss
        assert loss.where is not None


@pytest.mark.parametrize("wire", CODECS)
@pytest.mark.parametrize("kind", BLOCKS)
@given(st.data())
def test_M14_a_block_without_a_loss_is_kept_and_the_table_says_so(
    wire: str, kind: str, data: st.DataObject
) -> None:
    block = data.draw(BLOCKS[kind])
    role: Role = "assistant" if kind in ("thinking", "tool_call", "opaque") else "user"
    history = [said(role, block)]
    if kind == "tool_result":
        history = [said("assistant", ToolCall(block.id, "f")), said("tool", block)]
    profile = data.draw(NAMES)
    encoded = codec(wire, profile).encode(asking(*history, user("and?")))
    losses = [loss for loss in encoded.losses if loss.what == kind]
    fates = TABLE[wire][kind].fates
    # On the chat wire thinking that goes back is never the whole of it; elsewhere no loss means kept.
    assert losses or "kept" in fates or (wire, kind) == ("openai-chat", "thinking")


@pytest.mark.parametrize("wire", CODECS)
@given(HISTORY, st.integers(0, 7))
def test_a_history_is_sent_the_same_whether_it_is_known_or_new(
    wire: str, history: list[Message], cut: int
) -> None:
    known = codec(wire, "openai")
    known.encode(asking(*history[:cut]))
    known.encode(asking(*history[cut:]))
    for request in (asking(*history), asking(*history)):
        fresh, again = codec(wire, "openai").encode(request), known.encode(request)
        assert (fresh.body, fresh.losses) == (again.body, again.losses)


OWN = {
    "anthropic": ("anthropic", [Thinking("hm", "SIG", vendor="anthropic")]),
    "openai-chat": ("deepseek", [Thinking("hm", vendor="deepseek")]),
    "openai-responses": ("openai", [Thinking("hm", encrypted="ENC", vendor="openai")]),
}


def test_M14_a_session_moves_over_all_three_wires_and_back() -> None:
    """Each wire's own proofs survive the others, which leave them out, and go back to their maker."""
    rounds = []
    for at, (vendor, thoughts) in enumerate(OWN.values()):
        call = ToolCall(f"call:{at}", "look.up", {"n": 2**63 + at})
        payload = {"type": "server_tool_use", "id": "s", "name": "n", "input": {}}
        rounds += [user(f"q{at}"), said("assistant", *thoughts, Text(f"t{at}"), call)]
        rounds += [
            said("tool", result(f"call:{at}", f"r{at}")),
            said("assistant", Opaque(vendor, payload), "so"),
        ]
    history = (*rounds, user("go on"))
    for wire, (profile, _) in OWN.items():
        model = "gpt-5" if profile == "openai" else "m"
        encoded = codec(wire, profile, model).encode(asking(*history))
        body = json.dumps(strict_json(encoded.body))
        PAIRS[wire](json.loads(body), "")
        for at in range(3):
            for word in (f"q{at}", f"t{at}", f"r{at}", str(2**63 + at)):
                assert word in body, (wire, word)
        proofs = {"anthropic": "SIG", "openai-responses": "ENC", "openai-chat": "hm"}
        assert proofs[wire] in body
        assert not any(proof in body for other, proof in proofs.items() if other != wire and proof != "hm")
        lost = [loss for loss in encoded.losses if loss.what == "thinking" and loss.fate == "dropped"]
        assert len(lost) == 2, "the thinking of the two others"


def test_M14_a_result_is_a_loss_nowhere_unless_it_is_said() -> None:
    turn = (
        user("a"),
        said("assistant", ToolCall("1", "f")),
        said("tool", ToolResult("1", (Text("x"),), is_error=True)),
    )
    told = {wire: [loss.what for loss in codec(wire).encode(asking(*turn)).losses] for wire in CODECS}
    assert told == {"anthropic": [], "openai-chat": ["tool_result"], "openai-responses": ["tool_result"]}
