"""Where tables of cases lie: tests/fixtures, or what `--fixture-dir` has instead."""

import json
from pathlib import Path
from typing import Any

import pytest

OURS = Path(__file__).parent.parent / "fixtures"


def fixture_folder(config: pytest.Config, name: str) -> Path:
    """The folder of that name in `--fixture-dir` if it has one, else ours."""
    given: Path | None = config.getoption("--fixture-dir")
    theirs = given and given / name
    return theirs if theirs and theirs.is_dir() else OURS / name


def rows_of(config: pytest.Config, folder: str, file: str) -> list[dict[str, Any]]:
    """The rows of a table; an empty one is a fault, since its test would prove nothing."""
    text = (fixture_folder(config, folder) / file).read_text("utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    assert rows, f"{folder}/{file} has no rows"
    return rows
