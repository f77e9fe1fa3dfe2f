"""A cancel at any pass of the loop leaves a whole file, old or new, and nothing beside it."""

import asyncio
import os
from typing import Any

import pytest

from tests.domain.tools.calling import Host

OLD = "old\n" * 50_000
NEW = OLD.replace("old", "new")
WAYS: dict[str, dict[str, Any]] = {
    "Write": {"file_path": "a/f", "content": NEW},
    "Edit": {"file_path": "a/f", "old_string": "old", "new_string": "new", "replace_all": True},
    "MultiEdit": {
        "file_path": "a/f",
        "edits": [
            {"old_string": "old", "new_string": "odd", "replace_all": True},
            {"old_string": "odd", "new_string": "new", "replace_all": True},
        ],
    },
}
READING: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "a/f"},
    "LS": {"path": "a"},
    "Glob": {"pattern": "**"},
}
MOST_PASSES = 60


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def cancelled_after(passes: int, work) -> bool:
    """Whether *work* was cut; it has ended in either case."""
    task = asyncio.create_task(work)
    for _ in range(passes):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


@pytest.mark.parametrize("name", WAYS)
async def test_a_write_is_whole_or_not_at_all(tmp_path, name):
    file = tmp_path / "a/f"
    file.parent.mkdir()
    files = open_files()
    for passes in range(MOST_PASSES):
        file.write_text(OLD)
        host = Host(tmp_path)
        cut = await cancelled_after(passes, host.run(name, WAYS[name]))
        assert file.read_text() in {OLD, NEW}
        assert cut or file.read_text() == NEW
        assert [each.name for each in tmp_path.rglob("*")] == ["a", "f"]
        assert open_files() == files


async def test_a_new_file_is_whole_or_not_there_and_neither_are_its_folders(tmp_path):
    for passes in range(MOST_PASSES):
        host = Host(tmp_path)
        arguments = {"file_path": f"{passes}/deep/f", "content": NEW}
        cut = await cancelled_after(passes, host.run("Write", arguments))
        made = tmp_path / f"{passes}"
        if cut and not made.exists():
            continue
        assert [each.name for each in made.rglob("*")] == ["deep", "f"]
        assert (made / "deep/f").read_text() == NEW


@pytest.mark.parametrize("name", READING)
async def test_reading_leaves_nothing_open(tmp_path, name):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_text(OLD)
    files = open_files()
    for passes in range(20):
        await cancelled_after(passes, Host(tmp_path).run(name, READING[name]))
        assert open_files() == files


async def test_after_a_cancelled_write_the_session_must_read_again_only_if_it_came_through(tmp_path):
    file = tmp_path / "f"
    for passes in range(MOST_PASSES):
        file.write_text("one")
        host = Host(tmp_path)
        await host.run("Read", {"file_path": "f"})
        cut = await cancelled_after(passes, host.run("Write", {"file_path": "f", "content": "two"}))
        if cut and file.read_text() == "one":
            await host.run("Write", {"file_path": "f", "content": "three"})
            assert file.read_text() == "three"
