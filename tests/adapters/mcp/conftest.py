"""Servers for each test; what they leave behind is a failure."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rigs.fixtures import fixture_folder
from tests.rigs.mcp_servers import Servers, children


@pytest.fixture
async def servers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Servers]:
    """Servers of the fixtures, closed at the end; then no child and no task of theirs may be left."""
    before_children, before_tasks = set(children()), asyncio.all_tasks()
    made = Servers(fixture_folder(request.config, "mcp"), tmp_path)
    yield made
    await made.aclose()
    assert set(children()) <= before_children, "a child was left behind"
    left = asyncio.all_tasks() - before_tasks - {asyncio.current_task()}
    assert not left, f"tasks were left behind: {left}"
    assert all(server.waiting == 0 for server in made.made), "an id was left behind"


@pytest.fixture
def servers_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Servers:
    """Servers for a test that has an event loop of its own, and closes them there."""
    return Servers(fixture_folder(request.config, "mcp"), tmp_path)
