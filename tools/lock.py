"""
Write the lock files: exact versions that hold on every supported Python, from the bounds in pyproject.toml.

Needs uv, which it installs into a private folder. Versions that are locked already stay, unless it is told
--upgrade.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRIVATE = ROOT / ".cache" / "uv"
COMPILE = ("pip", "compile", "pyproject.toml", "--quiet", "--universal", "--python-version", "3.11")
WORDS = (
    "--annotation-style",
    "line",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--custom-compile-command",
    "make lock",
)


def main(arguments: list[str]) -> int:
    environment = {**os.environ, "PYTHONPATH": str(PRIVATE)}
    if not (PRIVATE / "uv").is_dir():
        command = [sys.executable, "-m", "pip", "install", "-qq", "--target", str(PRIVATE), "uv"]
        subprocess.run(command, check=True)
    for name, choice in (
        ("dev", ("--all-extras", "--group", "dev")),
        # The same versions as in development, without its tools.
        ("run", ("--all-extras", "--group", "build", "--constraint", "requirements/dev.txt")),
    ):
        output = ("--output-file", f"requirements/{name}.txt")
        command = [sys.executable, "-m", "uv", *COMPILE, *WORDS, *choice, *output, *arguments]
        subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
