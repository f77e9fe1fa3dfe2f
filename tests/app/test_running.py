"""`open_norma` as an embedding host uses it, with a real server, workspace and journal."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.app import Settings, SettingsError, open_norma
from norma.domain.model.events import QuestionAsked
from norma.domain.model.facts import ToolEnded, TurnEnded
from norma.domain.model.questions import Answer
from norma.domain.model.requests import SystemSegment
from tests.rigs.chat_server import ChatServer, calls, says

BOUND_S = 30


def settings(tmp_path: Path, url: str, **more: Any) -> Settings:
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    return Settings.from_mapping(
        {
            "models": {"main": {"wire": "openai-chat", "base_url": url, "model": "m"}},
            "workspace": {"roots": [str(root)]},
            "journal": {"path": str(tmp_path / "journal.db")},
            **more,
        }
    )


async def events_of(turn: Any) -> list[Any]:
    async with asyncio.timeout(BOUND_S):
        return [event async for event in turn]


async def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    with ChatServer(says("Hello ", "host.")) as chat:
        async with open_norma(settings(tmp_path, chat.url)) as norma:
            assert norma.model().name == f"m at {chat.url.removeprefix('http://').removesuffix('/v1')}"
            assert norma.model() is norma.model("main")
            session = await norma.session()
            events = await events_of(session.prompt("hi"))
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].outcome == "completed"
    assert events[-1].text == "Hello host."
    assert [message["role"] for message in chat.bodies[0]["messages"]] == ["user"]


async def test_a_session_is_resumed_by_its_id_in_another_norma(tmp_path: Path) -> None:
    with ChatServer(says("one"), says("two")) as chat:
        async with open_norma(settings(tmp_path, chat.url)) as norma:
            session = await norma.session()
            await events_of(session.prompt("first"))
        async with open_norma(settings(tmp_path, chat.url)) as norma:
            resumed = await norma.session(session.id)
            assert len(resumed.messages) == 2
            await events_of(resumed.prompt("second"))
    assert [message["content"] for message in chat.bodies[1]["messages"]] == ["first", "one", "second"]


async def test_T5_without_an_approver_the_host_is_asked_by_an_event(tmp_path: Path) -> None:
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("done")) as chat:
        async with open_norma(settings(tmp_path, chat.url)) as norma:
            session = await norma.session()
            async with asyncio.timeout(BOUND_S), session.prompt("go") as turn:
                async for event in turn:
                    if isinstance(event, QuestionAsked):
                        assert event.text.startswith("touch made\n")
                        await session.answer(event.id, "once")
    assert (tmp_path / "work" / "made").exists()


async def test_T5_an_approver_answers_instead(tmp_path: Path) -> None:
    approver = FixedApprover(Answer("once"))
    with ChatServer(calls(("Bash", {"command": "touch made"})), says("done")) as chat:
        async with open_norma(settings(tmp_path, chat.url), approver=approver) as norma:
            events = await events_of((await norma.session()).prompt("go"))
    assert [event.is_error for event in events if isinstance(event, ToolEnded)] == [False]
    assert len(approver.questions) == 1


async def test_the_hosts_system_prompt_is_sent(tmp_path: Path) -> None:
    with ChatServer(says("ok")) as chat:
        async with open_norma(settings(tmp_path, chat.url), system=(SystemSegment("Be a pirate."),)) as norma:
            await events_of((await norma.session()).prompt("hi"))
    assert chat.bodies[0]["messages"][0] == {"role": "system", "content": "Be a pirate."}


async def test_two_normas_in_one_process_share_nothing(tmp_path: Path) -> None:
    with ChatServer(says("for one")) as one, ChatServer(says("for two")) as two:
        folders = [tmp_path / "one", tmp_path / "two"]
        for folder in folders:
            folder.mkdir()
        async with (
            open_norma(settings(folders[0], one.url)) as first,
            open_norma(settings(folders[1], two.url)) as second,
        ):
            turns = [(await norma.session()).prompt("hi") for norma in (first, second)]
            ended = [events[-1] for events in await asyncio.gather(*map(events_of, turns))]
            assert [event.text for event in ended] == ["for one", "for two"]
            assert len(await first.journal.sessions()) == 1
            assert len(await second.journal.sessions()) == 1


async def test_leaving_the_block_ends_what_is_going_on(tmp_path: Path) -> None:
    with ChatServer(calls(("Bash", {"command": "echo ready; cat"}))) as chat:
        more = {"permissions": {"allow": ["Bash"]}}
        async with open_norma(settings(tmp_path, chat.url, **more)) as norma:
            session = await norma.session()
            turn = session.prompt("go")
            async with asyncio.timeout(BOUND_S):
                await anext(turn)
        async with open_norma(settings(tmp_path, chat.url)) as norma:
            (info,) = await norma.journal.sessions()
    assert info.outcome == "interrupted"


@pytest.mark.parametrize(
    ("values", "says_"),
    [
        ({"models": {"m": {"wire": "anthropic"}}}, "models.m.model"),
        ({"models": {"m": {"wire": "openai-chat"}}}, "models.m.model"),
        ({"models": {"m": {"wire": "openai-chat", "model": "x", "profile": "nobody"}}}, "nobody"),
        ({"models": {"m": {"wire": "openai-chat", "model": "x", "base_url": "http://u:p@h"}}}, "credentials"),
        ({"models": {"m": {"wire": "openai-chat", "model": "x", "api_key_env": "NOT_SET"}}}, "NOT_SET"),
        ({"workspace": {"roots": ["/nowhere/at/all"]}}, "/nowhere/at/all"),
    ],
)
async def test_what_is_not_there_is_a_fault_of_the_settings(
    tmp_path: Path, values: dict[str, Any], says_: str
) -> None:
    given = Settings.from_mapping({"journal": {"path": str(tmp_path / "j.db")}, **values})
    with pytest.raises(SettingsError, match=says_):
        async with open_norma(given, environ={"HOME": str(tmp_path)}):
            pass
