"""
Run every check that reads the code without running it: style, types, layers and the list of packages.

    python tools/check.py            all of them, each to its end
    python tools/check.py mypy ruff  only those
    python tools/check.py --fix      first mend what can be mended
"""

import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sysconfig.get_path("scripts"))
NAMESPACE = ROOT / ".ns" / "norma"
TOP_FOLDERS = ("adapters", "app", "domain", "ports")

MENDERS = (
    (SCRIPTS / "ruff", "check", "--fix", "--quiet", "--exit-zero", "."),
    (SCRIPTS / "ruff", "format", "--quiet", "."),
    (sys.executable, "tools/packages.py", "--write"),
)
CHECKS = {
    "ruff": (SCRIPTS / "ruff", "check", "."),
    "format": (SCRIPTS / "ruff", "format", "--check", "."),
    "mypy": (SCRIPTS / "mypy", ".ns/norma", "tests", "tools"),
    "pyright": (SCRIPTS / "pyright", "--project", ".ns", "--pythonpath", sys.executable),
    "imports": (SCRIPTS / "lint-imports", "--no-logo"),
    "packages": (sys.executable, "tools/packages.py"),
}


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name != "--fix"] or list(CHECKS)
    if not set(names) <= set(CHECKS):
        raise SystemExit(f"{__doc__}\nThe checks are {', '.join(CHECKS)}.")
    lay_out_namespace()
    if "--fix" in arguments:
        for command in MENDERS:
            subprocess.run(command, check=False, cwd=ROOT, stdin=subprocess.DEVNULL)
    return 0 if all([passes(name) for name in names]) else 1  # noqa: C419 - each runs, also after a failure


def lay_out_namespace() -> None:
    """
    Make .ns/norma with a link to each top folder, which is where mypy and pyright find the norma namespace.

    A link to the repository itself would not do: the type checkers would follow it round and round.
    """
    NAMESPACE.mkdir(parents=True, exist_ok=True)
    for folder in TOP_FOLDERS:
        link = NAMESPACE / folder
        if not link.is_symlink():
            link.symlink_to(Path("../..") / folder)
    # pyright follows a link only when it is named; tests/typing pins what callers see inferred.
    include = [f"norma/{folder}" for folder in TOP_FOLDERS]
    if (ROOT / "tests" / "typing").is_dir():
        include.append("../tests/typing")
    settings = {"extends": "../pyproject.toml", "include": include, "extraPaths": ["."]}
    (NAMESPACE.parent / "pyrightconfig.json").write_text(json.dumps(settings, indent=2) + "\n")


def passes(name: str) -> bool:
    """Run one check, say how it went in a line, and show its output when it failed."""
    started = time.monotonic()
    done = subprocess.run(
        [str(word) for word in CHECKS[name]],
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = done.stdout.replace(f"{ROOT}/", "").replace(".ns/norma/", "")
    # pyright is content when it finds nothing to check.
    passed = done.returncode == 0 and "No source files found" not in output
    print(f"== {name}: {'passed' if passed else 'FAILED'} in {time.monotonic() - started:.1f} s", flush=True)
    if not passed:
        print(output, flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
