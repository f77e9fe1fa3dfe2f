"""
Nothing is lost and nothing is done twice: `norma ask` is killed without warning and carried on.

Real processes and a real SIGKILL; the server holds its stream so that the kill comes at a known point.
"""

import json
import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from tests.rigs.chat_server import ChatServer, call_ids, calls, holds, says, tool_messages
from tests.rigs.command import BOUND_S, Bench

APPEND = "echo ran >> ledger"


def kill(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=BOUND_S)


def wait_for_whole_reply(process: "subprocess.Popen[str]") -> None:
    """Return when the reply's cost was told: after it was journalled, which its calls are told before."""
    assert process.stdout is not None
    while line := process.stdout.readline():
        if json.loads(line)["type"] == "usage":
            return
    raise AssertionError("the command ended")


def each_call_has_one_result(body: dict[str, object]) -> list[tuple[str, str]]:
    results = tool_messages(body)
    assert sorted(call for call, _ in results) == sorted(call_ids(body))
    assert len(set(call_ids(body))) == len(call_ids(body))
    return results


def test_E7_killed_while_the_first_words_come(bench: Bench) -> None:
    gate = threading.Event()
    with ChatServer(holds("half an", gate), says("A whole answer.")) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "question") as process:
            assert process.stdout is not None
            assert "half an" in process.stdout.readline()
            kill(process)
        gate.set()
        assert bench.run("sessions", "--json").last["items"][0]["outcome"] is None
        done = bench.run("ask", "--resume", "--json")
    assert done.status == 0, done
    assert done.last["text"] == "A whole answer."
    assert json.dumps(chat.bodies[1]["messages"]).count("question") == 1


def test_E7_killed_between_a_result_and_the_next_answer_the_tool_is_not_run_again(bench: Bench) -> None:
    gate = threading.Event()
    with ChatServer(calls(("Bash", {"command": APPEND})), holds("so", gate), says("Done.")) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "--allow", "Bash", "go") as process:
            chat.wait_for(2)
            kill(process)
        gate.set()
        done = bench.run("ask", "--resume", "--json", "--allow", "Bash")
    assert done.status == 0, done
    assert (bench.workspace / "ledger").read_text() == "ran\n"
    each_call_has_one_result(chat.bodies[2])


def test_E7_killed_while_a_tool_runs_its_outcome_is_unknown_and_it_is_not_run_again(bench: Bench) -> None:
    started, go_on = fifo(bench, "started"), fifo(bench, "go_on")
    command = f"{APPEND}; echo x > {started}; cat {go_on}"
    reads = ("Read", {"file_path": "ledger"})
    with ChatServer(calls(("Bash", {"command": command}), reads), says("I see.")) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "--allow", "Bash", "go") as process:
            started.read_text()  # waits until the tool has come so far
            wait_for_whole_reply(process)
            kill(process)
        release(go_on)
        done = bench.run("ask", "--resume", "--json", "--allow", "Bash")
    assert done.status == 0, done
    assert (bench.workspace / "ledger").read_text() == "ran\n"
    results = each_call_has_one_result(chat.bodies[1])
    assert "unknown" in results[0][1]
    assert "ran" in results[1][1]
    told = [line["id"] for line in done.lines if line["type"] == "tool_ended"]
    assert sorted(told) == sorted(set(told))


def test_E7_killed_again_while_it_is_carried_on(bench: Bench) -> None:
    gates = [threading.Event(), threading.Event()]
    with ChatServer(
        calls(("Bash", {"command": APPEND})), holds("a", gates[0]), holds("b", gates[1]), says("At last.")
    ) as chat:
        bench.model(chat.url)
        for requests, words in ((2, ("go",)), (3, ("--resume",))):
            with bench.start("ask", "--json", "--allow", "Bash", *words) as process:
                chat.wait_for(requests)
                kill(process)
            gates[requests - 2].set()
        done = bench.run("ask", "--resume", "--json")
    assert done.last["text"] == "At last."
    assert (bench.workspace / "ledger").read_text() == "ran\n"
    each_call_has_one_result(chat.bodies[3])


def test_E1_a_new_prompt_after_a_kill_finds_every_call_answered(bench: Bench) -> None:
    started, go_on = fifo(bench, "started"), fifo(bench, "go_on")
    with ChatServer(
        calls(("Bash", {"command": f"echo x > {started}; cat {go_on}"}), ("Read", {"file_path": "nothing"})),
        says("Fine."),
    ) as chat:
        bench.model(chat.url)
        with bench.start("ask", "--json", "--allow", "Bash", "go") as process:
            started.read_text()
            kill(process)
        release(go_on)
        done = bench.run("ask", "--resume", "--json", "never mind, something else")
    assert done.status == 0, done
    each_call_has_one_result(chat.bodies[1])
    assert chat.bodies[1]["messages"][-1]["content"] == "never mind, something else"


def fifo(bench: Bench, name: str) -> Path:
    path = bench.home / name
    os.mkfifo(path)
    return path


def release(path: Path) -> None:
    """Let the process that reads from *path* go on, if the kill has left one."""
    with suppress(OSError):  # nobody reads there
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
