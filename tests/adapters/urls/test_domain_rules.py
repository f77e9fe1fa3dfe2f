"""The table of domain rules, over the very action that WebFetch shows for a URL (T3, F5, F6)."""

import pytest

from norma.adapters.http.egress import Egress, NetworkPolicy
from norma.adapters.http.guard import AddressGuard
from norma.adapters.memory.clock import ManualClock
from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.fetch import WebPages
from norma.domain.model.actions import tool_digest
from norma.domain.policy.policy import Policy, ScopeRules
from norma.domain.tools.web_fetch import WebFetch, web_fetch_action
from norma.ports.errors import Refused
from tests.rigs.fixtures import rows_of

URLS = StandardUrls()


def rules(text: str) -> ScopeRules:
    """Rules as the table notes them: `deny domain:evil.net, allow tool WebFetch`."""
    lists: dict[str, list[str]] = {"allow": [], "ask": [], "deny": []}
    for part in text.split(", "):
        word, _, what = part.partition(" ")
        lists[word].append(f"WebFetch({what})" if what.startswith("domain:") else what.removeprefix("tool "))
    return ScopeRules("user", *(tuple(lists[name]) for name in ("allow", "ask", "deny")))


def decided(rule: str, url: str) -> str:
    guard = AddressGuard()
    tool = WebFetch(
        WebPages(Egress(NetworkPolicy("none"), environ={}, guard=guard), URLS, guard), ManualClock()
    )
    policy = Policy.of("default", [rules(rule)])
    try:
        action = tool.examine({"url": url})
    except Refused:
        return "refuse"
    return policy.judge(action, tool_digest=tool_digest(tool.spec)).decision


def test_T3_every_row_of_the_table_is_decided_as_it_says(pytestconfig: pytest.Config) -> None:
    wrong = []
    for row in rows_of(pytestconfig, "policy", "domain_rules.json"):
        first, _, hop = row["url"].partition(" redirects to ")
        if hop:  # the hop is judged by itself
            policy = Policy.of("default", [rules(row["rule"])])
            verdict = str(policy.judge(web_fetch_action(URLS.parse(hop)), tool_digest="x").decision)
        else:
            verdict = decided(row["rule"], first)
        wants = row["want"]
        wanted = {
            word
            for word in ("allow", "ask", "deny", "refuse")
            if wants.startswith(word) or f"or {word}" in wants
        }
        if wanted and verdict not in wanted:
            wrong.append((row["rule"], row["url"], verdict, wants))
    assert wrong == []
