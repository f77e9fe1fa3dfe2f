"""What a stranger gets: a wheel, installed with its dependencies alone into an empty environment."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import environment, packages

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)

EXTRAS = frozenset({"prompt_toolkit", "rich", "xllamacpp"})
NEEDS_PYTEST = "norma.ports.contracts.pytest"

IMPORT_ALL = """
import importlib, json, pkgutil, norma
missing = {}
for module in pkgutil.walk_packages(norma.__path__, "norma."):
    if module.name.endswith(".__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        missing[module.name] = error.name
print(json.dumps(missing))
"""
CLIENT = """
import norma.adapters, norma.app, norma.domain, norma.ports
from norma.domain.model.usage import Usage
reveal_type(Usage().output_tokens)
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy, since a build leaves files behind that the next one would take in."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, source)
    for name in packages.TOP_FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its core dependencies."""
    place = tmp_path_factory.mktemp("installed")
    environment.create(place / "env")
    environment.pip(place / "env/bin/python", "--constraint", str(ROOT / "requirements/run.txt"), str(wheel))
    return place / "env"


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    on_disk = {
        f"norma/{path.relative_to(ROOT).as_posix()}"
        for folder in packages.TOP_FOLDERS
        for path in [*(ROOT / folder).rglob("*.py"), ROOT / folder / "py.typed"]
    }
    assert files == on_disk


def test_wheel_carries_the_license(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
    assert archive.read(name) == (ROOT / "LICENSE").read_bytes()


def test_every_module_imports_without_extras(installed: Path, tmp_path: Path) -> None:
    missing = json.loads(run(installed / "bin/python", "-I", "-c", IMPORT_ALL, cwd=tmp_path))
    missing.pop(NEEDS_PYTEST, None)
    assert missing == {}


READ_A_PDF = """
import asyncio, sys
from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.pdf.documents import PdfDocuments
from norma.domain.tools.read import Read
from norma.domain.tools.remembered import Remembered
from norma.ports.tool import ToolRun

async def main():
    tool = Read(DiskWorkspace([sys.argv[1]]), Remembered(), PdfDocuments())
    arguments = {"file_path": "f.pdf"}
    output = await tool.run(ToolRun(arguments, tool.examine(arguments), print))
    print(output.blocks[0].text)

asyncio.run(main())
"""


def test_a_pdf_is_described_without_its_extra_and_the_extra_named(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.pdf").write_bytes(b"%PDF-1.7\n")
    said = run(installed / "bin/python", "-I", "-c", READ_A_PDF, str(tmp_path), cwd=tmp_path)
    assert said == (
        "[f.pdf is a binary file (a PDF document, 9 bytes) and is not shown; "
        "pip install 'norma-agent[pdf]' lets its text be read]\n"
    )


def test_types_reach_the_caller(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable")
    report = run(*mypy, installed / "bin/python", "client.py", cwd=tmp_path)
    assert 'Revealed type is "int | None"' in report


def test_command_explains_itself(installed: Path, tmp_path: Path) -> None:
    assert "usage" in run(installed / "bin/norma", "--help", cwd=tmp_path).lower()
