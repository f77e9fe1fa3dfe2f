"""The contracts for import-linter catch what they are there for: each sees a tree with one wrong import."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINTER = Path(sysconfig.get_path("scripts")) / "lint-imports"
VENDORS = ("anthropic", "openai_chat", "openai_responses", "embedded", "web_fetch", "web_search")
MODULES = (
    "app.running",
    *(f"adapters.{vendor}.model" for vendor in VENDORS),
    "adapters.http.egress",
    "domain.engine.turn",
    "domain.tools.read",
    "ports.model",
    "domain.policy.rules",
    "domain.model.blocks",
)


def broken_by(tree: Path, module: str, line: str) -> str:
    """Write a small tree with *line* in *module*; give the linter's words, or nothing if it is content."""
    for name in MODULES:
        file = tree.joinpath("norma", *name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(line if name == module else "")
        for folder in (file.parent, file.parent.parent):
            if folder.name != "norma":
                (folder / "__init__.py").touch()
    done = subprocess.run(
        [LINTER, "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        env={"PYTHONPATH": str(tree), "COLUMNS": "200"},
        cwd=tree,
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("domain.model.blocks", "import norma.domain.policy.rules", "app, then adapters"),
        ("domain.policy.rules", "import norma.ports.model", "app, then adapters"),
        ("ports.model", "import norma.domain.engine.turn", "app, then adapters"),
        ("ports.model", "import norma.domain.tools.read", "app, then adapters"),
        ("domain.engine.turn", "import norma.adapters.http.egress", "app, then adapters"),
        ("domain.engine.turn", "import norma.domain.tools.read", "app, then adapters"),
        ("domain.tools.read", "import norma.domain.engine.turn", "app, then adapters"),
        ("adapters.http.egress", "import norma.domain.engine.turn", "app, then adapters"),
        ("adapters.http.egress", "import norma.domain.tools.read", "app, then adapters"),
        ("adapters.http.egress", "import norma.app.running", "app, then adapters"),
        ("adapters.embedded.model", "import norma.adapters.anthropic.model", "vendors are siblings"),
        ("adapters.web_search.model", "import norma.adapters.web_fetch.model", "vendors are siblings"),
        (
            "adapters.openai_responses.model",
            "import norma.adapters.openai_chat.model",
            "vendors are siblings",
        ),
        ("domain.engine.turn", "import os", "through ports alone"),
        ("ports.model", "import aiohttp", "through ports alone"),
        ("adapters.http.egress", "import dependency_injector", "only app knows the container"),
    ],
)
def test_contract_catches(module: str, line: str, contract: str, tmp_path: Path) -> None:
    verdict = broken_by(tmp_path, module, line)
    assert line.removeprefix("import ") in verdict
    assert any(contract in row and "BROKEN" in row for row in verdict.splitlines())


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("app.running", "import dependency_injector, norma.adapters.http.egress, norma.domain.engine.turn"),
        ("adapters.embedded.model", "import os, aiohttp, norma.adapters.http.egress, norma.ports.model"),
        (
            "domain.engine.turn",
            "import norma.ports.model, norma.domain.policy.rules, norma.domain.model.blocks",
        ),
    ],
)
def test_contract_lets_through(module: str, line: str, tmp_path: Path) -> None:
    assert broken_by(tmp_path, module, line) == ""
