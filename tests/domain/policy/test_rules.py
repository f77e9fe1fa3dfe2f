"""Which texts are rules, and what the others are told."""

import pytest

from norma.domain.policy.policy import Policy, ScopeRules
from norma.domain.policy.rules import RuleError, parse_rule


@pytest.mark.parametrize(
    "text",
    [
        "Read",
        "Read(src/**)",
        "Read(**)",
        "Edit(/abs/**)",
        "Edit(~/x)",
        r"Read(app/\[slug\]/page.tsx)",
        "Read(a (copy).txt)",
        "WebFetch(domain:example.com)",
        "WebFetch(domain:*.example.com)",
        "WebFetch(domain:*)",
        "WebFetch(domain:Example.COM.)",
        "WebFetch(domain:192.0.2.1)",
        "WebFetch(domain:[2001:db8::1])",
        "WebFetch(domain:bücher.example)",
        "Bash(git status)",
        "Bash(git commit -m 'a (b)')",
        "mcp__server__*",
        "mcp__server__tool",
        "mcp__my-server.2__some_tool",
        "ToolOfTomorrow",
    ],
)
def test_T3_rules_in_every_list(text: str) -> None:
    assert parse_rule(text).text == text
    assert parse_rule(text, "allow") == parse_rule(f"  {text}\n", "allow") == parse_rule(text, "deny")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "Read(src/**)"),
        ("Read(src", "Read(src/**)"),
        ("Read src", "Read(src/**)"),
        ("Read(a)(b", "Read(src/**)"),
        ("*", "name the tools"),
        ("Web*", "only mcp__server__*"),
        ("mcp__server", "mcp__server__*"),
        ("mcp__*", "mcp__server__*"),
        ("mcp__server__read_*", "mcp__server__*"),
        ("mcp__server__tool(x)", "takes no specifier"),
        ("Grep(foo:bar)", "Read(foo:bar) binds Grep"),
        ("Write(src/**)", "Edit(src/**) binds Write"),
        ("WebSearch(domain:example.com)", "Write WebSearch alone"),
        ("ToolOfTomorrow(x)", "Write ToolOfTomorrow alone"),
        ("Read()", "** means everything"),
        ("Read(src/)", "src/**"),
        ("Read(!src)", "another list"),
        ("Read(../x)", "no .."),
        ("Read(a/[ab])", r"\["),
        ("Read({a,b})", r"\{"),
        ("Read(a**b)", "between slashes"),
        ("Read(a\\)", "lone backslash"),
        ("WebFetch(example.com)", "WebFetch(domain:example.com)"),
        ("WebFetch(domain:)", "domain:*"),
        ("WebFetch(domain:https://example.com/)", "domain:example.com"),
        ("WebFetch(domain:example.com:8080)", "write domain:example.com"),
        ("WebFetch(domain:a.*.example.com)", "*.example.com"),
        ("WebFetch(domain:a..b)", "no part of a host name"),
        ("WebFetch(domain:exa mple.com)", "no part of a host name"),
        ("WebFetch(domain:*.192.0.2.1)", "no subdomains"),
        ("WebFetch(domain:127.1)", "192.0.2.1"),
        ("WebFetch(domain:0x7f000001)", "192.0.2.1"),
        ("WebFetch(domain:straße.example)", "xn--"),
        ("WebFetch(domain:\uff45xample.com)", "xn--"),
        ("WebFetch(domain:\u03b1\u03c2.example)", "xn--"),
        ("WebFetch(domain:b\u200dc.example)", "xn--"),
        ("WebFetch(domain:a。example)", "xn--"),
        ("Bash()", "Bash alone"),
        ("Bash(:*)", "Bash alone"),
    ],
)
def test_T3_a_text_that_is_no_rule_is_told_the_right_form(text: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    (fault,) = caught.value.faults
    assert fault.rule == text
    assert hint in fault.fault


def test_T3_a_prefix_of_a_command_can_forbid_but_not_allow() -> None:
    with pytest.raises(RuleError, match="shell parser"):
        parse_rule("Bash(git status:*)", "allow")
    assert parse_rule("Bash(git status:*)", "deny") == parse_rule("Bash(git status:*)", "ask")


@pytest.mark.parametrize("text", ["Bash(rm *)", "Bash(*)", "Bash(git * --force)"])
def test_T3_a_star_in_a_command_would_hardly_ever_forbid_so_it_is_a_fault(text: str) -> None:
    for decision in ("deny", "ask"):
        with pytest.raises(RuleError, match=r"Bash\(rm:\*\)"):
            parse_rule(text, decision)
    assert parse_rule(text, "allow").text == text, "to the letter, as of a command that a person was shown"


def test_T2_every_fault_of_every_scope_is_told_at_once_and_where_it_stands() -> None:
    user = ScopeRules("user", allow=("Grep(x)", "Read"), deny=("Read(",))
    project = ScopeRules("project", ask=("*",))
    with pytest.raises(RuleError) as caught:
        Policy.of("default", [project, user])
    places = {(fault.scope, fault.list, fault.rule) for fault in caught.value.faults}
    assert places == {("user", "allow", "Grep(x)"), ("user", "deny", "Read("), ("project", "ask", "*")}
    for fault in caught.value.faults:
        assert f"rule {fault.rule!r} in the {fault.list} list of the {fault.scope} scope" in str(caught.value)


def test_a_scope_or_mode_of_another_name_does_not_exist() -> None:
    with pytest.raises(ValueError, match="managed, user, project, session"):
        ScopeRules("local")
    with pytest.raises(ValueError, match="default, accept-edits, plan, dont-ask, bypass"):
        Policy.of("yolo")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tuple"):
        ScopeRules("user", deny="Read")  # type: ignore[arg-type]
