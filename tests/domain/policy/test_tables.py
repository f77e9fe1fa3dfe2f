"""
The tables of cases, as far as the policy decides them.

The policy gets parsed values, so a test here resolves paths and parses URLs the plain way. Of the
path table, "link resolved", "the parent is resolved" and "case" need a real file system as well, and of
the domain table the address rule and the redirect need the fetcher; tests of those prove the whole.
"""

import posixpath
from typing import Any
from urllib.parse import urlsplit

import pytest

from norma.domain.policy.policy import Policy, ScopeRules
from norma.domain.policy.rules import RuleError
from tests.domain.policy.examples import ROOT, decision, editing, fetching, policy, reading, shell
from tests.rigs.fixtures import rows_of

LINKS = {"link_to_secrets/k": "secrets/k"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name in ("path", "domain", "bash"):
        if f"{name}_row" in metafunc.fixturenames:
            rows = rows_of(metafunc.config, "policy", f"{name}_rules.json")
            metafunc.parametrize(f"{name}_row", rows, ids=[row["why"] for row in rows])


def read_policy(text: str, separator: str, *, ignore_case: bool = False) -> Policy:
    lists: dict[str, list[str]] = {"allow": [], "deny": []}
    for one in text.split(separator):
        word, rule = one.strip().split(" ", maxsplit=1)
        if rule.startswith("domain:"):
            rule = f"WebFetch({rule})"
        lists[word].append(rule.removeprefix("tool "))
    return policy(allow=lists["allow"], deny=lists["deny"], ignore_case=ignore_case)


def test_T3_path_table(path_row: dict[str, Any]) -> None:
    rules = read_policy(path_row["rule"], ";")
    path = posixpath.normpath(posixpath.join(ROOT, LINKS.get(path_row["path"], path_row["path"])))
    match path_row["want"]:
        case "deny" | "allow" as want:
            assert decision(rules, reading(path)) == want
        case "deny on a case-insensitive file system":
            assert decision(read_policy(path_row["rule"], ";", ignore_case=True), reading(path)) == "deny"
            assert decision(rules, reading(path)) == "allow"
        case "documented: not detected":
            assert decision(rules, reading(path)) == "allow"
        case "deny for writing, though it does not exist yet":
            for tool in ("Write", "Edit", "MultiEdit"):
                assert decision(rules, editing(path, tool=tool)) == "deny"
        case "the literal name or the home folder, the same in the check and in the call":
            assert decision(rules, reading(path)) == "allow"
            assert decision(policy(deny=["Read(~/**)"]), reading(path)) == "deny"
            assert decision(policy(allow=["Read(~/**)"]), reading("/home/me/x")) == "ask"
        case want:
            pytest.fail(f"nobody decided what {want!r} means here")


def test_T3_domain_table(domain_row: dict[str, Any]) -> None:
    rules = read_policy(domain_row["rule"], ",")
    url, _, hop = domain_row["url"].partition(" redirects to ")
    host = urlsplit(url).hostname or ""
    match domain_row["want"]:
        case "deny" | "allow" | "ask" as want:
            assert decision(rules, fetching(host)) == want
        case "documented either way, the same for allow and deny":
            assert decision(rules, fetching(host)) == "allow"
            rule = domain_row["rule"].removeprefix("allow ")
            assert decision(policy(deny=[f"WebFetch({rule})"]), fetching(host)) == "deny"
        case "ask or allow, documented" | "documented either way":
            assert decision(rules, fetching(host)) == "allow", "neither port nor scheme is looked at"
        case "refuse":
            assert decision(rules, fetching(host)) == "allow", (
                "the address rule is the fetcher's, not the policy's"
            )
        case "ask for evil.net or stop with the new address in the result":
            assert decision(rules, fetching(host)) == "allow"
            assert decision(rules, fetching(urlsplit(hop).hostname or "")) == "ask"
        case want:
            pytest.fail(f"nobody decided what {want!r} means here")


def test_T3_no_row_of_the_shell_table_is_allowed_that_should_not_be(bash_row: dict[str, Any]) -> None:
    lists = {word: tuple(rules) for word, rules in bash_row["rules"].items()}
    command = shell(bash_row["command"])
    if any(rule.endswith(":*)") for rule in lists.get("allow", ())):
        with pytest.raises(RuleError, match="shell parser"):
            Policy.of("default", [ScopeRules("user", **lists)])
        # The rule's words as exact rules allow those commands alone.
        lists["allow"] = tuple(rule.replace(":*", "") for rule in lists["allow"])
        exact = f"Bash({bash_row['command']})" in lists["allow"]
        assert decision(Policy.of("default", [ScopeRules("user", **lists)]), command) == (
            "allow" if exact else "ask"
        )
        return
    got = decision(Policy.of("default", [ScopeRules("user", **lists)]), command)
    # Without a parser "echo rm x" can't be told from running rm, nor "ls && rm x" from quoting it: both ask.
    assert got in {"deny", "ask"}
    if bash_row["command"].startswith("rm "):
        assert got == "deny"
