"""`norma ask` from end to end: a real process, a real socket, a real journal."""

import json
import signal
import threading

from tests.rigs.chat_server import ChatServer, calls, holds, refuses, says, tool_messages
from tests.rigs.command import BOUND_S, Bench


def test_the_answer_goes_to_stdout_and_everything_about_it_to_stderr(bench: Bench) -> None:
    (bench.workspace / "a.txt").write_text("alpha\nbeta\n")
    with ChatServer(
        calls(("Read", {"file_path": "a.txt"}), text="Let me look."), says("It is ", "beta.")
    ) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "what is in a.txt?")
    assert done.status == 0, done
    assert done.out == "Let me look.It is beta.\n"
    assert "test-model" in done.err
    assert 'Read(file_path="a.txt")' in done.err
    assert "200 tokens in, 20 out" in done.err
    assert "\x1b" not in done.err
    ((_, text),) = tool_messages(chat.bodies[1])
    assert "beta" in text


def test_with_json_stdout_holds_events_and_nothing_else(bench: Bench) -> None:
    (bench.workspace / "a.txt").write_text("alpha\n")
    with ChatServer(calls(("Read", {"file_path": "a.txt"})), says("alpha")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--json", "read it")
    assert done.status == 0, done
    kinds = [line["type"] for line in done.lines]
    assert kinds[0] == "tool_call"
    assert kinds[-1] == "turn_ended"
    assert {"tool_started", "tool_ended", "text_delta", "usage"} <= set(kinds)
    assert set(done.last) == {"type", "outcome", "session", "text", "usage", "turns", "error"}
    assert done.last["outcome"] == "completed"
    assert done.last["text"] == "alpha"
    assert done.last["turns"] == 2
    assert done.last["usage"]["input_tokens"] == 200
    assert done.last["error"] is None


def test_T2_without_a_person_a_question_is_a_denial_that_names_the_rule(bench: Bench) -> None:
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("I may not.")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--json", "make a file")
    assert done.status == 0, done
    assert not (bench.workspace / "made").exists()
    (ended,) = (line for line in done.lines if line["type"] == "tool_ended")
    assert ended["is_error"]
    assert "Bash(touch made)" in json.dumps(ended["blocks"])


def test_an_allow_rule_of_the_command_line_lets_it_run(bench: Bench) -> None:
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("Done.")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--allow", "Bash(touch made)", "make a file")
    assert done.status == 0, done
    assert (bench.workspace / "made").exists()


def test_a_model_that_fails_ends_the_turn_with_status_1(bench: Bench) -> None:
    with ChatServer(refuses(401, "no such key")) as chat:
        bench.model(chat.url)
        done = bench.run("ask", "--json", "hello")
    assert done.status == 1
    assert done.last["outcome"] == "model_failed"
    assert done.last["error"]["kind"] == "authentication"
    assert "Traceback" not in done.err


def test_N5_the_key_is_sent_and_shown_nowhere(bench: Bench) -> None:
    with ChatServer(refuses(401, "bad key"), says("hello")) as chat:
        bench.model(chat.url, 'api_key_env = "MY_KEY"\n')
        for words in (("ask", "--debug", "hi"), ("ask", "--json", "hi"), ("doctor", "--json")):
            done = bench.run(*words, environ={"MY_KEY": "canary-key"})
            assert "canary-key" not in done.out + done.err
    assert chat.headers[0]["Authorization"] == "Bearer canary-key"
    assert b"canary-key" not in bench.journal.read_bytes()


def test_a_prompt_can_come_from_stdin(bench: Bench) -> None:
    with ChatServer(says("ok")) as chat:
        bench.model(chat.url)
        assert bench.run("ask", "-", text="from a pipe").status == 0
    assert "from a pipe" in json.dumps(chat.bodies[0]["messages"][-1])


def test_the_system_prompt_names_workspace_and_tools(bench: Bench) -> None:
    with ChatServer(says("ok")) as chat:
        bench.model(chat.url)
        bench.run("ask", "hi")
    system = json.dumps(chat.bodies[0]["messages"][0])
    assert str(bench.workspace) in system
    for tool in chat.bodies[0]["tools"]:
        assert tool["function"]["name"] in system


def test_E5_ctrl_c_ends_the_turn_and_keeps_what_came(bench: Bench) -> None:
    gate = threading.Event()
    with ChatServer(holds("half an answer", gate)) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "hi") as process:
            assert process.stdout is not None
            assert "half an answer" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=BOUND_S)
        gate.set()
    assert process.returncode == 1, err
    last = json.loads(out.splitlines()[-1])
    assert last["outcome"] == "interrupted"
    assert "Traceback" not in err
    assert bench.run("sessions", "--json").last["items"][0]["outcome"] == "interrupted"


def test_E5_a_termination_leaves_a_journal_that_says_interrupted(bench: Bench) -> None:
    gate = threading.Event()
    with ChatServer(holds("half", gate)) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "hi") as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=BOUND_S)
        gate.set()
    assert process.returncode == 1
    assert "Traceback" not in err
    assert bench.run("sessions", "--json").last["items"][0]["outcome"] == "interrupted"


def test_a_reader_that_goes_away_is_no_traceback(bench: Bench) -> None:
    with ChatServer(says(*["word "] * 2000)) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "hi") as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr is not None
            err = process.stderr.read()
            assert process.wait(BOUND_S) == 1
    assert "Traceback" not in err


def test_sessions_lists_what_was_asked_the_latest_first(bench: Bench) -> None:
    with ChatServer(says("1"), says("2")) as chat:
        bench.model(chat.url)
        ids = [bench.run("ask", "--json", word).last["session"] for word in ("first", "second")]
    done = bench.run("sessions", "--json")
    assert done.status == 0, done
    items = done.last["items"]
    assert [item["id"] for item in items] == ids[::-1]
    assert set(items[0]) == {"id", "created", "turns", "outcome"}
    assert (items[0]["turns"], items[0]["outcome"]) == (1, "completed")
    assert "second" in bench.run("sessions").out


def test_resume_goes_on_with_the_latest_session_or_the_named_one(bench: Bench) -> None:
    with ChatServer(says("one"), says("two"), says("three"), says("four")) as chat:
        bench.model(chat.url)
        first = bench.run("ask", "--json", "first").last["session"]
        second = bench.run("ask", "--json", "second").last["session"]
        assert bench.run("ask", "--json", "--resume", "third").last["session"] == second
        assert bench.run("ask", "--json", f"--resume={first}", "fourth").last["session"] == first
    assert [message["content"] for message in chat.bodies[3]["messages"][1:]] == ["first", "one", "fourth"]


def test_resume_with_nothing_open_and_no_prompt_says_so(bench: Bench) -> None:
    with ChatServer(says("one")) as chat:
        bench.model(chat.url)
        bench.run("ask", "first")
        done = bench.run("ask", "--json", "--resume")
    assert done.status == 2
    assert done.last["kind"] == "usage"
    assert "nothing is open" in done.last["message"]


def test_resume_of_a_session_that_is_not_there_says_so(bench: Bench) -> None:
    with ChatServer() as chat:
        bench.model(chat.url)
        for words in (("--resume",), ("--resume=nobody",)):
            done = bench.run("ask", "--json", *words, "hi")
            assert done.status == 1
            assert done.last["kind"] == "not_found"
    assert chat.bodies == []
