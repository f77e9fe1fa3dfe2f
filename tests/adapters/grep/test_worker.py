"""The process that searches in Python: what it may do, what it says, and files that need care."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from norma.adapters.grep import builtin
from norma.adapters.grep.worker import contents
from norma.ports.file_search import SearchQuery
from tests.adapters.grep.rigs import ask, backend, shown, write

CONFINED = """
import os, sys
{imports}
from norma.adapters.process.confined import confine
confine()
try:
    {deed}
except PermissionError as error:
    print("refused", error)
else:
    print("done")
"""


def run_confined(deed: str, folder: Path, imports: str = "") -> str:
    folders = [entry for entry in sys.path if os.path.isabs(entry)]
    script = f"import sys; sys.path += {folders!r}\n" + CONFINED.format(deed=deed, imports=imports)
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], cwd=folder, capture_output=True, check=False, text=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("deed", "imports"),
    [
        ("open('new', 'w')", ""),
        ("open('old', 'a')", ""),
        ("os.open('old', os.O_RDWR)", ""),
        ("os.remove('old')", ""),
        ("os.rename('old', 'new')", ""),
        ("os.mkdir('new')", ""),
        ("os.system('true')", ""),
        ("os.posix_spawn('/bin/true', ['true'], {})", ""),
        ("os.fork()", ""),
        ("subprocess.run(['true'])", "import subprocess"),
        ("socket.socket()", "import socket"),
        ("os.chmod('old', 0)", ""),
        ("ctypes.CDLL(None)", "import ctypes"),
    ],
)
def test_T4_the_worker_can_do_nothing_but_read(deed: str, imports: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("as it was")
    assert run_confined(deed, tmp_path, imports).startswith("refused")
    assert sorted(os.listdir(tmp_path)) == ["old"]
    assert (tmp_path / "old").read_text() == "as it was"


def test_T4_the_worker_can_read(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("as it was")
    assert run_confined("open('old').read(); os.listdir('.')", tmp_path) == "done\n"


async def test_T4_the_worker_imports_nothing_from_the_folder_that_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"json.py": b"raise SystemExit('needle was imported')\n", "norma/__init__.py": b"1/0\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = await ask(backend("python"), SearchQuery("needle", str(tmp_path)))
    assert shown(result, tmp_path) == ["json.py"]


def test_the_worker_starts_without_a_package_of_others() -> None:
    script = (
        "import sys; sys.path += sys.argv[1:]; import norma.adapters.grep.worker.__main__; "
        "print({name.partition('.')[0] for name in sys.modules} & {'attrs', 'attr', 'aiohttp', 'asyncio'})"
    )
    folders = [entry for entry in sys.path if os.path.isabs(entry)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, *folders], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", ["ripgrep", "python"])
async def test_G6_files_larger_than_a_window_are_searched_to_their_end(name: str, tmp_path: Path) -> None:
    line = "häy needle? no\n".encode()
    count = (5 << 20) // len(line)
    write(tmp_path, {"big.txt": line * count + b"last needle!\n", "wide.txt": b"x" * (5 << 20) + b"needle!"})
    result = await ask(backend(name), SearchQuery("needle!", str(tmp_path), "content", before=1))
    assert shown(result, tmp_path) == [f"big.txt:{count}", f"big.txt:{count + 1}", "wide.txt:1"]


@pytest.mark.parametrize("name", ["ripgrep", "python"])
async def test_G6_a_NUL_far_behind_keeps_what_is_well_before_it(name: str, tmp_path: Path) -> None:
    late = b"needle\n" + b"hay\n" * 50_000 + b"needle\n\0needle\n"
    write(tmp_path, {"late.dat": late, "early.dat": b"needle\n" * 10 + b"\0", "text.txt": b"needle\n"})
    rows = shown(await ask(backend(name), SearchQuery("needle", str(tmp_path), "content")), tmp_path)
    assert rows == ["late.dat:1", "text.txt:1"]
    rows = shown(await ask(backend(name), SearchQuery("needle", str(tmp_path), "count")), tmp_path)
    assert rows == ["text.txt=1"]
    for file, found in (("late.dat", ["late.dat:1"]), ("early.dat", [])):
        named = await ask(backend(name), SearchQuery("needle", str(tmp_path / file), "content"))
        assert shown(named, tmp_path) == found


async def test_a_file_that_is_too_large_is_named_in_a_note(tmp_path: Path) -> None:
    (tmp_path / "huge.bin").touch()
    os.truncate(tmp_path / "huge.bin", contents.LARGEST + 1)
    (tmp_path / "small.txt").write_text("needle\n")
    result = await ask(backend("python"), SearchQuery("needle", str(tmp_path)))
    assert shown(result, tmp_path) == ["small.txt"]
    assert any("huge.bin: larger than 1024 MiB" in note for note in result.notes)


async def test_G6_ripgrep_leaves_lines_with_too_many_matches_to_python(tmp_path: Path) -> None:
    """Its JSON would repeat each match of the line."""
    (tmp_path / "min.js").write_bytes(b"x;" * 300_000 + b"\n")
    result = await ask(backend("ripgrep"), SearchQuery("x", str(tmp_path), "content"))
    assert (result.backend, shown(result, tmp_path)) == ("python", ["min.js:1"])
    assert "too long to take in" in result.notes[0]


async def test_a_worker_that_breaks_is_an_error_and_no_empty_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from norma.ports.errors import PortError

    monkeypatch.setattr(builtin, "START", "raise SystemExit('out of order')")
    with pytest.raises(PortError, match="out of order"):
        await ask(backend("python"), SearchQuery("needle", str(tmp_path)))
