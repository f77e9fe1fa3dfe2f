"""Commands as real processes, each test with a home and a workspace of its own."""

from pathlib import Path

import pytest

from tests.rigs.command import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run commands in."""
    return Bench(tmp_path)
