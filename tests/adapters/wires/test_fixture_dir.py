"""`--fixture-dir` runs fixtures of the same form from elsewhere, and fails where one is not met."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.rigs.fixtures import OURS
from tests.rigs.model_fixtures import FOLDER

ROOT = OURS.parents[1]


def run(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    here = "tests/adapters/wires/test_fixtures.py"
    return subprocess.run(
        [*command, here, "--fixture-dir", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=50
    )


def test_fixtures_from_elsewhere_are_run_and_judged(tmp_path: Path) -> None:
    theirs = tmp_path / FOLDER
    theirs.mkdir()
    for name, changes in (("MW-66", {}), ("MW-79", {"partial": {"text": "something else"}})):
        row: dict[str, Any] = json.loads((OURS / FOLDER / f"{name}.json").read_text())
        row["expect"] |= changes
        (theirs / f"{name}.json").write_text(json.dumps(row))
    done = run(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "MW-79" in done.stdout
