"""What holds for every set of rules, over generated ones."""

from collections.abc import Callable
from typing import get_args

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from norma.domain.model.actions import Action
from norma.domain.model.questions import Grant
from norma.domain.policy.policy import Mode, Policy, ScopeRules
from norma.domain.policy.rules import Decision
from tests.domain.policy.examples import (
    ROOT,
    decision,
    editing,
    fetching,
    pure,
    reading,
    remote,
    shell,
    verdict,
)

MILDEST_FIRST = ("allow", "ask", "deny")
SCOPES = ("managed", "user", "project", "session")
LISTS: tuple[Decision, ...] = get_args(Decision)

# Few enough names that rules and actions often meet.
part = st.sampled_from(["a", "b", "*", "**", "a*", "?"])
pattern = st.builds(
    lambda parts, top: top + "/".join(parts),
    st.lists(part, min_size=1, max_size=3),
    st.sampled_from(["", "/", "/project/"]),
)
domain = st.sampled_from(["*", "*.a.test", "a.test", "b.a.test", "*.test"])
command = st.sampled_from(["ls", "rm x", "git push", "ls && rm x"])
bare = st.sampled_from(
    [
        "Read",
        "LS",
        "Grep",
        "Edit",
        "Write",
        "Bash",
        "WebFetch",
        "TodoWrite",
        "mcp__a__*",
        "mcp__a__t",
        "mcp__b__*",
    ]
)
narrow = st.one_of(
    st.builds("{}({})".format, st.sampled_from(["Read", "Edit"]), pattern),
    st.builds("WebFetch(domain:{})".format, domain),
    st.builds("Bash({})".format, command),
)
allowing = st.one_of(bare, narrow)
forbidding = st.one_of(bare, narrow, st.sampled_from(["Bash(rm:*)", "Bash(git:*)"]))


def rules(of: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(of, max_size=3).map(tuple)


scope = st.builds(
    ScopeRules, st.sampled_from(SCOPES), allow=rules(allowing), ask=rules(forbidding), deny=rules(forbidding)
)
scopes = st.lists(scope, max_size=4)
modes: st.SearchStrategy[Mode] = st.sampled_from(get_args(Mode))

name = st.sampled_from(["a", "b", "ab"])
path = st.builds(
    lambda top, names: "/".join([top, *names]),
    st.sampled_from([ROOT, "", "/a"]),
    st.lists(name, min_size=1, max_size=3),
)
host = st.sampled_from(["a.test", "b.a.test", "test", "xa.test"])
paths = st.lists(path, min_size=1, max_size=2)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(
        lambda paths, tool: reading(*paths, tool=tool), paths, st.sampled_from(["Read", "LS", "Glob", "Grep"])
    ),
    st.builds(
        lambda paths, tool: editing(*paths, tool=tool), paths, st.sampled_from(["Edit", "MultiEdit", "Write"])
    ),
    st.builds(lambda hosts: fetching(*hosts), st.lists(host, min_size=1, max_size=2)),
    st.builds(shell, st.one_of(command, st.sampled_from(["rm", "git status", "timeout 5 rm x"]))),
    st.builds(remote, st.sampled_from(["mcp__a__t", "mcp__b__t", "mcp__a__b__t"])),
    st.just(pure()),
)
granting = st.lists(st.builds(Grant, allowing, st.sampled_from(["digest", "other"])), max_size=2)

Case = tuple[Mode, list[ScopeRules], Action, list[Grant]]
cases = st.tuples(modes, scopes, actions, granting)


def check_an_added_deny(case: Case, rule: str, where: str) -> None:
    mode, sets, action, grants = case
    for added in (ScopeRules(where, deny=(rule,)), ScopeRules(where, ask=(rule,))):
        before = decision(Policy.of(mode, sets), action, grants)
        after = decision(Policy.of(mode, [*sets, added]), action, grants)
        assert MILDEST_FIRST.index(after) >= MILDEST_FIRST.index(before)


def check_deny_wins(case: Case, rule: str, where: str) -> None:
    mode, sets, action, grants = case
    denying = ScopeRules(where, deny=(rule,))
    if decision(Policy.of("bypass", [denying]), action) == "deny":
        assert decision(Policy.of(mode, [denying, *sets]), action, grants) == "deny"


def check_order(case: Case, rule: str, where: str) -> None:
    mode, sets, action, grants = case
    sets = [*sets, ScopeRules(where, deny=(rule,))]
    turned = [
        evolve(one, allow=one.allow[::-1], ask=one.ask[::-1], deny=one.deny[::-1]) for one in reversed(sets)
    ]
    first, second = Policy.of(mode, sets), Policy.of(mode, turned)
    assert first == second
    assert verdict(first, action, grants) == verdict(second, action, grants)


def check_scopes(case: Case, rule: str, where: str) -> None:
    mode, sets, action, grants = case
    sets = [*sets, ScopeRules(where, deny=(rule,))]
    moved = [evolve(one, name=where) for one in sets]
    assert decision(Policy.of(mode, sets), action, grants) == decision(Policy.of(mode, moved), action, grants)


CHECKS: dict[str, Callable[[Case, str, str], None]] = {
    "an added deny or ask rule never makes a verdict milder": check_an_added_deny,
    "what one deny rule denies, nothing else allows": check_deny_wins,
    "order in a file and between files means nothing": check_order,
    "it makes no difference to the decision in which scope a rule stands": check_scopes,
}


@pytest.mark.parametrize("claim", CHECKS)
def test_T2_for_every_set_of_rules(claim: str) -> None:
    settings(max_examples=300)(given(cases, forbidding, st.sampled_from(SCOPES))(CHECKS[claim]))()


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=10_000)
@given(cases, forbidding, st.sampled_from(SCOPES))
def test_T2_for_ten_thousand_sets_of_rules(case: Case, rule: str, where: str) -> None:
    for check in CHECKS.values():
        check(case, rule, where)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_T2_the_generated_sets_reach_every_verdict(mode: Mode) -> None:
    """Without this the claims above might hold because nothing was ever allowed."""
    seen: set[str] = set()

    @settings(max_examples=300, derandomize=True, database=None)
    @given(scopes, actions)
    def look(sets: list[ScopeRules], action: Action) -> None:
        seen.add(decision(Policy.of(mode, sets), action))

    look()
    assert seen == ({"allow", "deny"} if mode == "dont-ask" else {"allow", "ask", "deny"})
