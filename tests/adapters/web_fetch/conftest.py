"""The hostile server, one for each file of tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.fixtures import fixture_folder
from tests.rigs.web import Hostile, hostile_server


@pytest.fixture(scope="module")
def running(pytestconfig: pytest.Config) -> Iterator[Hostile]:
    with hostile_server(fixture_folder(pytestconfig, "web")) as server:
        yield server


@pytest.fixture
def hostile(running: Hostile) -> Hostile:
    """The server with an empty log."""
    running.log()
    return running


@pytest.fixture
def web_pages(pytestconfig: pytest.Config) -> Path:
    """The folder of single pages."""
    return fixture_folder(pytestconfig, "web")
