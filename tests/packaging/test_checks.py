"""The one command that checks is content with good code, and every one of its checks sees bad code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Not the imports: the linter reads what is installed. test_contracts.py shows it trees of its own.
CHECKS = ("ruff", "format", "mypy", "pyright", "packages")

GOOD = '''"""A choice."""

from enum import Enum


class Colour(Enum):
    RED = 1
    BLUE = 2


def warm(colour: Colour) -> bool:
    match colour:
        case Colour.RED:
            return True
        case Colour.BLUE:
            return False
'''
BARE = GOOD.replace("from enum import Enum\n", "from enum import Enum\n\nfrom domain import colours\n")
PARTIAL = GOOD[: GOOD.index("        case Colour.BLUE")].replace("-> bool", "-> bool | None")
UGLY = GOOD.replace("RED = 1", "RED  =  1")

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository that our own checks can be run on."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tools").mkdir()
    for name in ("check.py", "packages.py"):  # the others read code that is not in this tree
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    for folder in ("domain", "ports", "adapters", "app", "tests"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    subprocess.run([sys.executable, "tools/packages.py", "--write"], check=True, cwd=tmp_path)
    return tmp_path


def check(tree: Path, source: str, *names: str) -> tuple[bool, str]:
    (tree / "domain" / "colours.py").write_text(source)
    command = [sys.executable, "tools/check.py", *names]
    done = subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def test_good_code_passes(tree: Path) -> None:
    passed, output = check(tree, GOOD, *CHECKS)
    assert passed, output
    assert output.count("passed") == len(CHECKS)


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("ruff", BARE, "import norma.domain"),
        ("format", UGLY, "domain/colours.py"),
        ("mypy", PARTIAL, "[exhaustive-match]"),
        ("pyright", PARTIAL, "reportMatchNotExhaustive"),
    ],
)
def test_bad_code_fails(name: str, source: str, words: str, tree: Path) -> None:
    passed, output = check(tree, source, name)
    assert not passed
    assert words in output


def test_unlisted_package_fails(tree: Path) -> None:
    (tree / "ports" / "contracts").mkdir()
    (tree / "ports" / "contracts" / "__init__.py").touch()
    passed, output = check(tree, GOOD, "packages")
    assert not passed
    assert "not listed: norma.ports.contracts" in output


def test_first_failure_does_not_hide_the_second(tree: Path) -> None:
    passed, output = check(tree, BARE.replace("RED = 1", "RED  =  1"), "ruff", "format")
    assert not passed
    assert output.count("FAILED") == 2
