"""Write, Edit and MultiEdit over real files."""

import os
from time import process_time

import pytest

from norma.domain.tools.asking import MOST_SHOWN
from norma.domain.tools.remembered import MOST, MOST_DIGESTED, Remembered
from norma.domain.tools.replacing import NotReplaceable, Replacement
from norma.domain.tools.write import MOST_COMPARED_BYTES
from norma.ports.errors import Refused, ToolFailed
from norma.ports.files import FileContent
from norma.ports.tool import ToolRun
from tests.domain.tools.calling import Host


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "f"


def edit(old, new, **more):
    return {"file_path": "f", "old_string": old, "new_string": new, **more}


def edits(*pairs):
    return {"file_path": "f", "edits": [{"old_string": old, "new_string": new} for old, new in pairs]}


# Write


async def test_write_makes_a_file_and_its_folders(tmp_path, host):
    assert await host.text("Write", {"file_path": "a/b/f", "content": "é\n"}) == "Created a/b/f (3 bytes)."
    assert (tmp_path / "a/b/f").read_bytes() == "é\n".encode()
    assert host.progress == ["--- a/b/f\n+++ a/b/f\n@@ -0,0 +1 @@\n+é"]


async def test_write_takes_the_place_of_a_file_and_shows_the_difference(file, host):
    file.write_text("one\ntwo\nthree\n")
    assert (
        await host.text("Write", {"file_path": "f", "content": "one\n2\nthree\n"})
        == "Overwrote f (12 bytes)."
    )
    assert host.progress == ["--- f\n+++ f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"]


async def test_write_over_a_binary_file(file, host):
    file.write_bytes(b"\0" * 10)
    assert await host.text("Write", {"file_path": "f", "content": ""}) == "Overwrote f (0 bytes)."
    assert file.read_bytes() == b""
    assert host.progress == ["f: 10 bytes replaced"]


async def test_write_through_a_link_shows_and_writes_where_it_leads(tmp_path, file, host):
    file.symlink_to("target")
    action = host.examine("Write", {"file_path": "f", "content": "new text"})
    assert action.shows == f"{tmp_path}/target\na new file:\nnew text"
    assert action.rule == f"Edit({tmp_path}/target)"
    await host.run("Write", {"file_path": "f", "content": "new text"})
    assert file.is_symlink()
    assert (tmp_path / "target").read_text() == "new text"


async def test_write_to_a_folder_is_an_error(tmp_path, host):
    (tmp_path / "d").mkdir()
    with pytest.raises(ToolFailed, match="d is a folder"):
        await host.run("Write", {"file_path": "d", "content": ""})


@pytest.mark.parametrize("path", ["new/", "new/.", "new/x/..", "./new//"])
def test_write_to_the_path_of_a_folder_makes_no_file(host, path):
    with pytest.raises(Refused, match="path of a folder"):
        host.examine("Write", {"file_path": path, "content": ""})


@pytest.mark.parametrize("name", ["a\nb", "bad\udcff", "back\\slash\t", "\x85\udc85", "\u202egpj.exe"])
async def test_TC_79_a_file_is_found_by_the_name_that_is_shown_of_it(tmp_path, host, name):
    (tmp_path / name).write_text("one")
    shown = await host.text("Glob", {"pattern": "*"})
    assert shown.isprintable()
    assert await host.text("Read", {"file_path": shown}) == "     1\tone"
    assert shown in await host.text("Edit", {"file_path": shown, "old_string": "one", "new_string": "two"})
    assert await host.text("Write", {"file_path": shown, "content": ""}) == f"Overwrote {shown} (0 bytes)."
    (tmp_path / shown).write_text("the name itself comes first")
    assert "first" in await host.text("Read", {"file_path": shown})


@pytest.mark.parametrize("name", ["Write", "Edit"])
async def test_a_change_by_somebody_else_in_between_is_not_overwritten(file, host, monkeypatch, name):
    file.write_text("old")
    honest = host.workspace.read

    async def raced(path, *, limit=None):
        content = await honest(path, limit=limit)
        file.write_text("theirs old")
        return content

    monkeypatch.setattr(host.workspace, "read", raced)
    arguments = {"file_path": "f", "content": "mine"} if name == "Write" else edit("old", "mine")
    with pytest.raises(ToolFailed, match="changed after it was read"):
        await host.run(name, arguments)
    assert file.read_text() == "theirs old"


async def test_a_file_made_by_somebody_else_in_between_is_not_overwritten(file, host, monkeypatch):
    honest = host.workspace.read

    async def raced(path, *, limit=None):
        try:
            return await honest(path, limit=limit)
        finally:
            file.write_text("theirs")

    monkeypatch.setattr(host.workspace, "read", raced)
    with pytest.raises(ToolFailed, match="exists already"):
        await host.run("Write", {"file_path": "f", "content": "mine"})
    assert file.read_text() == "theirs"


# Edit


async def test_edit_replaces_the_one_place(file, host):
    file.write_text("one\ntwo\n")
    assert await host.text("Edit", edit("two", "2")) == "Edited f: 1 replacement."
    assert file.read_text() == "one\n2\n"
    assert host.progress == ["--- f\n+++ f\n@@ -1,2 +1,2 @@\n one\n-two\n+2"]


async def test_edit_replaces_every_place_if_asked(file, host):
    file.write_text("a a a")
    assert await host.text("Edit", edit("a", "b", replace_all=True)) == "Edited f: 3 replacements."
    assert file.read_text() == "b b b"


@pytest.mark.parametrize(
    ("data", "old", "words"),
    [
        ("a a", "a", "found 2 times.*replace_all"),
        ("abc", "x", "not found; Read shows"),
        ("if x:\n\treturn\n", "if x:\n    return", "line 1 .*blanks"),
        ("a\n  b\n", "b  ", "line 2 .*blanks"),
        ("x\n  a\n b\nc", " a\nb\n", "line 2 .*blanks"),
        ("a\r\nb\r\nc\n", "b\nc", r"line 2 .*line ends: Read says which are .r.n"),
    ],
)
async def test_what_can_not_be_replaced_says_why_and_changes_nothing(file, host, data, old, words):
    file.write_bytes(data.encode())
    with pytest.raises(ToolFailed, match=words):
        await host.run("Edit", edit(old, "new"))
    assert file.read_bytes() == data.encode()


def test_equal_texts_are_refused_before_anybody_is_asked(host):
    with pytest.raises(Refused, match="the same"):
        host.examine("Edit", edit("a", "a"))


def test_an_empty_old_string_is_against_the_schema(host):
    assert "old_string" in str(host.fault("Edit", edit("", "a")))


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\nc", "b\n", "x\n", b"a\r\nx\nc"),
        (b"a\r\nb\nc", "a\r\nb", "x\r\ny", b"x\r\ny\nc"),
        (b"a\rb\rc\r", "a\nb", "x\ny", b"x\ry\rc\r"),
        (b"a\rb\rc\r", "a\rb\r", "x\r\n", b"x\rc\r"),
        (b"10%\r100%", "10%", "1%\n", b"1%\n\r100%"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"GIF89 is one\n", "one", "1", b"GIF89 is 1\n"),
        (b"\xc3\xa9a\xff\xfe\xc3b", "a", "\u00e9", b"\xc3\xa9\xc3\xa9\xff\xfe\xc3b"),
        (b"a caf\xe9\r\nb\r\n", "caf\u00e9\nb", "th\u00e9\nb", b"a th\xe9\r\nb\r\n"),
        (b"\x80 5\n", "\u20ac 5", "\u20ac 6", b"\x80 6\n"),
        ("\ufeffa\nb\n".encode("utf-16-le"), "b", "\U0001f600", "\ufeffa\n\U0001f600\n".encode("utf-16-le")),
        ("\ufeffa\r\nb\r\n".encode("utf-16-be"), "a\nb", "c", "\ufeffc\r\n".encode("utf-16-be")),
        ("ä\u2028b".encode(), "b", "c", "ä\u2028c".encode()),
    ],
)
async def test_all_bytes_but_the_replaced_stay(file, host, before, old, new, after):
    file.write_bytes(before)
    await host.run("Edit", edit(old, new))
    assert file.read_bytes() == after
    assert all(text.encode() for text in host.progress)


async def test_an_edit_of_line_ends_that_are_kept_is_an_error(file, host):
    file.write_bytes(b"a\r\nb\r\n")
    with pytest.raises(ToolFailed, match=r"edit 2 of 2: .*differ in line ends alone, which are kept"):
        await host.run("MultiEdit", edits(("b", "c"), ("a\r\n", "a\n")))
    assert file.read_bytes() == b"a\r\nb\r\n"


def test_to_look_for_what_is_nearly_there_takes_little_time():
    before = process_time()
    with pytest.raises(NotReplaceable):
        Replacement("x\n" * 30_000 + "y", "z").apply("x\n" * 60_000)
    assert process_time() - before < 2


async def test_a_binary_file_is_not_edited(file, host):
    file.write_bytes(b"a\0b")
    with pytest.raises(ToolFailed, match="binary"):
        await host.run("Edit", edit("a", "b"))


async def test_a_missing_file_is_an_error(host):
    with pytest.raises(ToolFailed, match="f does not exist"):
        await host.run("Edit", edit("a", "b"))


def test_T5_of_a_file_too_large_to_compare_a_person_sees_both_texts_whole(tmp_path, file, host):
    file.write_bytes(bytes(MOST_SHOWN + 1))
    shows = host.examine("Edit", edit("a\nb" + "x" * 5000, "c", replace_all=True)).shows
    assert shows == f"{tmp_path}/f\nevery place of\n- a\n- b{'x' * 5000}\nbecomes\n+ c"


@pytest.mark.parametrize("name", ["Write", "Edit"])
def test_text_that_can_not_be_written_is_refused(host, name):
    arguments = {"file_path": "f", "content": "\udcff"} if name == "Write" else edit("a", "\ud800")
    with pytest.raises(Refused, match="UTF-8"):
        host.examine(name, arguments)


# MultiEdit


async def test_edits_build_on_each_other(file, host):
    file.write_text("one two")
    assert await host.text("MultiEdit", edits(("one", "1"), ("1 two", "12"))) == "Edited f: 2 replacements."
    assert file.read_text() == "12"


async def test_all_edits_or_none(file, host):
    file.write_text("one two")
    before = os.stat(file)
    with pytest.raises(ToolFailed, match=r"edit 2 of 2: old_string was not found.*Nothing was changed"):
        await host.run("MultiEdit", edits(("one", "1"), ("none", "x")))
    assert file.read_text() == "one two"
    assert os.stat(file).st_ino == before.st_ino


def test_T5_every_edit_is_shown(file, host):
    file.write_bytes(bytes(MOST_SHOWN + 1))
    shows = host.examine("MultiEdit", edits(("a", "b"), ("c", "d"))).shows
    places = [["the one place of", f"- {old}", "becomes", f"+ {new}"] for old, new in ("ab", "cd")]
    assert shows.splitlines()[1:] == places[0] + places[1]


async def test_edits_are_those_of_the_action_that_was_allowed(file, host):
    file.write_text("a")
    arguments = edit("a", "b")
    action = host.examine("Edit", arguments)
    await host.tools["Edit"].run(ToolRun(arguments, action, host.progress.append))
    assert file.read_text() == "b"


async def test_a_character_that_the_encoding_has_not_is_refused(file, host):
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(ToolFailed, match="in Latin-1, which has no '\u2192'"):
        await host.run("Edit", edit("caf\u00e9", "\u2192"))
    assert file.read_bytes() == b"caf\xe9\n"


@pytest.mark.parametrize(
    ("before", "content", "after", "note"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", ", keeping CR LF"),
        (b"a\r\nb\r\n", "x\r\ny\r\n", b"x\r\ny\r\n", ", keeping CR LF"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n", ""),
        (b"caf\xe9", "th\u00e9", b"th\xe9", ", keeping Latin-1"),
        (
            b"caf\xe9",
            "\u2192",
            "\u2192".encode(),
            ", now in UTF-8: the file is in Latin-1, which has no '\u2192'",
        ),
        (b"\xef\xbb\xbfa", "b", b"\xef\xbb\xbfb", ", keeping the mark in front"),
        (
            "\ufeffa\r\n".encode("utf-16-le"),
            "b\n",
            "\ufeffb\r\n".encode("utf-16-le"),
            ", keeping UTF-16-LE and CR LF",
        ),
        (b"\xef\xbb\xbfa", "\ufeffb", b"\xef\xbb\xbfb", ", keeping the mark in front"),
        (b"a\rb\r", "x\n", b"x\n", ""),
        (b"\x89PNG", "x\n", b"x\n", ""),
        (b"", "x\n", b"x\n", ""),
    ],
)
async def test_write_keeps_the_form_of_the_file(file, host, before, content, after, note):
    file.write_bytes(before)
    size = len(after)
    said = await host.text("Write", {"file_path": "f", "content": content})
    assert said == f"Overwrote f ({size} byte{'s' if size > 1 else ''}{note})."
    assert file.read_bytes() == after


@pytest.mark.parametrize("at", [-1, 0, 1])
async def test_a_large_file_whose_first_part_ends_inside_a_character_stays_utf_8(file, host, at):
    file.write_bytes(b"x" * (MOST_COMPARED_BYTES + at - 1) + "\u00e9\u2192".encode())
    await host.run("Write", {"file_path": "f", "content": "\u00e9"})
    assert file.read_bytes() == "\u00e9".encode()


# What a session knows


WAYS = {"Write": {"file_path": "f", "content": "mine"}, "Edit": edit("o", "mine")}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("knows", ["Read", "Write", "Edit"])
async def test_a_change_after_the_session_knew_the_file_is_not_overwritten(file, host, name, knows):
    file.write_text("xo")
    first = {"Read": {"file_path": "f"}, "Write": {"file_path": "f", "content": "o"}, "Edit": edit("x", "y")}
    await host.run(knows, first[knows])
    file.write_text("theirs, o")
    for _ in range(2):
        with pytest.raises(ToolFailed, match=r"f was changed after it was read; Read it again"):
            await host.run(name, WAYS[name])
    assert file.read_text() == "theirs, o"
    await host.run("Read", {"file_path": "f"})
    await host.run(name, WAYS[name])
    assert "mine" in file.read_text()


async def test_own_changes_are_known(file, host):
    await host.run("Write", {"file_path": "f", "content": "one"})
    await host.run("Edit", edit("one", "two"))
    await host.run("MultiEdit", edits(("two", "three")))
    await host.run("Write", {"file_path": "f", "content": "four"})
    assert file.read_text() == "four"


async def test_a_file_that_was_never_read_may_be_edited(file, host):
    file.write_text("one")
    await host.run("Edit", edit("one", "two"))


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("size", [10, MOST_DIGESTED + 1])
async def test_a_small_file_that_is_the_same_again_has_not_changed(tmp_path, file, host, name, size):
    text = "o" + "x" * (size - 1)
    await host.run("Write", {"file_path": "f", "content": text})
    file.chmod(0o755)
    os.link(file, tmp_path / "other")
    file.write_text(text)
    if size > MOST_DIGESTED:
        with pytest.raises(ToolFailed, match="changed after it was read"):
            await host.run(name, WAYS[name])
    else:
        await host.run(name, WAYS[name])
        assert "mine" in file.read_text()


async def test_one_session_does_not_know_what_another_has_read(file, host):
    file.write_text("one")
    await host.run("Read", {"file_path": "f"}, "mine")
    await host.run("Write", {"file_path": "f", "content": "theirs"}, "yours")
    with pytest.raises(ToolFailed, match="changed after it was read"):
        await host.run("Write", {"file_path": "f", "content": "mine"}, "mine")
    assert file.read_text() == "theirs"


async def test_the_same_file_through_a_link_is_the_same(tmp_path, file, host):
    file.write_text("one")
    (tmp_path / "link").symlink_to("f")
    await host.run("Read", {"file_path": "link"})
    file.write_text("two")
    with pytest.raises(ToolFailed, match="changed after it was read"):
        await host.run("Edit", edit("two", "three"))


def test_of_very_many_files_the_oldest_are_forgotten():
    remembered = Remembered()
    for number in range(MOST + 1):
        remembered.saw("mine", f"/{number}", FileContent(b"1", 1, "1"))
    assert not remembered.outdated("mine", "/0", FileContent(b"2", 1, "2"))
    assert remembered.outdated("mine", "/1", FileContent(b"2", 1, "2"))
