"""The Glob tool over real trees, and its patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.tools.glob_pattern import GlobPattern
from norma.domain.tools.limits import OUTPUT_CHARACTERS
from norma.ports.errors import Refused, ToolFailed
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


async def test_many_files_are_cut_at_a_line(tmp_path):
    for number in range(1000):
        (tmp_path / f"{number:04}-{'x' * 60}").write_text("")
    text = await Host(tmp_path).text("Glob", {"pattern": "*"})
    assert len(text) < OUTPUT_CHARACTERS + 200
    assert f"[{1000 - text.count('-x')} more files; narrow" in text


def test_too_many_braces_are_refused(tree):
    with pytest.raises(Refused, match="braces"):
        Host(tree).examine("Glob", {"pattern": "{a,b}" * 10})


@pytest.mark.parametrize("pattern", ["{", "}", "{a", "a}", "{a}", "[", "[]", "[!]", "{,}", "{a,{b,c}", "\\"])
def test_odd_patterns_are_literal_or_refused_but_never_break(pattern):
    parsed = GlobPattern.parse(pattern)
    parsed.step(parsed.start(), "name")


def test_time_is_linear_whatever_the_pattern():
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
