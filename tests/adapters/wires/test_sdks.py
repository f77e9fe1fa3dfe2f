"""
The official SDKs as other readers of the same recorded bytes: text, calls, arguments, stop and usage agree
with what is read here, or the difference is listed with its reason.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import ToolCall, text_of
from tests.adapters.wires.codecs import SHORT
from tests.rigs import sdk_reader
from tests.rigs.fixtures import fixture_folder
from tests.rigs.model_fixtures import FOLDER, Outcome, fixtures_in, outcome_of, request_for
from tests.rigs.model_peers import SDKS, python_with
from tests.rigs.wire_models import WIRES, an_egress
from tests.rigs.wire_server import Scripted, scripted, wire_server

DIFFERENCES: dict[str, str] = {
    "MW-05": "the SDK takes comments between the lines of an event for events; the grammar says to skip them",
    "MW-06": "the SDK keeps the mark at the start, and so loses the first event",
    "MW-08": "the SDK wants item events before deltas",
    "MW-09": "the SDK drops a last event without a blank line, and its finish reason with it",
    "MW-16": "the SDK wants response.created first",
    "MW-18": "the SDK takes a heartbeat without JSON for an event",
    "MW-22": "the SDK does not read a JSON body where a stream was asked for",
    "MW-35": "the SDK can't join lists of content parts",
    "MW-38": "the SDK does not read usage inside the choice",
    "MW-40": "the SDK needs the index of a call",
    "MW-41": "the SDK needs the index of a call",
    "MW-44": "the SDK appends a name that is repeated",
    "MW-46": "the SDK hands out absent arguments as null",
    "MW-47": "the SDK hands out arguments as the object that they are",
    "MW-48": "the SDK takes a list, a string and a number for arguments",
    "MW-49": "the SDK's helper raises for an answer that reached its limit",
    "MW-51": "Python's JSON reads NaN and Infinity, which are no JSON",
    "MW-57": "the SDK needs a usage report",
    "MW-58": "the SDK lets a later zero erase the count of the start, and a later null the stop reason",
    "MW-60": "the SDK lets a later null erase the stop reason",
    "MW-72": "the SDK's helper knows no end but response.completed",
    "MW-73": "the SDK's helper knows no end but response.completed",
    "MW-74": "the SDK wants an added event before the item is done",
    "MW-75": "the SDK wants a done event for each item",
    "MW-76": "the SDK takes the empty output of the end for all there is",
    "MW-78": "the SDK wants item events before deltas",
    "MW-81": "the SDK wants item events before deltas",
}
"""Fixtures that an SDK reads otherwise, and why ours is right."""

_STOPS = {
    "stop": ("end_turn", "refusal", "tool_use"),
    "end_turn": ("end_turn",),
    "completed": ("end_turn", "tool_use", "refusal"),
    "tool_calls": ("tool_use",),
    "length": ("max_tokens",),
    "max_output_tokens": ("max_tokens",),
    "model_context_window_exceeded": ("context_overflow",),
}
"""The SDKs' words, and what they are here."""


def _cases(config: pytest.Config) -> dict[str, tuple[str, dict[str, Any]]]:
    folder = fixture_folder(config, FOLDER)
    given = config.getoption("--fixture-dir") is not None
    return {
        row["id"]: (wire, row)
        for short, wire in SHORT.items()
        for row in fixtures_in(folder, wire=short, kinds=("stream", "json"), may_be_none=given)
        if row["expect"]["outcome"] == "ok"
    }


@pytest.mark.peers
@pytest.mark.timeout(300)  # the first run installs them
async def test_the_sdks_read_the_same_of_the_same_bytes(request: pytest.FixtureRequest) -> None:
    python = await asyncio.to_thread(python_with, "sdks", SDKS)
    cases = _cases(request.config)
    async with wire_server(Scripted()) as server, an_egress() as egress:
        server.by_path = {f"/{name}/": scripted(row) for name, (_, row) in cases.items()}
        theirs = await _theirs(python, server.url, cases)
        different: dict[str, str] = {}
        for name, (wire, row) in cases.items():
            url = f"{server.url}/{name}"
            model = WIRES[wire](egress, ManualClock(), base_url=url, model="m", api_key=None)
            ours = _ours(await outcome_of(model, request_for(row)))
            if (difference := _difference(theirs[name], ours)) is not None:
                different[name] = difference
    surprising = {name: text for name, text in different.items() if name not in DIFFERENCES}
    assert not surprising, json.dumps(surprising, indent=1)
    if request.config.getoption("--fixture-dir") is None:
        assert DIFFERENCES.keys() <= different.keys(), "a listed difference is none any more"
        assert len(different) < len(cases) / 2


async def _theirs(python: str, url: str, cases: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    asked = [
        {"id": name, "wire": wire, "stream": row["kind"] == "stream", "url": f"{url}/{name}"}
        for name, (wire, row) in cases.items()
    ]
    child = await asyncio.create_subprocess_exec(
        python,
        str(Path(sdk_reader.__file__)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await child.communicate(json.dumps(asked).encode())
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0, err.decode()
    found: dict[str, Any] = json.loads(out)
    return found


def _ours(outcome: Outcome) -> dict[str, Any]:
    assert outcome.finished is not None, outcome.error
    calls = [block for block in outcome.blocks if isinstance(block, ToolCall)]
    return {
        "text": text_of(outcome.blocks),
        "calls": [
            [call.name, {"INVALID": call.raw} if call.invalid else dict(call.arguments)] for call in calls
        ],
        "stop": outcome.finished.stop.reason,
        "input": outcome.finished.usage.input_tokens,
        "output": outcome.finished.usage.output_tokens,
    }


def _difference(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    if "error" in theirs:
        return str(theirs["error"])
    same = ours["stop"] in _STOPS.get(theirs["stop"], (theirs["stop"],))
    theirs = {**theirs, "stop": ours["stop"] if same else theirs["stop"]}
    return None if theirs == ours else f"theirs {theirs} ours {ours}"
