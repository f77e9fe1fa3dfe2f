"""
A journal of format 1, which must load for ever with the meaning that it had.

tests/fixtures/journal/format1.jsonl holds an entry a line and is never edited: a newer form gets a
file of its own.
"""

import hashlib
import json
from typing import Any

from norma.domain.model import from_json, to_json
from norma.domain.model.actions import ANY_EFFECT, Action, Effects, HostUse, PathUse, Traits
from norma.domain.model.blocks import Audio, Document, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from norma.domain.model.facts import (
    Answered,
    CallOffered,
    Deferred,
    Fact,
    Interrupted,
    Judged,
    LimitReached,
    Limits,
    Prompted,
    ReplyCut,
    ReplyEnded,
    Resumed,
    SessionOpened,
    Steered,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from norma.domain.model.failures import Failure, ProviderWords
from norma.domain.model.questions import Answer, Question
from norma.domain.model.replies import Stop
from norma.domain.model.tags import tag_of
from norma.domain.model.usage import Usage
from tests.rigs.fixtures import OURS

FILE = OURS / "journal" / "format1.jsonl"
FACT: Any = Fact
UNKNOWN = Usage(None, None, None, None, None, "unknown")
SILENT = ProviderWords(None, None, None, None)


def question(number: int, key: str, action: Action) -> Question:
    return Question(f"q{number}", key, action, "c" * 64, "d" * 64, "No rule covers it.")


def call(id_: str, name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id_, name, arguments, False, None, None, None)


def words(text: str) -> Text:
    return Text(text, ())


WRITING = Action(
    "Write",
    Effects(reads=True, writes=True, network=False, processes=False),
    "write 3 bytes to /project/a.txt",
    "Edit(/project/a.txt)",
    (PathUse("/project/a.txt", "write", "/project"),),
    (),
    None,
)
COUNTING = Action("Bash", ANY_EFFECT, "ls | wc -l", "Bash(ls | wc -l)", (), (), "ls | wc -l")
FETCHING = Action(
    "WebFetch",
    Effects(reads=False, writes=False, network=True, processes=False),
    "https://example.com/",
    "WebFetch(domain:example.com)",
    (),
    (HostUse("example.com", "https://example.com/"),),
    None,
)

# Defaults are spelled out: a field that was left out then means this, whatever its default is now.
ENTRIES: list[list[Any]] = [
    [
        SessionOpened("2025-01-31T12:00:00.000Z", "/project"),
        Prompted(
            (
                words("Write a.txt"),
                Image("image/png", "aGk=", None, "a.png"),
                Audio("audio/wav", None, "https://example.com/a.wav", None),
                Document("application/pdf", "aGk=", None, "a.pdf"),
            ),
            Limits(10, 60.5),
        ),
    ],
    [
        CallOffered(
            (
                Thinking("Hm.", "sig", "enc", None, "anthropic"),
                Thinking("", None, None, "xx", "anthropic"),
                Text("I will.", ({"url": "https://example.com/"},)),
                Opaque("anthropic", {"type": "server_tool_use"}),
                call("toolu_1", "Write", path="a.txt", content="\u00e9\n", n=2**70),
            )
        ),
        Judged(
            "1.0", "ask", "No rule covers it.", None, Traits(False, False), question(1, "1.0", WRITING), None
        ),
    ],
    [
        CallOffered((ToolCall("c2", "Bash", {}, True, '{"command', "openai", {"k": 1}),)),
        Judged("1.1", "deny", "Not run: the arguments were no JSON object.", None, None, None, None),
    ],
    [
        CallOffered((call("c3", "Read", path="b"),)),
        Judged(
            "1.2",
            "allow",
            "It only reads, inside the workspace.",
            "Read(b)",
            Traits(True, True),
            None,
            {"path": "b", "limit": 1},
        ),
        ToolStarted("1.2", "c3", "Read"),
    ],
    [Steered((words("Be quick."),))],
    [
        ToolEnded(
            "1.2",
            "c3",
            "Read",
            (words("b"), Image("image/png", "aGk=", None, None), Opaque("mcp", {"a": [1, None, True, 1.5]})),
            False,
        )
    ],
    [Deferred("q1")],
    [Resumed()],
    [Answered("q1", Answer("session", None)), ToolStarted("1.0", "toolu_1", "Write")],
    [ToolEnded("1.0", "toolu_1", "Write", (words("no space"),), True)],
    [ReplyEnded((words("Done."),), Stop("tool_use", "tool_use"), Usage(120, 100, 20, 30, 12, "reported"))],
    [
        ReplyCut(
            (words("Par"),),
            Failure(
                "overloaded",
                "The provider is overloaded.",
                "http",
                529,
                ProviderWords("overloaded_error", "529", "Overloaded", "req_1"),
                1.5,
            ),
            Usage(5, None, None, None, None, "partial"),
        )
    ],
    [
        TurnEnded(
            "model_failed",
            "s-1",
            "Par",
            Usage(125, 100, 20, 30, 12, "partial"),
            2,
            Failure("overloaded", "The provider is overloaded.", "http", 529, SILENT, None),
        )
    ],
    [Prompted((words("Again"),), Limits(50, None))],
    [
        CallOffered((call("c4", "Bash", command="ls | wc -l"),)),
        Judged(
            "2.0",
            "ask",
            "No rule covers it.",
            "Bash",
            Traits(False, False),
            question(2, "2.0", COUNTING),
            None,
        ),
    ],
    [
        CallOffered((call("c5", "WebFetch", url="https://example.com/"),)),
        Judged("2.1", "ask", "x", None, Traits(True, False), question(3, "2.1", FETCHING), None),
    ],
    [Answered("q2", Answer("deny", "not now")), Answered("q3", Answer("stop", None))],
    [Interrupted(), ReplyCut((), None, UNKNOWN)],
    [TurnEnded("interrupted", "s-1", "", UNKNOWN, 1, None)],
    [
        Prompted((ToolResult("c9", (words("x"),), True),), Limits(50, None)),
        LimitReached("timeout"),
        TurnEnded("timeout", "s-1", "", Usage(0, None, None, None, None, "reported"), 0, None),
    ],
]


def loaded() -> list[list[Any]]:
    lines = FILE.read_text("utf-8").splitlines()
    return [[from_json(fact, FACT) for fact in json.loads(line)] for line in lines]


def test_S2_a_journal_of_format_1_loads_with_the_meaning_that_it_had() -> None:
    assert loaded() == ENTRIES


def test_S2_it_can_be_written_again_and_read_again() -> None:
    assert [[from_json(to_json(fact), FACT) for fact in entry] for entry in loaded()] == ENTRIES


def test_S2_the_file_has_each_fact_and_block_of_its_time_and_was_never_edited() -> None:
    text = FILE.read_bytes()
    assert (
        hashlib.sha256(text).hexdigest() == "aa49c00112154479b774207799c2a3406210e86e260866b2b95da350610d51f5"
    )
    facts = {tag_of(type(fact)) for entry in loaded() for fact in entry}
    assert facts == {
        "session_opened",
        "prompted",
        "steered",
        "call_offered",
        "reply_ended",
        "reply_cut",
        "judged",
        "answered",
        "deferred",
        "tool_started",
        "tool_ended",
        "interrupted",
        "limit_reached",
        "resumed",
        "turn_ended",
    }
    for block in ("text", "thinking", "tool_call", "tool_result", "image", "audio", "document", "opaque"):
        assert f'{{"type":"{block}"'.encode() in text
