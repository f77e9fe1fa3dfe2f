"""Background tasks in an open Norma: the model hears of their end, and nothing outlives Norma."""

import asyncio
import json
from pathlib import Path

import pytest

from norma.app import Settings, SettingsError, open_norma
from norma.domain.model.facts import TurnEnded
from tests.adapters.grep.rigs import until
from tests.adapters.process.test_runner import processes
from tests.app.test_running import events_of, settings
from tests.rigs.chat_server import ChatServer, calls, says, tool_messages

BYPASS = {"permissions": {"mode": "bypass"}}


def background(command: str) -> tuple[str, dict[str, object]]:
    return "Bash", {"command": command, "run_in_background": True}


async def test_the_model_hears_of_a_tasks_end_and_a_closed_norma_leaves_none(tmp_path: Path) -> None:
    chat = ChatServer(
        calls(
            background("mkfifo go; read line < go; echo got $line; exit 3"), background("sleep 1116.5; true")
        ),
        calls(("Bash", {"command": "until [ -p go ]; do :; done; echo x > go"}), prefix="b"),
        calls(("TaskOutput", {"task_id": "task_1", "block": True}), prefix="c"),
        says("done"),
    )
    with chat:
        async with open_norma(settings(tmp_path, chat.url, **BYPASS)) as norma:
            session = await norma.session()
            events = await events_of(session.prompt("go"))
            assert processes("1116.5", tmp_path)
        assert not processes("1116.5", tmp_path)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].outcome == "completed"
    results = dict(tool_messages(chat.bodies[-1]))
    assert "got x" in results["c_0"]
    assert "task_1 failed" in results["c_0"]
    told = json.dumps(chat.bodies[-1]["messages"])
    assert told.count("has ended: failed, exit code 3.") == 1


async def test_tasks_outlive_a_cancelled_turn_and_are_seen_in_the_next(tmp_path: Path) -> None:
    chat = ChatServer(
        calls(background("sleep 1116.25; true")),
        calls(("Bash", {"command": "touch here; sleep 1116.125; true"}), prefix="b"),
        calls(("TaskList", {}), prefix="c"),
        says("done"),
    )
    with chat:
        async with open_norma(settings(tmp_path, chat.url, **BYPASS)) as norma:
            session = await norma.session()
            turn = asyncio.create_task(events_of(session.prompt("go")))
            await until(lambda: bool(processes("1116.125", tmp_path)))
            session.interrupt()
            assert (await turn)[-1].outcome == "interrupted"
            assert not processes("1116.125", tmp_path)
            assert processes("1116.25", tmp_path)
            await events_of(session.prompt("what runs?"))
        assert not processes("1116.25", tmp_path)
    results = dict(tool_messages(chat.bodies[-1]))
    assert results["c_0"].startswith("task_1 is running")


async def test_two_sessions_do_not_see_each_others_tasks(tmp_path: Path) -> None:
    with ChatServer(calls(background("sleep 99")), says("a"), calls(("TaskList", {})), says("b")) as chat:
        async with open_norma(settings(tmp_path, chat.url, **BYPASS)) as norma:
            await events_of((await norma.session()).prompt("go"))
            await events_of((await norma.session()).prompt("list"))
    assert dict(tool_messages(chat.bodies[-1])) == {"call_0": "There are no tasks."}


async def test_a_task_gets_no_secrets_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMA_X_TOKEN", "canary")
    chat = ChatServer(
        calls(background("env")), calls(("TaskOutput", {"task_id": "task_1", "block": True})), says("done")
    )
    with chat:
        async with open_norma(settings(tmp_path, chat.url, **BYPASS)) as norma:
            await events_of((await norma.session()).prompt("go"))
    assert "PATH=" in json.dumps(chat.bodies[-1])
    assert "canary" not in json.dumps(chat.bodies)


async def test_settings_add_to_the_environment_of_commands_and_switch_tasks_off(tmp_path: Path) -> None:
    chat = ChatServer(
        calls(background("echo $GREETING")),
        calls(("Bash", {"command": "echo $GREETING; sleep 1116.0625", "timeout_ms": 300}), prefix="b"),
        says("done"),
    )
    shell = {"shell": {"env": {"GREETING": "hello"}, "background": False}}
    with chat:
        async with open_norma(settings(tmp_path, chat.url, **BYPASS, **shell)) as norma:
            await events_of((await norma.session()).prompt("go"))
            assert not processes("1116.0625", tmp_path)
    names = {tool["function"]["name"] for tool in chat.bodies[0]["tools"]}
    assert "Bash" in names
    assert not names & {"TaskOutput", "TaskStop", "TaskList", "Monitor"}
    results = dict(tool_messages(chat.bodies[-1]))
    assert results["call_0"] == "hello\n[exit code 0]"
    assert results["b_0"].startswith("hello\n[ended after 0.3 s, which was its time limit]")


def test_the_environment_of_commands_prints_without_its_values_and_is_checked() -> None:
    made = Settings.from_mapping({"shell": {"env": {"TOKEN": "canary"}}})
    assert "canary" not in repr(made)
    with pytest.raises(SettingsError, match=r"shell.env.A=B: no environment variable can be like this"):
        Settings.from_mapping({"shell": {"env": {"A=B": "x"}}})
