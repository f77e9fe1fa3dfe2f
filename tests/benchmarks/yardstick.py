"""
Norma under another folder of benchmarks.

*folder* has a `run.py` with the lists PEERS (environment, script, wire, variant) and IMPORTS (environment,
name, code) and a `main` that reads the command line, and `peers/_common.py`, which meters.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from tests.benchmarks import environment
from tests.benchmarks.norma_peer import MODELS
from tools.environment import CACHE

NAMES = ("raw", "openai", "anthropic", "mcp")
"""The yardstick's environments that ours stands in for, unless `--venvs` names others."""


def run(folder: Path, words: Sequence[str]) -> int:
    """Run the yardstick with Norma among its peers."""
    folder = folder.resolve()
    module = _loaded(folder / "run.py")
    ours = str(
        environment.norma().parent.parent
    )  # an absolute path stands for itself wherever it is joined to another
    script = str(Path(__file__).parent / "norma_peer.py")
    module.PEERS += [(ours, script, wire, variant) for wire in MODELS for variant in ("", "sqlite", "app")]
    module.IMPORTS.append((ours, "norma", "from norma.app import Settings, open_norma"))
    os.environ["PYTHONPATH"] = environment.variables(folder / "peers")["PYTHONPATH"]
    sys.argv = [str(folder / "run.py"), *_with_places(words, ours)]
    return int(module.main() or 0)


def _with_places(words: Sequence[str], ours: str) -> list[str]:
    out = list(words)
    if "--venvs" not in out:
        venvs = CACHE / "bench" / "venvs"
        venvs.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            link = venvs / name
            if not link.is_symlink():
                link.symlink_to(environment.others().parent.parent)
        out += ["--venvs", str(venvs)]
        if "--peers" not in out:
            out += ["--peers", ",".join([*NAMES, ours])]
    if "--out" not in out:
        out += ["--out", str(CACHE / "bench" / "yardstick.jsonl")]
    return out


def _loaded(file: Path) -> Any:
    spec = spec_from_file_location("norma_yardstick", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{file} is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
