"""
Create a virtual environment with what a lock file lists and this project, or leave it alone.

Needs nothing but the standard library, so that any Python can run it. What was installed is noted in the
environment as digests. While they hold, a run ends in a moment; when one changes, only that part is redone.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
OLDEST = (3, 11)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path, help="folder of the environment")
    parser.add_argument("lock", type=Path, help="requirements file with exact versions")
    parser.add_argument("--link", type=Path, help="symbolic link to keep pointing at the environment")
    arguments = parser.parse_args()
    environment = ROOT / arguments.environment
    with one_at_a_time(environment.name):
        ensure(environment, ROOT / arguments.lock)
        if arguments.link is not None:
            link(ROOT / arguments.link, environment)
    return 0


def ensure(environment: Path, lock: Path) -> None:
    """Bring the environment to the state that *lock* and pyproject.toml ask for."""
    python = environment / "bin" / "python"
    if not succeeds(str(python), "-m", "pip", "--version"):
        say(f"creating {environment.name} with Python {sys.version.split()[0]}")
        create(environment)
    packages = Note(environment, "packages", lock.read_bytes())
    if not packages.holds():
        say(f"installing what {lock.relative_to(ROOT)} lists into {environment.name} (a minute or two)")
        pip(python, "--no-deps", "--requirement", str(lock))
        packages.write()
    project = Note(environment, "project", installed_part())
    if not project.holds():
        say(f"installing this project into {environment.name}")
        pip(python, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
        project.write()


def installed_part() -> bytes:
    """Give what an installation takes from pyproject.toml; the rest of it may change without a new one."""
    import tomllib  # here, so that a Python too old for it gets as far as being told so

    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return repr(
        (tables["build-system"], tables["project"], tables["tool"]["setuptools"]["package-dir"])
    ).encode()


class Note:
    """A file in the environment that says from what something was installed."""

    def __init__(self, environment: Path, name: str, origin: bytes) -> None:
        self._path = environment / f"norma-{name}.sha256"
        self._digest = hashlib.sha256(origin).hexdigest()

    def holds(self) -> bool:
        return self._path.exists() and self._path.read_text() == self._digest

    def write(self) -> None:
        self._path.write_text(self._digest)


def create(environment: Path) -> None:
    """Make an empty environment that has pip, with whatever this Python offers for that."""
    shutil.rmtree(environment, ignore_errors=True)
    if succeeds(sys.executable, "-m", "venv", str(environment)):
        return
    # Some distributions split venv off from Python. A private virtualenv does the same and needs pip alone;
    # with --target it also goes past the mark that forbids pip to change the system's own packages.
    say("this Python has no working venv; using virtualenv instead")
    shutil.rmtree(environment, ignore_errors=True)
    private = CACHE / f"virtualenv-{sys.version_info[0]}.{sys.version_info[1]}"
    if not (private / "virtualenv").is_dir():
        pip(Path(sys.executable), "--target", str(private), "virtualenv")
    subprocess.run(
        [sys.executable, "-m", "virtualenv", "--quiet", "--no-periodic-update", str(environment)],
        check=True,
        env={**os.environ, "PYTHONPATH": str(private)},
    )


def pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True, stdin=subprocess.DEVNULL)


def succeeds(*command: str) -> bool:
    """Say whether a command can be started and ends well; a link to a Python that has gone can't."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False


def link(place: Path, environment: Path) -> None:
    """Let *place* lead to the environment, unless a folder of somebody's own is there."""
    if place.is_dir() and not place.is_symlink():
        return
    if not place.is_symlink() or place.readlink() != Path(environment.name):
        place.unlink(missing_ok=True)  # virtualenv leaves a file here that names the environment
        place.symlink_to(environment.name)


@contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Let a second run wait for the first, so that two never install into one environment."""
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    print(f"== {line}", flush=True)


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        sys.exit("Norma needs Python 3.11 or newer; name one, as in: make test PYTHON=python3.12")
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        sys.exit(f"failed ({failure.returncode}): {' '.join(map(str, failure.cmd))}")
