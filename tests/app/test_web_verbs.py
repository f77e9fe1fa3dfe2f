"""`norma fetch`, `search` and `probe search` as processes, and the tools within a turn."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dependency_injector.providers import Object

from norma.adapters.memory.model import ScriptedModel, call, end, say
from norma.app import Settings
from norma.app.running import container_of, open_parts
from norma.domain.model.blocks import Text, ToolResult
from norma.domain.model.events import QuestionAsked
from tests.rigs.command import Bench
from tests.rigs.fixtures import fixture_folder
from tests.rigs.web import Hostile, hostile_server


@pytest.fixture(scope="module")
def hostile(pytestconfig: pytest.Config) -> Iterator[Hostile]:
    with hostile_server(fixture_folder(pytestconfig, "web")) as server:
        yield server


OPEN = ("--set", 'fetch.allow_addresses=["127.0.0.1/32"]')
BOTH = ("--set", 'fetch.allow_addresses=["127.0.0.0/8"]')


def test_F5_fetch_prints_one_page_whatever_its_status(bench: Bench, hostile: Hostile) -> None:
    done = bench.run("fetch", f"{hostile.a}/status/404", "--json", *OPEN)
    assert done.status == 0, done
    (page,) = done.lines
    assert {key: page[key] for key in ("type", "requested_url", "url", "status", "notes")} == {
        "type": "page",
        "requested_url": f"{hostile.a}/status/404",
        "url": f"{hostile.a}/status/404",
        "status": 404,
        "notes": [],
    }
    assert page["markdown"] == "# status 404\n\nwhy it failed"
    assert page["headers"]["content-type"] == "text/html; charset=utf-8"


def test_F7_a_typed_url_opens_no_address(bench: Bench, hostile: Hostile) -> None:
    hostile.log()
    for url in (f"{hostile.a}/ok", "http://localhost/", "http://0x7f000001/", "http://[::ffff:10.0.0.1]/"):
        done = bench.run("fetch", url, "--json")
        assert done.status == 1
        assert done.last["type"] == "error"
        assert done.last["kind"] == "refused"
    assert hostile.targets() == []


def test_F6_what_follows_from_a_typed_url_is_judged(bench: Bench, hostile: Hostile) -> None:
    hostile.log()
    done = bench.run("fetch", f"{hostile.a}/to-b", "--json", *BOTH)
    assert (done.status, done.last["kind"]) == (1, "refused")
    assert f"{hostile.b}/secret" in done.last["message"]
    assert hostile.targets() == ["/to-b"]
    done = bench.run("fetch", f"{hostile.a}/to-b", "--json", *BOTH, "--allow", "WebFetch(domain:127.0.0.2)")
    assert done.status == 0, done
    assert done.last["url"] == f"{hostile.b}/secret"
    assert "INTERNAL-SECRET-TOKEN" in done.last["markdown"]


@pytest.mark.parametrize(
    "wish", [("--deny", "WebFetch"), ("--deny", "WebFetch(domain:127.0.0.1)"), ("--mode", "plan")]
)
def test_T2_what_is_denied_is_denied_to_a_person_too(
    bench: Bench, hostile: Hostile, wish: tuple[str, str]
) -> None:
    done = bench.run("fetch", f"{hostile.a}/ok", "--json", *OPEN, *wish)
    assert (done.status, done.last["kind"]) == (1, "refused")


@pytest.mark.parametrize("mode", ["dont-ask", "default", "bypass"])
def test_T4_typing_is_the_answer_to_the_question(bench: Bench, hostile: Hostile, mode: str) -> None:
    assert bench.run("fetch", f"{hostile.a}/ok", "--json", *OPEN, "--mode", mode).status == 0


@pytest.mark.parametrize("url", ["nonsense", "ftp://a.example/", "https://a.example/x.png", ""])
def test_F5_a_bad_url_is_refused_with_words(bench: Bench, url: str) -> None:
    done = bench.run("fetch", url, "--json")
    assert done.status == 1
    assert done.last["kind"] == "refused"


def test_F3_fetch_extracts_and_prints_text_for_a_person(bench: Bench, hostile: Hostile) -> None:
    done = bench.run("fetch", f"{hostile.a}/ok", "--extract", *OPEN)
    assert done.out.startswith(f"[200 OK] {hostile.a}/ok\n# Title")
    assert "## Page signals" in done.out


def test_a_fault_in_an_address_range_is_told_with_its_key(bench: Bench) -> None:
    done = bench.run(
        "fetch", "https://a.example/", "--json", "--set", 'fetch.allow_addresses=["10.0.0.0/99"]'
    )
    assert done.status == 2
    assert "fetch.allow_addresses[0]" in done.last["message"]


def backend(url: str) -> tuple[str, ...]:
    return ("--set", 'search.backend="searxng"', "--set", f'search.searxng.url="{url}"')


def test_W1_search_prints_whatever_the_backend_answered(bench: Bench, hostile: Hostile) -> None:
    done = bench.run("search", "norma", "--json", *backend(f"{hostile.a}/status/429?"))
    assert done.status == 1
    assert done.last["type"] == "results"
    assert set(done.last) == {"type", "outcome", "results", "retry_after_s", "notes"}
    assert done.last["outcome"] in ("blocked", "error")


def test_W1_without_a_key_search_says_which_setting(bench: Bench) -> None:
    done = bench.run("search", "norma", "--json", "--set", 'search.backend="brave"')
    assert (done.status, done.last["outcome"]) == (1, "auth")
    assert "search.brave.api_key_env" in done.last["notes"][0]


def test_W1_a_backend_that_is_not_there_is_an_error(bench: Bench) -> None:
    done = bench.run("search", "norma", "--json", *backend("http://127.0.0.1:1"))
    assert (done.status, done.last["type"], done.last["kind"]) == (1, "error", "network")


def test_W1_a_bad_command_line_is_usage(bench: Bench) -> None:
    for words in (
        ("search", " "),
        ("search", "x", "--limit", "21"),
        ("search", "x", "--limit", "0"),
        ("search",),
    ):
        assert bench.run(*words, "--json").status == 2


def test_T2_a_denied_search_is_refused(bench: Bench) -> None:
    done = bench.run("search", "x", "--json", "--deny", "WebSearch", *backend("http://127.0.0.1:1"))
    assert (done.status, done.last["kind"]) == (1, "refused")


def test_W6_probe_asks_the_backend_once_past_every_rule(bench: Bench, hostile: Hostile) -> None:
    hostile.log()
    done = bench.run("probe", "search", "--json", "--deny", "WebSearch", *backend(hostile.a))
    assert done.status == 1
    assert done.last["type"] == "report"
    (check,) = done.last["checks"]
    assert check["name"] == "search searxng"
    assert not check["ok"]
    assert check["remedy"]
    assert [target.partition("?")[0] for target in hostile.targets()] == ["/search"]


def settings(tmp_path: Path, **more: Any) -> Settings:
    return Settings.from_mapping(
        {
            "workspace": {"roots": [str(tmp_path)]},
            "journal": {"path": str(tmp_path / "journal.db")},
            "fetch": {"allow_addresses": ["127.0.0.0/8"], **more},
        }
    )


async def turn(tmp_path: Path, url: str, answers: list[str]) -> tuple[list[QuestionAsked], str]:
    """One turn in which the model fetches *url* and a person gives *answers*; questions, and the result."""
    model = ScriptedModel([[call("c", "WebFetch", {"url": url}), end("tool_use")], [say("done"), end()]])
    async with open_parts(settings(tmp_path), environ={"HOME": str(tmp_path)}) as parts:
        parts.model.override(Object(model))
        session = await parts.engine().session()
        asked: list[QuestionAsked] = []
        async for event in session.prompt("go"):
            if isinstance(event, QuestionAsked):
                asked.append(event)
                await session.answer(event.id, answers.pop(0))
        await session.aclose()
    result = model.requests[1].messages[-1].blocks[0]
    assert isinstance(result, ToolResult)
    (block,) = result.blocks
    assert isinstance(block, Text)
    return asked, block.text


async def test_F6_T1_within_a_turn_the_url_and_then_the_hop_are_asked_about(
    tmp_path: Path, hostile: Hostile
) -> None:
    hostile.log()
    asked, text = await turn(tmp_path, f"{hostile.a}/to-b", ["once", "once"])
    assert [question.text for question in asked] == [f"{hostile.a}/to-b", f"{hostile.b}/secret"]
    assert text.startswith(f"[200 OK] {hostile.b}/secret")
    assert "INTERNAL-SECRET-TOKEN" in text


@pytest.mark.parametrize(("answers", "requests"), [(["deny"], []), (["once", "deny"], ["/to-b"])])
async def test_F6_T1_what_a_person_denies_is_never_requested(
    tmp_path: Path, hostile: Hostile, answers: list[str], requests: list[str]
) -> None:
    hostile.log()
    _, text = await turn(tmp_path, f"{hostile.a}/to-b", answers)
    assert "INTERNAL-SECRET-TOKEN" not in text
    assert hostile.targets() == requests


async def test_F2_a_long_page_reaches_the_model_with_all_its_50_000_characters(
    tmp_path: Path, hostile: Hostile
) -> None:
    _, text = await turn(tmp_path, f"{hostile.a}/big?n=200000", ["once"])
    assert 40_000 < len(text) <= 50_000
    assert "characters left out" not in text


def test_the_default_environment_has_both_tools(tmp_path: Path) -> None:
    async def look() -> set[str]:
        built = container_of(settings(tmp_path), {"HOME": str(tmp_path)})
        return {tool.spec.name for tool in built.tools()}

    assert {"WebFetch", "WebSearch"} <= asyncio.run(look())
