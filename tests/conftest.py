"""What holds for every test."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code, so no example has a deadline. A continuous build repeats itself.
settings.register_profile("norma", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("norma"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "norma")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fixture-dir",
        type=Path,
        help="tables of cases laid out as tests/fixtures; a folder in it replaces ours of that name",
    )
    parser.addoption(
        "--ripgrep",
        action="append",
        help="a ripgrep to compare the Python search with, instead of the installed one; may be repeated",
    )
    parser.addoption(
        "--grep-trees",
        type=int,
        default=40,
        help="random folders on which the two file searches are compared; 1000 take some minutes",
    )
