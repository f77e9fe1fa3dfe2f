"""Failures that people met on the chat wire: tests/fixtures/model-wires, all of them."""

from typing import Any

import pytest

from norma.adapters.http.proxy import proxy_for
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.memory.clock import ManualClock
from norma.adapters.openai_chat.request import SUFFIX
from norma.adapters.wires.urls import endpoint
from tests.rigs.fixtures import fixture_folder
from tests.rigs.model_fixtures import (
    FOLDER,
    check_answer,
    check_request,
    fixtures_in,
    outcome_of,
    request_for,
    request_of,
    script_of,
)
from tests.rigs.wire_models import chat_against
from tests.rigs.wire_server import Scripted, sse

_KINDS = {"answer": ("stream", "json"), "sent": ("request",), "http": ("http",)}
_SCENARIOS_ELSEWHERE = {"client_config": "tests/adapters/http/test_egress.py, N6"}

_FINE = sse('{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}', "[DONE]")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, kinds in _KINDS.items():
        if name in metafunc.fixturenames:
            rows = fixtures_in(fixture_folder(metafunc.config, FOLDER), wire="chat", kinds=kinds)
            rows = [row for row in rows if row.get("scenario") not in _SCENARIOS_ELSEWHERE]
            metafunc.parametrize(name, rows, ids=[row["id"] for row in rows])


async def test_an_answer_gives_what_its_fixture_says(answer: dict[str, Any]) -> None:
    async with chat_against(*script_of(answer)) as (model, server):
        check_answer(answer["expect"], await outcome_of(model, request_for(answer)), server)


async def test_a_request_is_sent_as_its_fixture_says(sent: dict[str, Any]) -> None:
    async with chat_against(Scripted([_FINE])) as (model, server):
        outcome = await outcome_of(model, request_of(sent))
        assert outcome.error is None
        check_request(sent["expect"]["request"], server.requests[0])


async def test_a_scripted_server_is_handled_as_its_fixture_says(http: dict[str, Any]) -> None:
    if http.get("scenario") == "proxy":
        for row in http["rows"]:
            assert proxy_for(row["url"], row["env"]) == row["proxy"], row
        return
    if http.get("scenario") == "url":
        for row in http["rows"]:
            if row["wire"] == "chat":
                assert endpoint(row["base_url"], SUFFIX) == row["expect_url"]
        return
    clock = ManualClock()
    async with chat_against(*script_of(http), clock=clock, retry=RetryPolicy()) as (model, server):
        outcome = await outcome_of(model, request_for(http))
        check_answer(http["expect"], outcome, server, clock)
