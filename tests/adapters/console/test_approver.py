"""Questions at a terminal, driven through a real pseudo-terminal or pipe."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from norma.adapters.console.approver import ConsoleApprover, NobodyApprover
from norma.adapters.console.lines import LineInput
from norma.adapters.console.visible import one_line, visible
from norma.domain.model.actions import Action, Effects
from norma.domain.model.questions import Answer, Question

BOUND_S = 10


def question(shows: str = "rm -rf build", key: str = "1") -> Question:
    action = Action("Bash", Effects(processes=True), shows, "Bash(rm -rf build)")
    return Question(f"q{key}", key, action, "digest", "tool digest", "No rule speaks of it.")


class Person:
    """The far end of a terminal: what is shown, and what is typed."""

    def __init__(self) -> None:
        self.keyboard, self.theirs = os.openpty()
        self.shown = ""
        self.approver = ConsoleApprover(LineInput(self.theirs), self._show)

    def _show(self, text: str) -> None:
        self.shown += text

    def types(self, text: str) -> None:
        os.write(self.keyboard, text.encode())


@pytest.fixture
def person() -> Iterator[Person]:
    person = Person()
    yield person
    os.close(person.keyboard)
    os.close(person.theirs)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", Answer("once")),
        ("YES\n", Answer("once")),
        ("s\n", Answer("session")),
        ("n\n", Answer("deny")),
        ("n use make clean\n", Answer("deny", "use make clean")),
        ("q\n", Answer("stop")),
        ("\n\nwhat?\ny please\ny\n", Answer("once")),
        ("\x04", Answer("stop")),
    ],
)
async def test_T5_each_answer_is_understood_and_nonsense_is_asked_again(
    person: Person, typed: str, answer: Answer
) -> None:
    person.types(typed)
    async with asyncio.timeout(BOUND_S):
        assert await person.approver.ask(question()) == answer


async def test_T5_all_of_what_will_run_is_shown_with_the_rule_and_the_reason(person: Person) -> None:
    command = "echo " + "x" * 5000 + "\nrm -rf /"
    person.types("n\n")
    async with asyncio.timeout(BOUND_S):
        await person.approver.ask(question(command))
    assert "  | echo " + "x" * 5000 in person.shown
    assert "  | rm -rf /" in person.shown
    assert "Bash(rm -rf build)" in person.shown
    assert "No rule speaks of it." in person.shown


async def test_T5_what_will_run_can_not_play_tricks_on_the_screen(person: Person) -> None:
    person.types("n\n")
    async with asyncio.timeout(BOUND_S):
        await person.approver.ask(question("rm -rf /\r\x1b[2Kls\u202e"))
    assert "\x1b" not in person.shown
    assert "\r" not in person.shown
    assert "\\x1b[2Kls\\u202e" in person.shown


async def test_questions_are_put_one_by_one(person: Person) -> None:
    async with asyncio.timeout(BOUND_S):
        first = asyncio.create_task(person.approver.ask(question("first", "1")))
        second = asyncio.create_task(person.approver.ask(question("second", "2")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert "first" in person.shown
        assert "second" not in person.shown
        person.types("y\n")
        assert await first == Answer("once")
        person.types("n\n")
        assert await second == Answer("deny")
    assert "second" in person.shown


async def test_E5_a_cancelled_question_lets_go_of_the_terminal_and_eats_no_line(person: Person) -> None:
    async with asyncio.timeout(BOUND_S):
        asked = asyncio.create_task(person.approver.ask(question()))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert not asyncio.get_running_loop().remove_reader(person.theirs)
        person.types("s\n")
        assert await person.approver.ask(question()) == Answer("session")


async def test_T2_nobody_says_no_and_names_the_rule_that_would_allow_it() -> None:
    answer = await NobodyApprover().ask(question())
    assert answer.word == "deny"
    assert "Bash(rm -rf build)" in (answer.feedback or "")


async def test_lines_of_a_pipe_are_kept_apart_and_the_last_needs_no_end() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, "eins\nzwei\ndréi".encode())
        os.close(writing)
        lines = LineInput(reading)
        async with asyncio.timeout(BOUND_S):
            assert [await lines.read() for _ in range(5)] == ["eins", "zwei", "dréi", None, None]
    finally:
        os.close(reading)


def test_visible_keeps_words_newlines_and_tabs() -> None:
    assert visible("a\tb\nÄ€漢") == "a\tb\nÄ€漢"
    assert visible("\x1b]0;x\x07\ud800") == "\\x1b]0;x\\x07\\ud800"


def test_one_line_marks_a_cut() -> None:
    assert one_line("a  b\n c", 10) == "a b c"
    assert one_line("abcdefghijkl", 5) == "abcd…"
    assert len(one_line("x" * 1000, 50)) == 50
