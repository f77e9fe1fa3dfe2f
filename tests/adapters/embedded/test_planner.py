"""The guided model's plan: what is looked for, what is read, and when it is time to answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.embedded.planner import Report, Talk, UseTools, next_step
from norma.adapters.embedded.terms import terms_of
from norma.domain.model.blocks import Text, ToolCall, ToolResult
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest
from tests.adapters.embedded.conversations import BOTH, GREP, READ, Runs, answered, asked, files, to_the_end

TURN = '''"""
The turn machine: a pure step from one state to the next.

It decides; the driver waits.
"""

def step(state, fact):
    return state, ()
'''
TREE = {
    "domain/engine/turn.py": TURN,
    "docs/notes.md": "# Notes\n\nSee the turn machine.\n",
    "tests/fixtures/turn_machine.json": '{"turn_machine": 1, "turn_machine_2": 2}\n',
    "poetry.lock": 'name = "turn-machine"\n',
    "domain/engine/driver.py": '"""The driver does what the machine decided."""\n\nclass Driver:\n    pass\n',
}


@pytest.mark.parametrize(
    ("prompt", "patterns"),
    [
        ("Where is the turn machine defined and what does it do?", ["turn.?machine"]),
        ("turn machines?", ["turn.?machine"]),
        ("How does retry work?", ["retry"]),
        ("How do retries work?", ["retr(?:y|ies)"]),
        ("Who calls CurrentPolicy.hides()?", [r"\bCurrentPolicy\.hides\b"]),
        ("what is `a b+`", [r"a\s+b\+"]),
        ('find "effect at most once"', [r"effect\s+at\s+most\s+once"]),
        ("explain ports/clock.py", [r"clock\.py"]),
        ("What does rule M12 say?", [r"\bM12\b", "rule"]),
        ("what about the embedded default model", ["embedded.?default", "default.?model"]),
        ("what's the limiter for?", ["limiter"]),
        ("don't explain __init__, please", [r"\b__init__\b"]),
        ("see https://example.com/some/page?x=1", []),
        ("Hello!", []),
        ("Thanks", []),
        ("What can you do?", []),
        ("Is it 12?", []),
        ("", []),
    ],
)
def test_the_terms_of_a_prompt(prompt: str, patterns: list[str]):
    assert [term.pattern for term in terms_of(prompt)] == patterns


def test_the_first_step_searches_for_the_strong_terms_without_regard_to_case():
    step = next_step(asked("Where is the turn machine defined?"))
    assert isinstance(step, UseTools)
    assert "turn machine" in step.words
    [call] = step.calls
    assert (call.name, call.arguments["pattern"]) == ("Grep", "turn.?machine")
    assert call.arguments["output_mode"] == "content"
    assert call.arguments["-i"] is True


def test_a_file_that_is_named_is_read_at_once():
    step = next_step(asked("explain ports/clock.py"))
    assert isinstance(step, UseTools)
    assert [(call.name, call.arguments.get("file_path")) for call in step.calls] == [
        ("Read", "ports/clock.py"),
        ("Grep", None),
    ]


def test_search_read_report():
    rounds, end = to_the_end(asked("Where is the turn machine defined?"), files(TREE))
    assert [[call.name for call in calls] for calls in rounds] == [["Grep"], ["Read", "Read"]]
    assert isinstance(end, Report)
    assert [place.path for place in end.places] == ["domain/engine/turn.py", "docs/notes.md"]
    assert end.total == 4
    assert end.files == 4


def test_source_and_prose_go_before_fixtures_and_lock_files():
    _, end = to_the_end(asked("turn machine"), files(TREE))
    assert isinstance(end, Report)
    assert end.places[0].path == "domain/engine/turn.py"
    assert not {"poetry.lock", "tests/fixtures/turn_machine.json"} & {place.path for place in end.places}


def test_a_definition_goes_before_a_mention():
    tree = {"a.py": "x = Limiter()  # Limiter\n" * 9, "b.py": "import os\n\n\n\n\nclass Limiter:\n    pass\n"}
    _, end = to_the_end(asked("where is `Limiter`?"), files(tree))
    assert isinstance(end, Report)
    assert (end.places[0].path, end.places[0].line) == ("b.py", 6)


def test_a_place_with_both_words_goes_before_places_with_one():
    filler = "\n" * 20
    tree = {
        "a.py": f"{filler}apple\n{filler}banana\n",
        "b.py": f"{filler}apple and\nbanana\n",
        "c.py": f"{filler}banana\n",
    }
    _, end = to_the_end(asked("apple, banana"), files(tree))
    assert isinstance(end, Report)
    assert (end.places[0].path, end.places[0].line) == ("b.py", 21)


def test_a_phrase_that_is_nowhere_is_looked_for_word_by_word():
    rounds, end = to_the_end(asked("the pure driver"), files(TREE))
    assert [call.arguments.get("pattern") for call in rounds[0]] == ["pure.?driver"]
    assert [call.arguments.get("pattern") for call in rounds[1]] == ["pure|driver"]
    assert isinstance(end, Report)
    assert end.searched == ("pure driver", "pure", "driver")
    assert end.places


def test_nothing_found_ends_with_what_was_searched():
    rounds, end = to_the_end(asked("where is xyzzyplugh?"), files(TREE))
    assert len(rounds) == 1
    assert isinstance(end, Report)
    assert end.places == ()
    assert end.searched == ("xyzzyplugh",)


def test_a_search_that_was_cut_short_is_known_as_such():
    def run(call: ToolCall) -> tuple[str, bool]:
        text, error = files(TREE)(call)
        return f"{text}\n[12 more; continue with offset=4]", error

    _, end = to_the_end(asked("turn machine"), run)
    assert isinstance(end, Report)
    assert end.cut


def denied(call: ToolCall) -> tuple[str, bool]:
    return "Denied: the rule deny Grep says so.", True


def test_a_denied_search_is_not_tried_again_in_other_words():
    rounds, end = to_the_end(asked("the pure driver"), denied)
    assert len(rounds) == 1
    assert isinstance(end, Report)
    assert [done.call.name for done in end.failed] == ["Grep"]


def test_denied_reading_still_ends_in_a_report_of_the_places():
    def run(call: ToolCall) -> tuple[str, bool]:
        return denied(call) if call.name == "Read" else files(TREE)(call)

    _, end = to_the_end(asked("turn machine"), run)
    assert isinstance(end, Report)
    assert end.places
    assert end.reads == ()
    assert len(end.failed) == 2


def test_only_tools_that_are_offered_are_used():
    rounds, end = to_the_end(asked("turn machine", (GREP,)), files(TREE))
    assert [[call.name for call in calls] for calls in rounds] == [["Grep"]]
    assert isinstance(end, Report)
    assert end.places
    rounds, end = to_the_end(asked("explain docs/notes.md", (READ,)), files(TREE))
    assert [[call.name for call in calls] for calls in rounds] == [["Read"]]
    assert isinstance(next_step(asked("turn machine", ())), Talk)
    assert isinstance(next_step(asked("turn machine", (READ,))), Talk)


def test_a_greeting_needs_no_tool():
    assert next_step(asked("Hello!")) == Talk("Hello!")


def test_a_conversation_starts_anew_with_each_prompt():
    first, _ = to_the_end(asked("turn machine"), files(TREE))
    request = asked("turn machine")
    for calls in first:
        request = answered(request, calls, files(TREE))
    spoken = (*request.messages, Message("assistant", (Text("Here it is."),)))
    second, end = to_the_end(asked("the driver", before=spoken), files(TREE))
    assert isinstance(end, Report)
    assert end.searched == ("driver",)
    ids = [call.id for calls in (*first, *second) for call in calls]
    assert len(set(ids)) == len(ids)


def test_call_ids_stay_distinct_when_the_beginning_was_compacted_away():
    rest = (
        Message("assistant", (ToolCall("guided_7", "Grep", {}),)),
        Message("tool", (ToolResult("guided_7"),)),
    )
    step = next_step(asked("turn machine", before=rest))
    assert isinstance(step, UseTools)
    assert [call.id for call in step.calls] == ["guided_8"]


words = st.sampled_from(
    ["turn", "machine", "driver", "`step`", "Notes", "docs/notes.md", "T7", "?", "hello", "the"]
)


@given(st.lists(words, max_size=8).map(" ".join), st.sampled_from([(), (GREP,), (READ,), BOTH]))
def test_the_plan_always_ends_and_is_the_same_each_time(prompt: str, tools: tuple[object, ...]):
    request = ReplyRequest(asked(prompt).messages, tools=tuple(tool for tool in BOTH if tool in tools))
    runs: list[Runs] = [
        files(TREE),
        denied,
        lambda _: ("", False),
        lambda _: ("a:b:c\n[7 more]\n:::\n9", False),
    ]
    for run in runs:
        assert to_the_end(request, run) == to_the_end(request, run)


@given(st.text())
def test_any_prompt_has_terms_that_are_valid_patterns(prompt: str):
    import re

    for term in terms_of(prompt):
        re.compile(term.pattern)
