"""What a pattern of paths stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.policy.paths import PathPattern
from norma.domain.policy.policy import Policy, ScopeRules
from norma.domain.policy.rules import path_rule
from tests.domain.policy.examples import ROOT, decision, editing, policy, reading, use


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("src/**", ["src", "src/a", "src/.b/c"], ["srcx", "srcx/a", "a/src", "Src"]),
        ("**", ["", "a", "a/b/.c"], []),
        ("*.md", ["a.md", ".md"], ["amd", "d/a.md", "a.md5"]),
        ("**/*.md", ["a.md", "d/a.md", "d/e/a.md"], ["a.mdx"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a", "ab", "a/bx", "x/a/b"]),
        ("a/*/b", ["a/x/b"], ["a/b", "a/x/y/b"]),
        ("f?.py", ["f1.py"], ["f.py", "f12.py"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        (r"app/\[id\]/*", ["app/[id]/x"], ["app/i/x"]),
        ("./a//b", ["a/b"], ["b"]),
        ("~/x", ["~/x"], ["x"]),
        ("a\nb", ["a\nb"], ["a"]),
        ("*a*a*a*a*a*a*a*a*b", ["a" * 200 + "b"], ["a" * 200]),
    ],
)
def test_T3_a_relative_pattern_starts_at_the_workspace_root(
    pattern: str, inside: list[str], outside: list[str]
) -> None:
    parsed = PathPattern.parse(pattern)
    for path in inside:
        assert parsed.matches(f"{ROOT}/{path}", ROOT), path
    for path in outside:
        assert not parsed.matches(f"{ROOT}/{path}", ROOT), path
    assert not parsed.matches(f"/other/{(inside + outside)[0]}", None)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("/etc/**", ["/etc", "/etc/ssh/x"], ["/etcx", "/project/etc", "/"]),
        ("//etc/*", ["/etc/hosts"], ["/etc", "/etc/ssh/x"]),
        ("/**", ["/", "/etc", ROOT], []),
        ("/", ["/"], ["/etc"]),
    ],
)
def test_T3_an_absolute_pattern_starts_at_the_top(
    pattern: str, inside: list[str], outside: list[str]
) -> None:
    parsed = PathPattern.parse(pattern)
    assert all(parsed.matches(path, None) and parsed.matches(path, "/") for path in inside)
    assert not any(parsed.matches(path, None) for path in outside)


names = st.text(alphabet="ab*?[]{}\\!~.() \n\u00e9\udcff", min_size=1, max_size=4).filter(
    lambda name: name not in {".", ".."}
)
plain_patterns = st.lists(st.sampled_from(["**", "*", "a", "b", "a*", "?", "*b"]), min_size=1, max_size=5)


def slow_match(pattern: list[str], path: list[str]) -> bool:
    """What `**`, `*` and `?` mean, said another way."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(slow_match(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and slow_text(pattern[0], path[0]) and slow_match(pattern[1:], path[1:])


def slow_text(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(slow_text(pattern[1:], name[start:]) for start in range(len(name) + 1))
    return bool(name) and pattern[0] in {"?", name[0]} and slow_text(pattern[1:], name[1:])


short_paths = st.lists(st.text("ab", min_size=1, max_size=2), max_size=5)


@given(plain_patterns, short_paths)
def test_T3_patterns_mean_what_a_slow_reading_of_them_means(pattern: list[str], path: list[str]) -> None:
    parsed = PathPattern.parse("/".join(pattern))
    whole = "/".join([ROOT, *path])
    assert parsed.matches(whole, ROOT) == slow_match(pattern, path)
    above = any(slow_match(pattern, path[:length]) for length in range(len(path) + 1))
    assert parsed.holds(whole, ROOT) == above


@given(plain_patterns, short_paths, short_paths)
def test_T3_what_is_said_of_a_tree_holds_for_each_path_in_it(
    pattern: list[str], folder: list[str], rest: list[str]
) -> None:
    parsed = PathPattern.parse("/".join(pattern))
    top, beneath = "/".join([ROOT, *folder]), "/".join([ROOT, *folder, *rest])
    if parsed.matches_tree(top, ROOT):
        assert parsed.matches(beneath, ROOT)
    if parsed.holds(beneath, ROOT):
        assert parsed.reaches(top, ROOT)


@given(st.lists(names, min_size=1, max_size=4), st.lists(names, min_size=1, max_size=4))
def test_the_narrowest_rule_of_a_path_allows_that_path_alone(these: list[str], others: list[str]) -> None:
    path, other = "/out/" + "/".join(these), "/out/" + "/".join(others)
    assert decision(policy(allow=[path_rule("Read", path)]), reading(path)) == "allow"
    assert decision(policy(allow=[path_rule("Edit", path)]), editing(path, tool="Write")) == "allow"
    assert decision(policy(allow=[path_rule("Read", path, tree=True)]), reading(path, tool="Grep")) == "allow"
    if path != other:
        assert decision(policy(allow=[path_rule("Read", path)]), reading(other)) == "ask"


def test_T3_a_deny_of_a_folder_holds_for_what_is_in_it_and_an_allow_does_not() -> None:
    inner = reading(f"{ROOT}/secrets/a/b")
    assert decision(policy(deny=["Read(secrets)"]), inner) == "deny"
    assert decision(policy(ask=["Read(secrets)"]), inner) == "ask"
    assert decision(policy(allow=["Read(/out)"]), reading("/out/a")) == "ask"


def test_T3_relative_patterns_start_at_each_root() -> None:
    denied = policy(deny=["Read(secrets/**)"])
    assert denied.hides("/one/secrets/k", ("/one", "/two"))
    assert denied.hides("/two/secrets/k", ("/one", "/two"))
    assert not denied.hides("/two/a/secrets/k", ("/one", "/two"))
    assert not denied.hides("/three/secrets/k", ("/one", "/two"))


def test_T3_a_search_leaves_out_what_a_deny_of_Read_covers() -> None:
    scopes = [
        ScopeRules("user", deny=("Read(secrets/**)", "Edit(src/**)"), ask=("Read(asked/**)",)),
        ScopeRules("project", deny=("Read(/etc/**)", "Grep")),
    ]
    rules = Policy.of("bypass", scopes)
    hidden = [f"{ROOT}/secrets", f"{ROOT}/secrets/a/b", "/etc/passwd"]
    shown = [ROOT, f"{ROOT}/src/a", f"{ROOT}/asked/a", f"{ROOT}/secrets2", "/secrets/k"]
    assert all(rules.hides(path, (ROOT,)) for path in hidden)
    assert not any(rules.hides(path, (ROOT,)) for path in shown)
    assert policy(deny=["Read"]).hides(f"{ROOT}/a", (ROOT,))
    assert policy(deny=["Read(k)"], ignore_case=True).hides(f"{ROOT}/K", (ROOT,))


def test_hides_wants_a_resolved_path() -> None:
    for path in ("a", f"{ROOT}/../x", f"{ROOT}/./x"):
        with pytest.raises(ValueError, match="absolute resolved"):
            policy(deny=["Read(x)"]).hides(path, (ROOT,))


@pytest.mark.parametrize("path", ["secrets/K", "SECRETS/k", "secrets/\u212a"])
def test_T3_where_the_file_system_ignores_case_so_do_deny_and_ask_but_not_allow(path: str) -> None:
    action = reading(f"{ROOT}/{path}")
    assert decision(policy(deny=["Read(secrets/k)"], ignore_case=True), action) == "deny"
    assert decision(policy(ask=["Read(secrets/k)"], ignore_case=True), action) == "ask"
    assert decision(policy(allow=["Read(/out/K)"], ignore_case=True), reading("/out/k")) == "ask"
    composed, apart = "\u00e9", "e\u0301"
    assert (
        decision(policy(deny=[f"Read({composed})"], ignore_case=True), reading(f"{ROOT}/{apart}")) == "deny"
    )


def test_T3_an_allow_needs_every_path_and_a_deny_one() -> None:
    both = reading("/out/a", "/other/b")
    assert decision(policy(allow=["Read(/out/**)"]), both) == "ask"
    assert decision(policy(allow=["Read(/out/**)", "Read(/other/**)"]), both) == "ask", "one rule for all"
    assert decision(policy(allow=["Read(/**)"]), both) == "allow"
    assert decision(policy(allow=["Read(/**)"], deny=["Read(/other/b)"]), both) == "deny"
    assert use("/out/a").root is None
