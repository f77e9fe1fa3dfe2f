"""
The environments of the peers: one with Norma's packages, one also with those that Norma is measured against.

They are apart because dependency-injector imports pydantic and starlette wherever it finds them. Norma itself
is found by links to its folders, as an installed wheel would be: an editable install adds a finder to every
start, which is not Norma's cost.
"""

import compileall
import os
import sys
from pathlib import Path

from tools.environment import CACHE, ROOT, Note, create, one_at_a_time, pip, say

FOLDERS = ("adapters", "app", "domain", "ports")
LOCK = ROOT / "requirements" / "run.txt"
OTHERS = Path(__file__).parent / "requirements.txt"
NEVER_USED = ("xllamacpp", "prompt-toolkit", "rich")
"""Of the lock: large, and in no benchmark."""


def norma() -> Path:
    """The interpreter of the floor and of Norma: only what Norma's own lock lists, as users have it."""
    return _python("norma", LOCK.read_text())


def others() -> Path:
    """The interpreter of what Norma is measured against. It could run Norma, too."""
    return _python("others", LOCK.read_text(), OTHERS)


def _python(name: str, lock: str, *more: Path) -> Path:
    """An environment, made at the first call (a minute or two)."""
    environment = CACHE / "bench" / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    with one_at_a_time(f"bench-{name}"):
        found = environment / "bin" / "python"
        packages = Note(environment, "packages", "\n".join([lock, *map(Path.read_text, more)]).encode())
        if not packages.holds():
            say(f"making the environment of the benchmarks for {name} (a minute or two)")
            create(environment)
            wanted = environment / "wanted.txt"
            wanted.write_text(_without(lock, NEVER_USED))
            pip(found, "--no-deps", "--requirement", str(wanted))
            for file in more:
                pip(found, "--requirement", str(file))
            packages.write()
    return found


def _without(lock: str, names: tuple[str, ...]) -> str:
    return "\n".join(line for line in lock.splitlines() if not line.startswith(names))


def variables(*more: Path) -> dict[str, str]:
    """The environment of a peer's process: Norma and this folder can be imported, and .pyc files are used."""
    path = CACHE / "bench" / "path"
    (path / "norma").mkdir(parents=True, exist_ok=True)
    for folder in FOLDERS:
        link = path / "norma" / folder
        if not link.is_symlink():
            link.symlink_to(ROOT / folder)
        compileall.compile_dir(str(ROOT / folder), quiet=2)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    }
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, (path, ROOT, *more)))}
