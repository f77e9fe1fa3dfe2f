"""`norma chat` as a person has it: on a pseudo-terminal, with and without the `cli` extra."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.rigs.chat_server import ChatServer, calls, holds, says, tool_messages
from tests.rigs.command import Bench, Terminal

WAYS = ("with the extra", "without the extra")


@pytest.fixture(params=WAYS)
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    """With prompt_toolkit and rich, or as if they were not installed."""
    if request.param == "with the extra":
        return {}
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for package in ("prompt_toolkit", "rich"):
        (hidden / f"{package}.py").write_text("raise ImportError('hidden by the test')\n")
    return {"PYTHONPATH": str(hidden)}


def ready(terminal: Terminal) -> None:
    """Wait until a line can be typed: the word that ends every note before it, then the prompt."""
    terminal.expect("session")
    terminal.expect(">")


def test_a_conversation_remembers_and_ctrl_d_leaves(bench: Bench, environ: Mapping[str, str]) -> None:
    with ChatServer(says("Hello ", "you."), says("As I said.")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("first words\n")
            terminal.expect("Hello you.")
            ready(terminal)
            terminal.types("second words\n")
            terminal.expect("As I said.")
            ready(terminal)
            terminal.types("\x04")
            terminal.expect("norma chat --resume=")
            assert terminal.ends() == 0
    assert [message["content"] for message in chat.bodies[1]["messages"][1:]] == [
        "first words",
        "Hello you.",
        "second words",
    ]


def test_E5_ctrl_c_ends_the_turn_and_not_the_program(bench: Bench, environ: Mapping[str, str]) -> None:
    gate = threading.Event()
    with ChatServer(holds("an endless", gate), says("Still here.")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("go\n")
            terminal.expect("an endless")
            terminal.types("\x03")
            terminal.expect("interrupted")
            ready(terminal)
            terminal.types("again\n")
            terminal.expect("Still here.")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
        gate.set()


def test_two_ctrl_c_at_the_prompt_leave(bench: Bench, environ: Mapping[str, str]) -> None:
    with ChatServer() as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.waits()
            terminal.types("\x03")
            terminal.expect("Ctrl-C once more leaves")
            terminal.expect(">")
            terminal.waits()
            terminal.types("\x03")
            assert terminal.ends() == 0


@pytest.mark.parametrize(
    ("typed", "made", "told"),
    [
        ("y\n", ["one"], "done"),
        ("n use another name\n", [], "use another name"),
        ("q\n", [], None),
    ],
)
def test_T5_a_question_shows_what_will_run_and_takes_each_answer(
    bench: Bench, environ: Mapping[str, str], typed: str, made: list[str], told: str | None
) -> None:
    with ChatServer(calls(("Bash", {"command": "touch one && echo done"})), says("I see.")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("make it\n")
            terminal.expect("| touch one && echo done")
            terminal.expect("[n REASON]")
            terminal.expect("  > ")
            terminal.types(typed)
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
    assert os.listdir(bench.workspace) == made
    if told is None:
        assert len(chat.bodies) == 1
    else:
        ((_, text),) = tool_messages(chat.bodies[1])
        assert told in text


def test_T5_an_answer_for_the_session_is_not_asked_for_again(
    bench: Bench, environ: Mapping[str, str]
) -> None:
    call = calls(("Bash", {"command": "echo x >> ledger"}))
    with ChatServer(call, says("once"), call, says("twice")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("one\n")
            terminal.expect("  > ")
            terminal.types("s\n")
            terminal.expect("once")
            ready(terminal)
            terminal.types("two\n")
            assert "wants to do this" not in terminal.expect("twice")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
    assert (bench.workspace / "ledger").read_text() == "x\nx\n"


def test_E5_ctrl_c_at_a_question_ends_the_turn_and_nothing_runs(
    bench: Bench, environ: Mapping[str, str]
) -> None:
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("Hello.")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("make it\n")
            terminal.expect("  > ")
            terminal.types("\x03")
            terminal.expect("interrupted")
            ready(terminal)
            terminal.types("hello?\n")
            terminal.expect("Hello.")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
    assert not (bench.workspace / "made").exists()


def test_the_lines_typed_earlier_come_back_after_a_restart(bench: Bench, environ: Mapping[str, str]) -> None:
    with ChatServer(says("one"), says("two")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("words of yesterday\n")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("\x1b[A")
            terminal.expect("words of yesterday")
            terminal.types("\n")
            terminal.expect("two")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
    assert chat.bodies[1]["messages"][-1]["content"] == "words of yesterday"
    for file in (bench.home / ".local" / "state" / "norma").glob("chat-history*"):
        assert file.stat().st_mode & 0o077 == 0


def test_resume_goes_on_with_the_conversation(bench: Bench, environ: Mapping[str, str]) -> None:
    with ChatServer(says("one"), says("two")) as chat:
        bench.model(chat.url)
        bench.run("ask", "first")
        with bench.terminal("chat", "--resume", environ=environ) as terminal:
            ready(terminal)
            terminal.types("second\n")
            terminal.expect("two")
            ready(terminal)
            terminal.types("\x04")
            assert terminal.ends() == 0
    assert [message["content"] for message in chat.bodies[1]["messages"][1:]] == ["first", "one", "second"]


def test_a_failed_turn_is_told_and_the_conversation_goes_on(bench: Bench, environ: Mapping[str, str]) -> None:
    from tests.rigs.chat_server import refuses

    with ChatServer(refuses(400, "not like this"), says("Better.")) as chat:
        bench.model(chat.url)
        with bench.terminal("chat", environ=environ) as terminal:
            ready(terminal)
            terminal.types("one\n")
            terminal.expect("not like this")
            terminal.types("two\n")
            terminal.expect("Better.")
            ready(terminal)
            terminal.types("/exit\n")
            assert terminal.ends() == 0


def test_lines_of_a_pipe_are_prompts(bench: Bench) -> None:
    with ChatServer(says("one"), says("two")) as chat:
        bench.model(chat.url)
        done = bench.run("chat", "--json", text="first\n\nsecond\n")
    assert done.status == 0, done
    assert [line["text"] for line in done.lines if line["type"] == "turn_ended"] == ["one", "two"]


def test_T2_a_terminal_is_asked_whether_the_projects_settings_are_trusted(bench: Bench) -> None:
    with ChatServer(says("from the project's model"), says("again")) as chat:
        (bench.workspace / "norma.toml").write_text(
            f'[models.theirs]\nwire = "openai-chat"\nbase_url = "{chat.url}"\nmodel = "theirs"\n'
        )
        with bench.terminal("ask", "hi") as terminal:
            terminal.expect("| models.theirs")
            terminal.expect("[y/N]")
            terminal.types("y\n")
            terminal.expect("from the project's model")
            assert terminal.ends() == 0
        done = bench.run("ask", "hi")
        assert done.out == "again\n", done


def test_progress_is_shown_on_a_terminal_only(bench: Bench) -> None:
    with ChatServer(says("one"), says("two")) as chat:
        bench.model(chat.url)
        with bench.terminal("ask", "hi") as terminal:
            terminal.expect("waiting for the model")
            assert terminal.ends() == 0
        assert "waiting for the model" not in bench.run("ask", "hi").err
