"""What the tests of the file search share: both backends, the tree of cases, and a look at our children."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from norma.adapters.grep.search import GrepSearch
from norma.ports.file_search import Permit, SearchQuery, SearchResult

BACKENDS = ("ripgrep", "python")
BOUND_S = 50


def real_ripgrep() -> str:
    """The ripgrep of the development environment, which is part of it."""
    beside = shutil.which("rg", path=os.path.dirname(sys.executable)) or shutil.which("rg")
    assert beside, "the development environment has ripgrep: make env"
    return beside


def backend(name: str, *, program: str | None = None, **wishes: Any) -> GrepSearch:
    """A search that answers with the backend of that name."""
    if name == "python":
        return GrepSearch(environ={"NORMA_DISABLE_RIPGREP": "1"}, **wishes)
    return GrepSearch(environ={}, ripgrep=program or real_ripgrep(), **wishes)


def nothing(path: str) -> bool:
    return False


async def ask(
    search: GrepSearch,
    query: SearchQuery,
    *,
    excluded: Callable[[str], bool] = nothing,
    progress: Callable[[str], None] = lambda line: None,
    permit: Permit | None = None,
) -> SearchResult:
    """The answer, bounded."""
    work = search.search(query, progress=progress, excluded=excluded, permit=permit)
    return await asyncio.wait_for(work, BOUND_S)


def shown(result: SearchResult, root: Path) -> list[str]:
    """The rows as the tables of cases write them: `path`, `path:line` or `path=count`."""
    rows = []
    for line in result.lines:
        path = os.path.relpath(line.path, root)
        number = "" if line.line is None else f":{line.line}"
        rows.append(path + number + ("" if line.count is None else f"={line.count}"))
    return rows


def tree_of_cases(folder: Path, into: Path) -> Path:
    """Run the `make_tree.py` of *folder*; the workspace that it built."""
    subprocess.run(
        [sys.executable, str(folder / "make_tree.py"), str(into)], check=True, stdout=subprocess.DEVNULL
    )
    return into / "ws"


def put_program(fakes: Path, fake: str, bin_folder: Path, name: str) -> Path:
    """Put the fake program *fake* into *bin_folder* as *name*."""
    bin_folder.mkdir(exist_ok=True)
    target = bin_folder / name
    shutil.copyfile(fakes / fake, target)
    target.chmod(0o755)
    return target


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Fill *folder*."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def stuck(folder: Path) -> SearchQuery:
    """A query that Python's `re` doesn't finish in a lifetime: its linear engine is for single lines."""
    write(folder / "stuck", {"evil.txt": b"b\n" + b"a" * 60 + b"!"})
    return SearchQuery("(?:a+)+b", str(folder / "stuck"), multiline=True)


def children() -> list[str]:
    """The command lines of the processes that are our children now; those that are not reaped too."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text("utf-8", "replace").rpartition(")")[2].split()
            words = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def cancel_at_random(
    work: Callable[[], Coroutine[Any, Any, object]], times: int, pauses: Sequence[float]
) -> None:
    """Cancel *work* that often, each time after a few of *pauses* (seconds): nothing of it may be left."""
    await work()
    threads, handles = threading.active_count(), open_files()
    moments = random.Random(7)
    cancelled = 0
    for _ in range(times):
        task = asyncio.create_task(work())
        for _ in range(moments.randint(0, 30)):
            await asyncio.sleep(moments.choice(pauses))
        task.cancel()
        await asyncio.wait([task])
        cancelled += task.cancelled()
        assert children() == []
    assert cancelled
    await until(lambda: threading.active_count() <= threads)
    assert open_files() <= handles


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something outside this process, bounded."""
    async with asyncio.timeout(BOUND_S):
        while not holds():  # noqa: ASYNC110 - another process makes it true
            await asyncio.sleep(0.002)
