"""
The environment of the peers: one Python with Norma's packages and those that Norma is measured against.

Norma itself is found by links to its folders, as an installed wheel would be: an editable install adds a
finder to every start, which is not Norma's cost.
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


def python() -> Path:
    """The interpreter of the peers, made at the first call (a minute or two)."""
    environment = CACHE / "bench" / f"python-{sys.version_info[0]}.{sys.version_info[1]}"
    with one_at_a_time("bench"):
        found = environment / "bin" / "python"
        packages = Note(environment, "packages", LOCK.read_bytes() + OTHERS.read_bytes())
        if not packages.holds():
            say("making the environment of the benchmarks (a minute or two)")
            create(environment)
            wanted = environment / "wanted.txt"
            wanted.write_text(_without(LOCK.read_text(), NEVER_USED))
            pip(found, "--no-deps", "--requirement", str(wanted))
            pip(found, "--requirement", str(OTHERS))
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
