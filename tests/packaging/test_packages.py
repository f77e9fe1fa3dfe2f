"""The packages that ship are listed by hand; the list and the folders must agree."""

from pathlib import Path

import pytest

from tools import packages

ROOT = Path(__file__).resolve().parents[2]


def test_listed_packages_are_the_folders() -> None:
    assert packages.listed() == packages.on_disk(), "mend it with: python tools/packages.py --write"


@pytest.mark.parametrize("package", packages.on_disk())
def test_folder_with_modules_is_a_package(package: str) -> None:
    assert ROOT.joinpath(*package.split(".")[1:], "__init__.py").is_file()


@pytest.mark.parametrize("folder", packages.TOP_FOLDERS)
def test_top_folder_says_that_it_is_typed(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()


def test_norma_is_a_namespace_that_others_may_share() -> None:
    assert not (ROOT / "__init__.py").exists()
    assert "norma" not in packages.listed()


def test_list_can_be_written_anew(tmp_path: Path) -> None:
    (tmp_path / "domain/model").mkdir(parents=True)
    (tmp_path / "domain/model/blocks.py").touch()
    (tmp_path / "domain/empty").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.setuptools]\npackages = [\n    "norma.gone",\n]\nkept = 1\n'
    )
    packages.write(tmp_path)
    assert packages.listed(tmp_path) == ["norma.domain.model"]
    assert "kept = 1" in (tmp_path / "pyproject.toml").read_text()
