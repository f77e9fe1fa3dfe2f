"""What the tests of the embedded model share: its weights, and the mark of those that need them."""

import asyncio
import os

import pytest

from norma.adapters.embedded.fetch import default_cache, fetch_model


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "model: runs the real embedded model; fetches its weights once")


@pytest.fixture(scope="session")
def gguf() -> str:
    """The real weights, in the cache that `make run` uses too; a failure if they can't be had."""
    return asyncio.run(fetch_model(default_cache(os.environ), progress=print))
