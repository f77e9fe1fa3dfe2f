"""The order of rules, the modes, and what a verdict says."""

from itertools import product
from typing import Any, get_args

import pytest
from attrs import evolve

from norma.domain.model.actions import ANY_EFFECT, Action, Effects, HostUse, PathUse
from norma.domain.model.questions import Grant
from norma.domain.policy.policy import CurrentPolicy, Mode, Policy, ScopeRules
from tests.domain.policy.examples import (
    ROOT,
    decision,
    editing,
    fetching,
    policy,
    pure,
    reading,
    remote,
    shell,
    verdict,
)

SCOPES = ("managed", "user", "project", "session")
MODES: tuple[Mode, ...] = get_args(Mode)

INSIDE = f"{ROOT}/a"
ACTIONS = {
    "read inside": reading(INSIDE),
    "search inside": reading(ROOT, tool="Grep"),
    "read outside": reading("/etc/hosts"),
    "read both": reading(INSIDE, "/etc/hosts"),
    "touch nothing": pure(),
    "edit inside": editing(INSIDE),
    "write inside": editing(INSIDE, tool="Write"),
    "edit outside": editing("/etc/hosts"),
    "edit both": editing(INSIDE, "/etc/hosts"),
    "fetch": fetching("example.com"),
    "shell": shell("ls"),
    "remote": remote("mcp__a__b"),
}
FREE = {"read inside": "allow", "search inside": "allow", "touch nothing": "allow"}


@pytest.mark.parametrize(
    ("mode", "allowed", "rest"),
    [
        ("default", {}, "ask"),
        ("accept-edits", {"edit inside": "allow", "write inside": "allow"}, "ask"),
        ("plan", {"read outside": "ask", "read both": "ask"}, "deny"),
        ("dont-ask", {}, "deny"),
        ("bypass", {}, "allow"),
    ],
)
def test_T4_what_each_mode_says_where_no_rule_does(mode: Mode, allowed: dict[str, str], rest: str) -> None:
    got = {name: decision(policy(mode), action) for name, action in ACTIONS.items()}
    assert got == {name: (FREE | allowed).get(name, rest) for name in ACTIONS}


ODD = {
    "reads but names no path": Action("Read", Effects(reads=True), "?", "Read"),
    "edits but names no path": Action("Edit", Effects(reads=True, writes=True), "?", "Edit"),
    "calls itself reading, lists a write": Action(
        "Read", Effects(reads=True), INSIDE, "Edit(a)", (PathUse(INSIDE, "write", ROOT),)
    ),
    "calls itself reading, lists a host": Action(
        "Read",
        Effects(reads=True),
        "x",
        "x",
        (PathUse(INSIDE, "read", ROOT),),
        (HostUse("a.b", "https://a.b/"),),
    ),
    "calls itself reading, lists a command": Action(
        "Read", Effects(reads=True), "x", "x", (PathUse(INSIDE, "read", ROOT),), command="ls"
    ),
    "edits over the network": Action(
        "Edit", Effects(writes=True, network=True), "x", "x", (PathUse(INSIDE, "write", ROOT),)
    ),
    "edits and starts a process": Action(
        "Write", Effects(writes=True, processes=True), "x", "x", (PathUse(INSIDE, "write", ROOT),)
    ),
    "writes, but is no editor": Action(
        "Format", Effects(writes=True), "x", "x", (PathUse(INSIDE, "write", ROOT),)
    ),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("mode", ["default", "accept-edits", "plan"])
def test_T4_a_call_that_does_more_than_the_mode_speaks_of_is_never_allowed_by_it(
    mode: Mode, name: str
) -> None:
    assert decision(policy(mode), ODD[name]) in {"ask", "deny"}


@pytest.mark.parametrize("name", ["edit inside", "fetch", "shell", "remote"])
def test_T4_plan_denies_what_does_more_than_read_whatever_is_allowed(name: str) -> None:
    action = ACTIONS[name]
    grant = Grant(action.rule, "digest")
    rules = policy("plan", allow=["Edit", "WebFetch", "Bash", "mcp__a__*"])
    assert decision(policy(allow=["Edit", "WebFetch", "Bash", "mcp__a__*"]), action) == "allow"
    assert decision(rules, action, [grant]) == "deny"


def test_T4_bypass_allows_what_no_deny_and_no_ask_rule_names() -> None:
    rules = policy("bypass", deny=["Read(/etc/shadow)"], ask=["Bash(git push:*)"])
    assert decision(rules, reading("/etc/hosts")) == "allow"
    assert decision(rules, reading("/etc/shadow")) == "deny"
    assert decision(rules, shell("git push origin")) == "ask"


@pytest.mark.parametrize("name", sorted(set(ACTIONS) - set(FREE)))
def test_T2_dont_ask_names_the_rule_that_would_allow_it(name: str) -> None:
    action = ACTIONS[name]
    got = verdict(policy("dont-ask"), action)
    assert got.decision == "deny"
    assert action.rule in got.why


def test_T2_dont_ask_says_which_ask_rule_stands_in_the_way() -> None:
    got = verdict(policy("dont-ask", ask=["Bash(ls)"], allow=["Bash"]), shell("ls"))
    assert (got.decision, got.rule, got.scope) == ("deny", "Bash(ls)", "user")
    assert "ask rule Bash(ls)" in got.why


@pytest.mark.parametrize(("strict", "mild"), list(product(SCOPES, SCOPES)))
def test_T2_deny_over_ask_over_allow_from_any_scope(strict: str, mild: str) -> None:
    action = shell("ls")
    allow, ask = ScopeRules(mild, allow=("Bash(ls)",)), ScopeRules(mild, ask=("Bash(ls)",))
    assert decision(Policy.of("bypass", [allow, ScopeRules(strict, deny=("Bash",))]), action) == "deny"
    assert decision(Policy.of("bypass", [ask, ScopeRules(strict, deny=("Bash",))]), action) == "deny"
    assert decision(Policy.of("bypass", [allow, ScopeRules(strict, ask=("Bash",))]), action) == "ask"


def test_T2_a_verdict_names_its_rule_and_scope() -> None:
    rules = Policy.of(
        "default",
        [
            ScopeRules("session", deny=("Read(x/**)",)),
            ScopeRules("project", deny=("Read(x/**)", "Read(x/a)")),
            ScopeRules("user", allow=("Edit(y)",), ask=("WebFetch",)),
        ],
    )
    denied = verdict(rules, reading(f"{ROOT}/x/a"))
    assert (denied.decision, denied.rule, denied.scope) == ("deny", "Read(x/**)", "project")
    assert denied.why == "The deny rule Read(x/**) (project scope) forbids it."
    allowed = verdict(rules, editing(f"{ROOT}/y"))
    assert (allowed.decision, allowed.rule, allowed.scope) == ("allow", "Edit(y)", "user")
    asked = verdict(rules, fetching("example.com"))
    assert (asked.decision, asked.rule, asked.scope) == ("ask", "WebFetch", "user")
    moded = verdict(rules, shell("ls"))
    assert (moded.decision, moded.rule, moded.scope) == ("ask", None, None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ACTIONS)
def test_T5_every_reason_is_one_or_more_whole_sentences(mode: Mode, name: str) -> None:
    for rules in (
        policy(mode),
        policy(mode, ask=["Bash", "Read"]),
        policy(mode, deny=["Bash(x:*)"], allow=["Bash"]),
    ):
        why = verdict(rules, ACTIONS[name]).why
        assert why[0].isupper()
        assert why.endswith(".")


@pytest.mark.parametrize("tool", ["Read", "LS", "Glob", "Grep"])
def test_T3_Read_binds_all_that_reads(tool: str) -> None:
    inside, outside = reading(f"{ROOT}/x", tool=tool), reading("/etc", tool=tool)
    for rule in ("Read", "Read(x/**)"):
        assert decision(policy(deny=[rule]), inside) == "deny"
        assert decision(policy(ask=[rule]), inside) == "ask"
    assert decision(policy(allow=["Read"]), outside) == "ask", "a bare rule stays inside the workspace"
    assert decision(policy(allow=["Read(**)"]), outside) == "ask"
    assert decision(policy(allow=["Read(/etc/**)"]), outside) == "allow"


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
def test_T3_Edit_binds_all_that_edits_and_a_deny_of_Read_denies_it_too(tool: str) -> None:
    inside, outside = editing(f"{ROOT}/x", tool=tool), editing("/etc/x", tool=tool)
    for rule in ("Edit", "Edit(x)", "Edit(**)", tool):
        assert decision(policy(allow=[rule]), inside) == "allow"
        assert decision(policy(allow=[rule]), outside) == "ask"
        assert decision(policy("bypass", deny=[rule]), inside) == "deny"
    for rule in ("Read", "Read(x)", "Read(**)"):
        assert decision(policy("bypass", deny=[rule]), inside) == "deny"
        assert decision(policy(allow=[rule]), inside) == "ask", "an allow of Read allows no edit"
    assert decision(policy("dont-ask", deny=["Edit(x)"]), reading(f"{ROOT}/x")) == "allow"


def test_T3_the_name_of_one_tool_of_a_family_binds_that_tool_alone() -> None:
    assert decision(policy("bypass", deny=["Write"]), editing(INSIDE, tool="Edit")) == "allow"
    assert decision(policy(deny=["Grep"]), reading(INSIDE, tool="Grep")) == "deny"
    assert decision(policy(deny=["Grep"]), reading(INSIDE, tool="LS")) == "allow"


def test_T3_a_path_that_is_denied_is_denied_to_tools_that_nobody_knows() -> None:
    reads = Action("Preview", Effects(reads=True), "x", "Preview", (PathUse(f"{ROOT}/x", "read", ROOT),))
    writes = Action("Format", Effects(writes=True), "x", "Format", (PathUse(f"{ROOT}/x", "write", ROOT),))
    assert decision(policy(allow=["Preview"], deny=["Read(x)"]), reads) == "deny"
    assert decision(policy(allow=["Format"], deny=["Edit(x)"]), writes) == "deny"
    assert decision(policy(allow=["Preview"], deny=["Edit(x)"]), reads) == "allow"
    assert decision(policy(allow=["Read(x)"], mode="dont-ask"), writes) == "deny", "allowing goes by name"


def test_T3_a_search_above_a_path_that_wants_a_question_asks() -> None:
    rules = policy(ask=["Read(asked/**)", "Read(/out/**/key)"], allow=["Read(/out/**)"])
    for tool in ("Grep", "Glob"):
        assert decision(rules, reading(ROOT, tool=tool)) == "ask"
        assert decision(rules, reading(f"{ROOT}/src", tool=tool)) == "allow"
        assert decision(rules, reading("/out/a", tool=tool)) == "ask"
    assert decision(rules, reading(ROOT, tool="LS")) == "allow"
    assert decision(policy(deny=["Read(secret)"]), reading(ROOT, tool="Grep")) == "allow", (
        "it is left out instead"
    )


def test_T3_a_search_is_allowed_by_a_pattern_that_takes_in_all_beneath() -> None:
    for rule, want in {
        "/etc/ssh": "ask",
        "/etc/*": "ask",
        "/etc/ssh/**": "allow",
        "/etc/**": "allow",
    }.items():
        assert decision(policy(allow=[f"Read({rule})"]), reading("/etc/ssh", tool="Grep")) == want


def test_T3_a_rule_for_files_allows_nothing_but_files() -> None:
    path = (PathUse(f"{ROOT}/x", "read", ROOT),)
    for effects in (
        Effects(reads=True, network=True),
        Effects(reads=True, processes=True),
        Effects(writes=True),
    ):
        assert decision(policy(allow=["Read(**)", "Read"]), Action("Grep", effects, "x", "x", path)) == "ask"
    assert decision(policy(allow=["Edit(**)", "Edit"]), Action("Edit", ANY_EFFECT, "x", "x", path)) == "ask"


def test_T3_a_specifier_never_allows_a_call_that_names_nothing() -> None:
    rules = policy(allow=["Read(/**)", "Edit(/**)", "WebFetch(domain:*)", "Bash(ls)"])
    for tool in ("Read", "Grep", "Edit", "WebFetch", "Bash"):
        for effects in (
            ANY_EFFECT,
            Effects(reads=True),
            Effects(reads=True, writes=True),
            Effects(network=True),
        ):
            assert decision(rules, Action(tool, effects, "?", tool)) == "ask"


@pytest.mark.parametrize(
    "more",
    [
        {"effects": Effects(network=True, processes=True)},
        {"effects": Effects(network=True, writes=True)},
        {"command": "ls"},
        {"paths": (PathUse(INSIDE, "write", ROOT),)},
    ],
)
def test_T3_a_rule_for_a_domain_allows_nothing_but_fetching(more: dict[str, Any]) -> None:
    rules = policy(allow=["WebFetch(domain:example.com)"])
    assert decision(rules, fetching("example.com")) == "allow"
    assert decision(rules, evolve(fetching("example.com"), **more)) == "ask"


def test_T3_a_rule_that_names_no_path_allows_nothing_outside_the_workspace() -> None:
    outside = (PathUse("/etc/hosts", "read", None),)
    rules = policy(allow=["Bash(ls)", "Preview", "mcp__a__*"])
    for action in (shell("ls"), remote("Preview"), remote("mcp__a__t")):
        assert decision(rules, action) == "allow"
        assert decision(rules, evolve(action, paths=outside)) == "ask"


def test_T3_hosts_need_all_to_allow_and_one_to_deny() -> None:
    both = fetching("a.example", "b.test")
    assert decision(policy(allow=["WebFetch(domain:*.example)"]), both) == "ask"
    assert decision(policy(allow=["WebFetch"], deny=["WebFetch(domain:b.test)"]), both) == "deny"
    assert decision(policy(allow=["WebFetch(domain:*)"], ask=["WebFetch(domain:b.test)"]), both) == "ask"


@pytest.mark.parametrize(
    ("rule", "host", "matches"),
    [
        ("*.example.com", "EXAMPLE.com.", True),
        ("*.example.com", "aexample.com", False),
        ("Example.COM.", "example.com", True),
        ("com", "example.com", False),
        ("*.com", "com", True),
        ("BÜCHER.example", "xn--bcher-kva.example", True),
        ("xn--BCHER-kva.example", "xn--bcher-kva.example", True),
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.10", False),
        ("[2001:db8::1]", "2001:db8:0:0:0:0:0:1", True),
        ("2001:db8::1", "[2001:DB8::1]", True),
        ("*.1", "192.0.2.1", None),
        ("*", "[::1]", True),
        ("_dmarc.example.com", "_dmarc.example.com", True),
    ],
)
def test_T3_hosts_are_compared_label_by_label(rule: str, host: str, matches: bool | None) -> None:
    if matches is None:
        with pytest.raises(ValueError, match="neither a host name nor an address"):
            policy(allow=[f"WebFetch(domain:{rule})"])
        return
    assert decision(policy(allow=[f"WebFetch(domain:{rule})"]), fetching(host)) == (
        "allow" if matches else "ask"
    )
    assert decision(policy("bypass", deny=[f"WebFetch(domain:{rule})"]), fetching(host)) == (
        "deny" if matches else "allow"
    )


@pytest.mark.parametrize(
    ("rule", "tool", "allowed", "denied"),
    [
        ("mcp__a__*", "mcp__a__t", True, True),
        ("mcp__a__*", "mcp__ab__t", False, False),
        ("mcp__a__*", "mcp__b__a__t", False, False),
        ("mcp__a__t", "mcp__a__t", True, True),
        ("mcp__a__t", "mcp__a__tt", False, False),
        # Which server is it, "a" or "a__b"? Denying means both, allowing neither.
        ("mcp__a__*", "mcp__a__b__t", False, True),
        ("mcp__a__b__t", "mcp__a__b__t", True, True),
        ("mcp__a__*", "mcp__a___t", False, True),
        ("Bash", "bash", False, True),
        ("bash", "Bash", False, True),
    ],
)
def test_T3_names_of_tools(rule: str, tool: str, allowed: bool, denied: bool) -> None:
    assert decision(policy(allow=[rule]), remote(tool)) == ("allow" if allowed else "ask")
    assert decision(policy("bypass", deny=[rule]), remote(tool)) == ("deny" if denied else "allow")


UNREADABLE = {
    "a relative path": Action("Read", Effects(reads=True), "x", "x", (PathUse("x", "read", None),)),
    "a path with ..": Action(
        "Read", Effects(reads=True), "x", "x", (PathUse(f"{ROOT}/../etc", "read", ROOT),)
    ),
    "a path not in its root": Action(
        "Read", Effects(reads=True), "x", "x", (PathUse(f"{ROOT}2/x", "read", ROOT),)
    ),
    "a host in another script": fetching("bücher.example"),
    "a host without a name": fetching(""),
    "a host with an empty label": fetching("evil..net"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_T2_what_no_deny_rule_could_be_compared_with_is_denied(name: str) -> None:
    got = verdict(policy("bypass", allow=["Read", "WebFetch"]), UNREADABLE[name])
    assert got.decision == "deny"
    assert UNREADABLE[name].tool in got.why


def test_T5_a_grant_allows_what_its_rule_covers_while_the_tool_stays_as_it_was() -> None:
    action, grant = remote("mcp__a__write"), Grant("mcp__a__write", "digest")
    allowed = verdict(policy(), action, [grant])
    assert (allowed.decision, allowed.rule, allowed.scope) == ("allow", "mcp__a__write", "session")
    assert policy().judge(action, tool_digest="changed", grants=[grant]).decision == "ask"
    assert decision(policy(), remote("mcp__a__other"), [grant]) == "ask"
    assert decision(policy("dont-ask"), action, [grant]) == "allow"


def test_T5_a_grant_answers_an_ask_rule_and_never_a_deny() -> None:
    action, grant = shell("git push"), Grant("Bash(git push)", "digest")
    assert decision(policy(ask=["Bash(git push:*)"]), action, [grant]) == "allow"
    assert decision(policy(ask=["Bash(git push:*)"]), shell("git push -f"), [grant]) == "ask"
    assert decision(policy(deny=["Bash(git push:*)"]), action, [grant]) == "deny"
    doubtful = shell("ls && git push")
    rules = policy(deny=["Bash(git push:*)"], allow=["Bash"])
    assert decision(rules, doubtful) == "ask"
    assert decision(rules, doubtful, [Grant("Bash(ls && git push)", "digest")]) == "allow"


@pytest.mark.parametrize("rule", ["", "Bash(", "*", "Bash(git:*)", "Read", "Bash(git  push)"])
def test_T5_a_grant_that_does_not_say_this_very_thing_grants_nothing(rule: str) -> None:
    for command in ("git push", "git"):
        assert decision(policy(), shell(command), [Grant(rule, "digest")]) == "ask"


def test_T2_the_policy_in_force_is_the_one_that_its_holder_has() -> None:
    current = CurrentPolicy(policy(allow=["Bash"]))
    assert decision(current.policy, shell("ls")) == "allow"
    current.policy = policy(deny=["Bash"])
    assert decision(current.policy, shell("ls")) == "deny"
