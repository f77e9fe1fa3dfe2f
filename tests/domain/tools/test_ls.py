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


async def test_a_long_list_is_cut_and_reading_on_gives_all_of_it(tmp_path):
    names = [f"{number:04}-{'x' * 60}" for number in range(1000)]
    for name in names:
        (tmp_path / name).write_text("")
    seen, offset = [], 0
    while True:
        text = await Host(tmp_path).text("LS", {"offset": offset})
        assert len(text) < OUTPUT_CHARACTERS + 200
        lines = text.split("\n")
        seen += [line.split("\t")[0] for line in lines if "\t" in line]
        if not lines[-1].startswith("["):
            break
        offset = len(seen)
        assert lines[-1] == f"[{1000 - offset} more of 1000 entries; continue with offset={offset}]"
    assert seen == names


async def test_a_limit_and_an_offset_behind_the_end(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("")
    host = Host(tmp_path)
    assert await host.text("LS", {"limit": 1, "offset": 1}) == (
        "b\t0 bytes\n[1 more of 3 entries; continue with offset=2]"
    )
    assert await host.text("LS", {"offset": 3}) == "[there is nothing behind the first 3 entries]"


async def test_what_gitignore_names_is_left_out_counted_and_shown_if_asked(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/build\n*.log\n")
    for name in ("a.log", "build/x", "sub/b.log", "sub/build/y", "sub/keep"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    host = Host(tmp_path)
    assert (await host.text("LS", {})).split("\n") == [
        ".git/",
        "sub/",
        ".gitignore\t13 bytes",
        "[left out, since ignore files name them: 2 entries; include_ignored shows them]",
    ]
    assert (await host.text("LS", {"path": "sub"})).split("\n")[:2] == ["build/", "keep\t0 bytes"]
    assert "build/\nsub/" in await host.text("LS", {"include_ignored": True})


@pytest.mark.parametrize(("path", "words"), [("none", "does not exist"), ("f", "is a file and not a folder")])
async def test_errors_are_words(tmp_path, path, words):
    (tmp_path / "f").write_text("")
    with pytest.raises(ToolFailed, match=words):
        await Host(tmp_path).run("LS", {"path": path})
