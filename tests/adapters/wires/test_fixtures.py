"""Failures that people met on the three wires: tests/fixtures/model-wires, all of them."""

from typing import Any

import pytest

from norma.adapters.http.limiter import Limiter
from norma.adapters.http.proxy import ProxyRefused, parse_proxy, proxy_for
from norma.adapters.http.retry import RetryPolicy
from norma.adapters.memory.clock import ManualClock
from norma.domain.model.secrets import Secret
from tests.adapters.wires.answers import FINE
from tests.adapters.wires.codecs import SHORT
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
from tests.rigs.wire_models import WIRES, an_egress, model_against

_ELSEWHERE = {"client_config": "tests/adapters/http/test_egress.py, N6"}
_KINDS = {"answer": ("stream", "json"), "sent": ("request",), "http": ("http",)}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder = fixture_folder(metafunc.config, FOLDER)
    given = metafunc.config.getoption("--fixture-dir") is not None
    for name, kinds in _KINDS.items():
        if name in metafunc.fixturenames:
            rows = [
                row
                for wire in SHORT
                for row in fixtures_in(folder, wire=wire, kinds=kinds, may_be_none=given)
                if "cancel" not in row  # test_closing.py
                and row.get("scenario") not in _ELSEWHERE
            ]
            metafunc.parametrize(name, rows, ids=[row["id"] for row in rows])


async def test_an_answer_gives_what_its_fixture_says(answer: dict[str, Any]) -> None:
    async with model_against(SHORT[answer["wire"]], *script_of(answer)) as (model, server):
        check_answer(answer["expect"], await outcome_of(model, request_for(answer)), server)


async def test_a_request_is_sent_as_its_fixture_says(sent: dict[str, Any]) -> None:
    wire = SHORT[sent["wire"]]
    key = sent["input"]["config"]["api_key"]
    async with model_against(wire, FINE[wire], api_key=Secret(key)) as (model, server):
        outcome = await outcome_of(model, request_of(sent))
        assert outcome.error is None
        check_request(sent["expect"]["request"], server.requests[0])


async def test_a_scripted_server_is_handled_as_its_fixture_says(http: dict[str, Any]) -> None:
    if http.get("scenario") == "proxy":
        for row in http["rows"]:
            _check_proxy(row)
        return
    if http.get("scenario") == "url":
        async with an_egress() as egress:
            for row in http["rows"]:
                make = WIRES[SHORT[row["wire"]]]
                asked = make(egress, ManualClock(), base_url=row["base_url"], model="m", api_key=None)
                assert asked.encode(request_for({"kind": "json"})).url == row["expect_url"]
        return
    clock, limiter = ManualClock(), Counting()
    expect = http["expect"]
    wire = SHORT[http["wire"]]
    async with model_against(wire, *script_of(http), clock=clock, retry=RetryPolicy(), limiter=limiter) as (
        model,
        server,
    ):
        for _ in range(http.get("logical_requests", 1) - 1):
            await outcome_of(model, request_for(http))
        check_answer(expect, await outcome_of(model, request_for(http)), server, clock)
    if "limiter_acquires" in expect:
        assert limiter.acquired == expect["limiter_acquires"]


def _check_proxy(row: dict[str, Any]) -> None:
    wanted, given = row.get("proxy"), row.get("config_proxy", "env")

    def found() -> str | None:
        if given == "env":
            return proxy_for(row["url"], row["env"])
        return None if given == "none" else parse_proxy(given)

    if row.get("error") or wanted == "error":
        with pytest.raises(ProxyRefused):
            found()
    else:
        assert found() == wanted, row


class Counting(Limiter):
    """Lets everybody through, and counts."""

    def __init__(self) -> None:
        self.acquired = 0

    async def acquire(self) -> None:
        self.acquired += 1
