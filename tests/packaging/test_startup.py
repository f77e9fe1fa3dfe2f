"""What importing the application costs: nothing that is optional, and nothing heavy before it is used."""

import subprocess
import sys

LATER = ("aiohttp", "lxml", "prompt_toolkit", "pypdf", "rich", "xllamacpp")


def test_importing_app_leaves_heavy_packages_for_later() -> None:
    program = f"import sys, norma.app; print(*sorted(set(sys.modules) & set({LATER!r})))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
