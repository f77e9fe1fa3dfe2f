"""The LS tool over real folders."""

import os

import pytest

from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.ports.errors import ToolFailed
from tests.domain.tools.calling import Host


async def test_folders_come_first_then_files_with_their_size(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text(name[0])
    (tmp_path / "z").mkdir()
    (tmp_path / "link").symlink_to("/")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "two\nlines").write_text("")
    assert (await Host(tmp_path).text("LS", {})).split("\n") == [
        "z/",
        "a.txt\t1 byte",
        "b.txt\t1 byte",
        "link\tsymbolic link",
        "pipe\tno regular file",
        "two\\nlines\t0 bytes",
    ]


async def test_an_empty_folder_and_an_empty_path(tmp_path):
    assert await Host(tmp_path).text("LS", {"path": ""}) == "[. is empty]"


async def test_T3_what_a_deny_rule_covers_is_left_out_and_counted(tmp_path):
    for name in ("secret.key", "other.key", "readme"):
        (tmp_path / name).write_text("")
    text = await Host(tmp_path, deny=["Read(*.key)"]).text("LS", {})
    assert text == "readme\t0 bytes\n[left out, since a rule denies reading: 2 entries]"


async def test_a_long_list_is_cut_and_says_so(tmp_path):
    for number in range(1000):
        (tmp_path / f"{number:04}-{'x' * 60}").write_text("")
    text = await Host(tmp_path).text("LS", {})
    assert len(text) < OUTPUT_CHARACTERS + 200
    shown = text.count("bytes")
    assert text.endswith(f"[{1000 - shown} more entries; Glob with a pattern shows some of them]")


@pytest.mark.parametrize(("path", "words"), [("none", "does not exist"), ("f", "is a file and not a folder")])
async def test_errors_are_words(tmp_path, path, words):
    (tmp_path / "f").write_text("")
    with pytest.raises(ToolFailed, match=words):
        await Host(tmp_path).run("LS", {"path": path})
