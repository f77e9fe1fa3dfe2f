"""The Glob tool over real trees, and its patterns."""

import os
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.adapters.grep.search import GrepSearch
from norma.domain.tools.glob_pattern import GlobPattern
from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.ports.errors import Refused, ToolFailed
from norma.ports.file_search import SearchQuery
from tests.domain.tools.calling import Host

FILES = (
    "readme.md",
    "src/a.py",
    "src/b.ts",
    "src/deep/er/c.py",
    "src/[id]/page.tsx",
    ".github/ci.yml",
    ".git/config.py",
    "node_modules/x/index.py",
    "vendor/v.py",
)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


async def found(root, pattern, path=None, **more):
    arguments = {"pattern": pattern} if path is None else {"pattern": pattern, "path": path}
    lines = (await Host(root, **more).text("Glob", arguments)).split("\n")
    return [line for line in lines if not line.startswith("[")]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.md", ["readme.md"]),
        ("*.py", ["src/a.py", "src/deep/er/c.py", "vendor/v.py"]),
        ("*/*.py", ["src/a.py", "vendor/v.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/er/c.py"]),
        ("src/**", ["src/[id]/page.tsx", "src/a.py", "src/b.ts", "src/deep/er/c.py"]),
        ("src/", ["src/[id]/page.tsx", "src/a.py", "src/b.ts", "src/deep/er/c.py"]),
        ("./src/?.py", ["src/a.py"]),
        ("*.{ts,tsx}", ["src/[id]/page.tsx", "src/b.ts"]),
        ("{src,vendor}/{a,v}.{py,js}", ["src/a.py", "vendor/v.py"]),
        ("src/{a.py,deep/{er/c.py,none}}", ["src/a.py", "src/deep/er/c.py"]),
        ("src/[id]/page.tsx", ["src/[id]/page.tsx"]),
        ("src/[ab].*", ["src/a.py", "src/b.ts"]),
        ("src/[!a].*", ["src/b.ts"]),
        (".github/*", [".github/ci.yml"]),
        ("readme.md", ["readme.md"]),
        ("node_modules/**/*.py", ["node_modules/x/index.py"]),
        ("src/../readme.md", ["readme.md"]),
        ("**/er/**/c.py", ["src/deep/er/c.py"]),
        ("src/[^a].*", ["src/b.ts"]),
        ("src/\\[id]/*", ["src/[id]/page.tsx"]),
        ("src/\\*.py", []),
    ],
)
async def test_patterns(tree, pattern, names):
    assert await found(tree, pattern) == names


async def test_a_path_and_an_absolute_pattern_name_the_folder(tree):
    assert await found(tree, "*.py", "src/deep") == ["src/deep/er/c.py"]
    assert await found(tree, f"{tree}/src/*.py") == ["src/a.py"]


async def test_nothing_found_and_folders_passed_by_are_said(tree):
    text = await Host(tree).text("Glob", {"pattern": "*.rs"})
    assert text == "[no file in . fits]\n[node_modules was not entered; name it in the pattern to do so]"


async def test_a_missing_folder_is_an_error(tree):
    with pytest.raises(ToolFailed, match="none does not exist"):
        await Host(tree).run("Glob", {"pattern": "none/*"})


async def test_G7_links_are_not_entered_and_nothing_outside_is_seen(tmp_path, tree):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary.py").write_text("canary")
    (tree / "way").symlink_to(outside)
    (tree / "src/back").symlink_to("..")
    for pattern in ("**", "**/*.py", "way*", "**/canary*"):
        text = await Host(tree).text("Glob", {"pattern": pattern})
        assert "canary.py" not in text
        assert "back/" not in text
    for pattern in ("way/*", "../outside/*", f"{outside}/*", "src/../../outside/*", "way/canary.py"):
        with pytest.raises(Refused, match="outside"):
            await Host(tree).run("Glob", {"pattern": pattern})


@pytest.mark.parametrize("pattern", ["*/../../outside/*", "{..,src}/*", "*/{..,x}/y"])
def test_G7_a_pattern_can_not_go_up_behind_a_wildcard(tree, pattern):
    with pytest.raises(Refused, match=r"\.\."):
        Host(tree).examine("Glob", {"pattern": pattern})


async def test_T3_denied_files_and_folders_are_left_out_and_counted(tree):
    text = await Host(tree, deny=["Read(src/deep/**)", "Read(**/a.py)"]).text(
        "Glob", {"pattern": "src/**/*.py"}
    )
    assert text == "[no file in src fits]\n[left out, since a rule denies reading: 2 files or folders]"


async def test_an_unreadable_folder_beneath_is_counted(tree, monkeypatch):
    host = Host(tree)
    honest = host.workspace.list

    async def closed(path):
        if path.endswith("/deep"):
            raise PermissionError(13, "Permission denied", path)
        return await honest(path)

    monkeypatch.setattr(host.workspace, "list", closed)
    text = await host.text("Glob", {"pattern": "src/**/*.py"})
    assert text == "src/a.py\n[could not be listed: 1 folder]"


async def test_many_files_are_cut_at_a_line_and_reading_on_gives_all(tmp_path):
    names = [f"{number:04}-{'x' * 60}" for number in range(1000)]
    for name in names:
        (tmp_path / name).write_text("")
    seen: list[str] = []
    while True:
        text = await Host(tmp_path).text("Glob", {"pattern": "*", "offset": len(seen)})
        assert len(text) < OUTPUT_CHARACTERS + 200
        lines = text.split("\n")
        seen += [line for line in lines if line.endswith("x")]
        if not lines[-1].startswith("["):
            break
        assert lines[-1] == f"[{1000 - len(seen)} more of 1000 files; continue with offset={len(seen)}]"
    assert seen == names


async def test_a_limit_and_an_offset_behind_the_end(tree):
    host = Host(tree)
    text = await host.text("Glob", {"pattern": "*.py", "limit": 1, "offset": 1})
    assert text.startswith("src/deep/er/c.py\n[1 more of 3 files; continue with offset=2]")
    text = await host.text("Glob", {"pattern": "*.py", "offset": 9})
    assert text.startswith("[there is nothing behind the first 3 files]")


# ignore files

IGNORING = {
    ".gitignore": "*.log\n/build/\n!keep.log\nsub/only.txt\n",
    ".ignore": "!shown.log\n",
    "a.log": "",
    "keep.log": "",
    "shown.log": "",
    "build/x.py": "",
    "sub/build/x.py": "",
    "sub/only.txt": "",
    "sub/.gitignore": "!b.log\nlocal\n",
    "sub/b.log": "",
    "sub/local/deep.py": "",
    "sub/only/only.txt": "",
    "inner/.git/HEAD": "",
    "inner/c.log": "",
}


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repo"
    for name, content in IGNORING.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content or "text\n")
    (root / ".git").mkdir()
    return root


SHOWN = [
    ".gitignore",
    ".ignore",
    "inner/c.log",
    "keep.log",
    "shown.log",
    "sub/.gitignore",
    "sub/b.log",
    "sub/build/x.py",
    "sub/only/only.txt",
]


async def test_what_ignore_files_name_is_left_out_and_counted(repository):
    text = await Host(repository).text("Glob", {"pattern": "**"})
    note = "[left out, since ignore files name them: 4 files or folders; include_ignored shows them]"
    assert text.split("\n") == [*SHOWN, note]
    every = await Host(repository).text("Glob", {"pattern": "**", "include_ignored": True})
    assert every.split("\n") == sorted(name for name in IGNORING if ".git/" not in name)


async def test_ignore_files_above_the_folder_count_down_from_the_root(repository):
    assert await found(repository, "*", "sub") == [name for name in SHOWN if name.startswith("sub/")]
    # A folder that is named is searched, even one that is left out.
    assert await found(repository, "*", "build") == ["build/x.py"]
    assert await found(repository, "build/*.py") == ["build/x.py"]


async def test_gitignore_counts_in_a_repository_only_and_one_above_the_root_is_one(repository):
    (repository / ".git").rmdir()
    assert "a.log" in await found(repository, "*.log")
    (repository.parent / ".git").mkdir()
    assert "a.log" not in await found(repository, "*.log")


async def test_the_same_files_as_a_search_that_shows_hidden_ones(repository):
    query = SearchQuery("", str(repository), hidden=True, limit=0)
    for environ in ({"NORMA_DISABLE_RIPGREP": "1"}, os.environ):
        result = await GrepSearch(environ=environ).search(
            query, progress=lambda line: None, excluded=lambda path: False
        )
        names = {line.path.removeprefix(f"{repository}/") for line in result.lines}
        assert sorted(names) == SHOWN


@pytest.mark.parametrize("kind", ["link out", "folder", "link inside"])
async def test_an_odd_ignore_file(repository, kind):
    odd = repository / "sub/.ignore"
    (repository.parent / "rules").write_text("*")
    (repository / "rules.txt").write_text("b.log")
    if kind == "folder":
        odd.mkdir()
    else:
        odd.symlink_to("../../rules" if kind == "link out" else "../rules.txt")
    text = await Host(repository).text("Glob", {"pattern": "*.log", "path": "sub"})
    lost = "[could not be read, so that nothing is left out by it: 1 ignore file]"
    assert (lost in text) == (kind != "link inside")
    assert ("sub/b.log" in text) == (kind != "link inside")


def test_too_many_braces_are_refused(tree):
    with pytest.raises(Refused, match="braces"):
        Host(tree).examine("Glob", {"pattern": "{a,b}" * 10})


@pytest.mark.parametrize(
    "pattern",
    ["{", "}", "{a", "a}", "{a}", "[", "[]", "[!]", "{,}", "{a,{b,c}", "\\", "\\[", "[\\]", "[^", "[^]"],
)
def test_odd_patterns_are_literal_or_refused_but_never_break(pattern):
    parsed = GlobPattern.parse(pattern)
    parsed.step(parsed.start(), "name")


def test_time_is_linear_whatever_the_pattern():
    before = process_time()
    GlobPattern.parse("{a,b}" * 6 + "{" * 960)
    assert process_time() - before < 1
    parsed = GlobPattern.parse("*a" * 60 + "b")
    assert not parsed.matched(parsed.step(parsed.start(), "a" * 255))  # by backtracking: years


NAMES = st.lists(st.sampled_from(["a", "b", "ab", "c.py"]), min_size=1, max_size=5)
PARTS = st.lists(st.sampled_from(["a", "*", "**", "?", "a*", "*.py", "[ab]"]), min_size=2, max_size=5)


def oracle(parts, names):
    """The plain recursive meaning."""
    import fnmatch

    if not parts:
        return not names
    if parts[0] == "**":
        return oracle(parts[1:], names) or (bool(names) and oracle(parts, names[1:]))
    return bool(names) and fnmatch.fnmatchcase(names[0], parts[0]) and oracle(parts[1:], names[1:])


@given(PARTS, NAMES)
def test_walking_a_pattern_agrees_with_its_plain_meaning(parts, names):
    pattern = GlobPattern.parse("/".join(parts))
    rest = names
    for folder in filter(None, pattern.folder.split("/")):
        if not rest or rest[0] != folder:
            assert not oracle(parts, names)
            return
        rest = rest[1:]
    places = pattern.start()
    for name in rest:
        places = pattern.step(places, name)
    assert pattern.matched(places) == oracle(parts, names)
