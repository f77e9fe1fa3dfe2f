"""T5: before a file is changed a person sees what will be written, and is asked again if that changes."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.journal import MemoryJournal
from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.adapters.schemas.checks import SchemaChecks
from norma.domain.engine.engine import Engine
from norma.domain.model.questions import Answer
from norma.domain.tools.asking import MOST_SHOWN
from norma.ports.errors import ToolFailed
from norma.ports.tool import ToolRun
from tests.domain.engine.hosts import ask, outcome, results
from tests.domain.tools.calling import Host

SECRET = "canary"
NUMBERED = "".join(f"line {number}\n" for number in range(1, 1001))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f"


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"file_path": "f", "old_string": old, "new_string": new, **more}


def edits(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"file_path": "f", "edits": [{"old_string": old, "new_string": new} for old, new in pairs]}


def write(content: str) -> dict[str, Any]:
    return {"file_path": "f", "content": content}


def seen(host: Host, name: str, arguments: Mapping[str, Any]) -> str:
    """What the question shows below the path."""
    path, _, rest = host.examine(name, arguments).shows.partition("\n")
    assert path == f"{host.workspace.roots[0]}/f"
    return rest


def after(shown: str, before: str) -> str:
    """*before* with each hunk of *shown* made in the one place where its old lines are."""
    head, *hunks = re.split(r"^@@ @@\n", shown, flags=re.MULTILINE)
    assert head.endswith("--- f\n+++ f\n")
    for hunk in hunks:
        rows = re.findall(
            r"^([ +-])(.*)\n(\\ No newline at end of file\n)?", hunk.rstrip("\n") + "\n", re.MULTILINE
        )
        lines = [(mark, text + ("" if bare else "\n")) for mark, text, bare in rows]
        old = "".join(text for mark, text in lines if mark != "+")
        assert before.count(old) == 1 or not before
        before = before.replace(old, "".join(text for mark, text in lines if mark != "-"), 1)
    return before


# What is shown is what is written


async def test_T5_an_edit_is_shown_as_a_diff_against_the_file(file, host):
    file.write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    assert seen(host, "Edit", edit("five", "5")) == (
        "--- f\n+++ f\n@@ @@\n two\n three\n four\n-five\n+5\n six"
    )


async def test_T5_a_write_over_a_text_is_shown_as_a_diff(file, host):
    file.write_text("one\ntwo\n")
    assert seen(host, "Write", write("one\n2")) == (
        "--- f\n+++ f\n@@ @@\n one\n-two\n+2\n\\ No newline at end of file"
    )


FORMS = {
    "plain": lambda text: text.encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "utf-16": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16, crlf": lambda text: b"\xfe\xff" + text.replace("\n", "\r\n").encode("utf-16-be"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", edit("line 500\n", "new\nand é\n")),
        ("MultiEdit", edits(("line 500", "new"), ("new\n", ""), ("line 501\nline 502", "é"))),
        ("Edit", edit("line 9", "row 9", replace_all=True)),
        ("MultiEdit", edits(("line 7\n", ""), ("line 500", "new"), ("new", "é"), ("line 1000\n", "end"))),
        ("Write", write(NUMBERED.replace("line 500\n", "new\n").replace("line 3\n", ""))),
        ("Write", write(NUMBERED.replace("line 500\n", "é\n").replace("\n", "\r\n"))),
    ],
)
async def test_T5_what_is_shown_is_what_is_written(file, host, form, name, arguments):
    make = FORMS[form]
    file.write_bytes(make(NUMBERED))
    shown = seen(host, name, arguments)
    await host.run(name, arguments)
    kept = shown.replace("\r", "") if "crlf" in form else shown
    assert kept == shown, "line ends that are kept are no change"
    assert file.read_bytes() == make(after(shown, NUMBERED))


async def test_T5_line_ends_of_the_call_are_shown_as_they_will_be(file, host):
    file.write_bytes(FORMS["crlf"](NUMBERED))
    shown = seen(host, "Edit", edit("line 500\r\n", "new\r\n"))
    assert shown == seen(host, "Edit", edit("line 500\n", "new\n"))
    await host.run("Edit", edit("line 500\r\n", "new\r\n"))
    assert file.read_bytes() == FORMS["crlf"](after(shown, NUMBERED))


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "é\n", "\n", "last"]), max_size=12).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXTS, TEXTS)
async def test_T5_the_diff_of_the_question_is_that_of_the_event(file, host, before, content):
    file.write_text(before)
    shown = seen(host, "Write", write(content))
    host.progress.clear()
    await host.run("Write", write(content), session=f"{before}|{content}")
    assert file.read_text() == content
    (told,) = host.progress
    assert re.sub(r"(?m)^@@ .* @@$", "@@ @@", told) == shown


async def test_T5_a_text_that_loses_its_encoding_says_so(file, host):
    file.write_bytes(b"caf\xe9\r\n")
    shown = seen(host, "Write", write("caf\u00e9 \u2192\n"))
    assert shown == (
        "(now in UTF-8: the file is in Latin-1, which has no '\u2192')\n"
        "--- f\n+++ f\n@@ @@\n-caf\u00e9\r\n+caf\u00e9 \u2192"
    )
    await host.run("Write", write("caf\u00e9 \u2192\n"))
    assert file.read_bytes() == "caf\u00e9 \u2192\n".encode()


def test_T5_a_form_that_is_kept_is_named(file, host):
    file.write_bytes(b"a\r\nb\r\n")
    assert seen(host, "Write", write("a\nc\n")) == "(keeping CR LF)\n--- f\n+++ f\n@@ @@\n a\n-b\n+c"


def test_T5_a_new_file_is_shown_whole(host):
    long = "x" * MOST_SHOWN + "\n" + "y\n" * 40_000
    assert seen(host, "Write", write(long)) == f"a new file:\n{long}"


def test_T5_a_large_change_is_shown_uncut(file, host):
    file.write_text("old\n")
    shown = seen(host, "Write", write("new\n" * 50_000))
    assert shown.count("\n+new") == 50_000


def test_T5_what_takes_the_place_of_a_binary_file_is_shown_whole(file, host):
    file.write_bytes(b"\x89PNG\0")
    assert seen(host, "Write", write("text")) == "in place of 5 bytes of a binary file (a PNG image):\ntext"


@pytest.mark.parametrize("more", [0, 1])
async def test_T5_of_a_large_file_the_texts_are_shown(file, host, more):
    file.write_bytes(b"one" + b"x" * (MOST_SHOWN - 3 + more))
    texts = "the one place of\n- one\nbecomes\n+ two"
    assert (seen(host, "Edit", edit("one", "two")) == texts) is bool(more)
    assert (seen(host, "Write", write("new")) == "the whole file becomes:\nnew") is bool(more)
    await host.run("Edit", edit("one", "two"))
    await host.run("Write", write("new"))
    assert file.read_text() == "new"


def test_T5_what_leaves_the_file_as_it_is_says_so(file, host):
    file.write_text("a\n")
    assert seen(host, "Write", write("a\n")) == "f stays as it was"
    assert seen(host, "MultiEdit", edits(("a", "b"), ("b", "a"))) == "f stays as it was"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x", "old_string was not found"),
        (b"one one", "old_string was found 2 times"),
        (b"one\0", "it is a binary file (of unknown kind) and can't be edited as text"),
        (b"one \xe9", "the file is in Latin-1, which has no '\u2192'"),
    ],
)
async def test_T5_an_edit_that_can_not_be_made_says_so_and_shows_both_texts(file, host, data, words):
    file.write_bytes(data)
    arguments = edit("one", "\u2192")
    assert seen(host, "Edit", arguments) == (
        f"As the file is now, nothing would be changed: {words}.\nthe one place of\n- one\nbecomes\n+ \u2192"
    )
    with pytest.raises(ToolFailed, match=re.escape(words)):
        await host.run("Edit", arguments)
    assert file.read_bytes() == data


def test_T5_which_of_several_edits_can_not_be_made_is_said(file, host):
    file.write_text("one two")
    shown = seen(host, "MultiEdit", edits(("one", "1"), ("none", "x")))
    assert "edit 2 of 2: old_string was not found." in shown


def test_T5_an_edit_of_a_missing_file_says_so(host):
    shown = seen(host, "Edit", edit("one", "two"))
    assert shown.startswith("There is no such file now: nothing would be changed.\nthe one place of\n- one")


# What is written is what was shown


@pytest.mark.parametrize("name", ["Edit", "MultiEdit", "Write"])
async def test_T5_a_file_that_changed_after_the_call_was_allowed_is_left_alone(file, host, name):
    file.write_text("one\n")
    arguments = {"Edit": edit("one", "1"), "MultiEdit": edits(("one", "1")), "Write": write("1\n")}[name]
    action = host.examine(name, arguments)
    file.write_text("zero\none\n")
    with pytest.raises(ToolFailed, match="changed after this call was allowed"):
        await host.tools[name].run(ToolRun(arguments, action, host.progress.append))
    assert file.read_text() == "zero\none\n"


async def test_T5_a_new_file_that_is_there_by_then_is_left_alone(file, host):
    action = host.examine("Write", write("mine"))
    file.write_text("theirs")
    with pytest.raises(ToolFailed, match="changed after this call was allowed"):
        await host.tools["Write"].run(ToolRun(write("mine"), action, host.progress.append))
    assert file.read_text() == "theirs"


async def test_T5_a_change_far_from_the_edit_is_no_other_question(file, host):
    file.write_text(NUMBERED)
    arguments = edit("line 500\n", "new\n")
    action = host.examine("Edit", arguments)
    file.write_text("first\n" + NUMBERED)
    await host.tools["Edit"].run(ToolRun(arguments, action, host.progress.append))
    assert file.read_text() == "first\n" + NUMBERED.replace("line 500\n", "new\n")


# In a turn


async def turned(
    host: Host, approver: FixedApprover, *calls: tuple[str, Mapping[str, Any]]
) -> Sequence[bool]:
    """One round of *calls*; which of them failed."""
    reply = [*(call(f"c{number}", name, made) for number, (name, made) in enumerate(calls)), end("tool_use")]
    journal = MemoryJournal()
    engine = Engine(
        model=ScriptedModel([reply, [say("done"), end()]]),
        tools=list(host.tools.values()),
        policy=host.policy,
        approver=approver,
        journal=journal,
        clock=ManualClock(),
        schemas=SchemaChecks(),
    )
    session = await engine.session()
    events = await ask(session)
    assert outcome(events) == "completed"
    told = repr((events, journal.entries(session.id), session.messages))
    assert SECRET not in told
    return [result.is_error for result in results(session)]


async def test_T5_two_edits_far_apart_in_one_round_are_asked_about_once_each(file, host):
    file.write_text(NUMBERED)
    approver = FixedApprover(Answer("once"))
    two = ("Edit", edit("line 10\n", "ten\nand more\n")), ("Edit", edit("line 900\n", "new\n"))
    assert await turned(host, approver, *two) == [False, False]
    assert len(approver.questions) == 2
    assert file.read_text() == NUMBERED.replace("line 10\n", "ten\nand more\n").replace("line 900\n", "new\n")
    assert "\n-line 900\n+new\n" in approver.questions[1].action.shows


async def test_T5_of_two_edits_close_together_the_second_is_asked_about_again(file, host):
    file.write_text(NUMBERED)
    approver = FixedApprover(Answer("once"))
    two = ("Edit", edit("line 10\n", "ten\n")), ("Edit", edit("line 12\n", "twelve\n"))
    assert await turned(host, approver, *two) == [False, False]
    first, second, again = (question.action.shows for question in approver.questions)
    assert " line 10\n line 11\n-line 12\n+twelve" in second
    assert " ten\n line 11\n-line 12\n+twelve" in again
    assert "-line 10\n+ten\n line 11\n line 12\n" in first


async def test_T5_an_edit_of_what_a_call_before_it_makes_is_asked_about_again(file, host):
    approver = FixedApprover(Answer("once"))
    two = ("Write", write("made\n")), ("Edit", edit("made", "changed"))
    assert await turned(host, approver, *two) == [False, False]
    _, second, again = (question.action.shows for question in approver.questions)
    assert "no such file now" in second
    assert again.endswith("@@ @@\n-made\n+changed")
    assert file.read_text() == "changed\n"


async def test_T5_a_no_to_what_is_new_is_a_no(file, host):
    file.write_text(NUMBERED)
    approver = FixedApprover([Answer("once"), Answer("once"), Answer("deny")])
    two = ("Edit", edit("line 10\n", "ten\n")), ("Edit", edit("line 12\n", "twelve\n"))
    assert await turned(host, approver, *two) == [False, True]
    assert file.read_text() == NUMBERED.replace("line 10\n", "ten\n")


@pytest.mark.parametrize("rule", ["Read(f)", "Edit(f)"])
@pytest.mark.parametrize("made", [("Edit", edit("one", "two")), ("Write", write("one"))])
async def test_T3_of_a_file_that_is_denied_nothing_is_told(tmp_path, file, rule, made):
    file.write_text(f"one\n{SECRET}\n")
    approver = FixedApprover([])
    assert await turned(Host(tmp_path, deny=[rule]), approver, made) == [True]
    assert approver.questions == []
    assert file.read_text() == f"one\n{SECRET}\n"
