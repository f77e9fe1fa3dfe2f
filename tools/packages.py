"""
Compare the packages that pyproject.toml lists with the folders on disk.

Without an option it prints the difference and fails when there is one; with --write it mends the list.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOP_FOLDERS = ("adapters", "app", "domain", "ports")


def on_disk(root: Path = ROOT) -> list[str]:
    """Name every folder that holds a Python module, sorted."""
    folders = {module.parent for top in TOP_FOLDERS for module in (root / top).rglob("*.py")}
    return sorted(".".join(("norma", *folder.relative_to(root).parts)) for folder in folders)


def listed(root: Path = ROOT) -> list[str]:
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["tool"]["setuptools"]["packages"])


def write(root: Path = ROOT) -> None:
    file = root / "pyproject.toml"
    lines = "".join(f'    "{name}",\n' for name in on_disk(root))
    text = file.read_text(encoding="utf-8")
    changed, count = re.subn(r"(?ms)^packages = \[\n.*?^\]$", f"packages = [\n{lines}]", text)
    if count != 1:
        raise SystemExit("pyproject.toml has no list of packages in the shape that this command writes")
    if changed != text:
        file.write_text(changed, encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        write()
    elif arguments:
        raise SystemExit(__doc__)
    disk, list_ = on_disk(), listed()
    for name in sorted(set(disk) - set(list_)):
        print(f"not listed: {name}")
    for name in sorted(set(list_) - set(disk)):
        print(f"listed, but no such folder: {name}")
    return 0 if disk == list_ else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
