"""The mark of tests that run the real small model."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "model: runs the real embedded model; fetches its weights once")
