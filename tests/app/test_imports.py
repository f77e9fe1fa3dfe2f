"""What a host pays for the import alone."""

import subprocess
import sys

OURS = "from norma.app import Settings, SettingsError, open_norma"
NOT_YET = ("aiohttp", "asyncio", "cattrs", "dependency_injector", "lxml", "prompt_toolkit", "rich", "sqlite3")

MEASURE = """
import sys
{statement}
memory = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(memory, *sys.modules)
"""


def cost(statement: str) -> tuple[int, set[str]]:
    """Peak memory (KiB) of a fresh interpreter that runs *statement*, and the modules it has loaded."""
    command = [sys.executable, "-c", MEASURE.format(statement=statement)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    memory, *modules = done.stdout.split()
    return int(memory), set(modules)


def test_the_import_loads_nothing_that_is_needed_later() -> None:
    _, modules = cost(OURS)
    assert modules.isdisjoint(NOT_YET)


def test_the_import_takes_far_less_memory_than_the_network_library() -> None:
    empty, ours, floor = (cost(statement)[0] for statement in ("pass", OURS, "import aiohttp, orjson"))
    assert ours - empty < 0.5 * (floor - empty)
