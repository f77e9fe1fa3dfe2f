"""Rules on the text of shell commands, while there is no shell parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.model.questions import Grant
from norma.domain.policy.rules import command_rule
from tests.domain.policy.examples import decision, policy, shell

EXACT = policy(allow=["Bash(git status)", "Bash(ls *.py)"])
NO_RM = policy(allow=["Bash"], deny=["Bash(rm:*)"])
NO_PUSH = policy(allow=["Bash"], deny=["Bash(git push:*)"])


def test_T3_a_command_is_allowed_by_its_exact_text() -> None:
    assert decision(EXACT, shell("git status")) == "allow"
    assert decision(EXACT, shell("ls *.py")) == "allow"


@given(st.sampled_from(["", " ", "\n", ";", "&&", "-", "x", "\u00a0", "#"]), st.text(max_size=6))
def test_T3_nothing_but_the_exact_text_is_allowed(joint: str, more: str) -> None:
    for command in (f"git status{joint}{more}", f"{more}{joint}git status", f"ls {more}.py"):
        if command not in {"git status", "ls *.py"}:
            assert decision(EXACT, shell(command)) == "ask"


@given(*[st.text(alphabet="a \\:*()\n", min_size=1, max_size=6).filter(str.strip)] * 2)
def test_T5_the_narrowest_rule_of_a_command_allows_that_command_alone(command: str, other: str) -> None:
    granted = [Grant(command_rule(command), "digest")]
    assert decision(policy(allow=[command_rule(command)]), shell(command)) == "allow"
    assert decision(policy(), shell(command), granted) == "allow"
    for more in (other, command + other, command + ":*", command.removesuffix(":*"), "\\" + command):
        if more != command:
            assert decision(policy(), shell(more), granted) == "ask"


WAYS_TO_RUN = [
    "{}",
    "true && {}",
    "true; {}",
    "true\n{}",
    "true | {}",
    "true & {}",
    "({})",
    "{{ {}; }}",
    "if true; then {}; fi",
    "timeout 5 {}",
    "nice -n 5 {}",
    "env {}",
    "command {}",
    "eval {}",
    "time {}",
    "xargs {}",
    "find . -exec {} +",
    "bash -c '{}'",
    'bash -c "{}"',
    "echo $({})",
    "echo `{}`",
    "cat <({})",
    "A=1 {}",
    " {}",
    "\t{}",
    "{} # {}",
    "cat <<E | sh\n{}\nE",
    "sudo -u root {}",
]
SPELLINGS = [
    "rm x",
    "rm",
    "/bin/rm x",
    "../../bin/rm x",
    "r\\m x",
    "'rm' x",
    'r""m x',
    "RM x",
    "rm\tx",
    "rm  x",
    "$A x",
]


@given(st.lists(st.sampled_from(WAYS_TO_RUN), min_size=1, max_size=3), st.sampled_from(SPELLINGS))
def test_T3_what_may_run_a_denied_program_is_never_silently_allowed(ways: list[str], command: str) -> None:
    for way in ways:
        command = way.format(command, command)
    assert decision(NO_RM, shell(command)) in {"ask", "deny"}
    for mode in ("bypass", "accept-edits"):
        assert decision(policy(mode, allow=["Bash"], deny=["Bash(rm:*)"]), shell(command)) in {"ask", "deny"}


@pytest.mark.parametrize("command", ["rm x", "rm", "rm\t-rf x", "rm x && ls"])
def test_T3_a_command_that_begins_with_denied_words_is_denied(command: str) -> None:
    assert decision(NO_RM, shell(command)) == "deny"


@pytest.mark.parametrize(
    "command", ["ls -la", "git status", "python -m pytest tests/x.py", "rmdir x", "git stash"]
)
def test_T3_plain_commands_without_the_denied_words_stay_allowed(command: str) -> None:
    assert decision(NO_RM, shell(command)) == "allow"
    assert decision(NO_PUSH, shell(command)) == "allow"


@pytest.mark.parametrize(
    ("command", "want"),
    [
        ("git push", "deny"),
        ("git push -f", "deny"),
        ("git pushx", "allow"),
        ("git -C . push", "ask"),
        ("push git", "ask"),
        ("hg push", "allow"),
    ],
)
def test_T3_words_are_compared_as_words(command: str, want: str) -> None:
    assert decision(NO_PUSH, shell(command)) == want


def test_T3_an_exact_text_forbids_that_text_and_asks_about_what_may_hide_it() -> None:
    rules = policy(allow=["Bash"], deny=["Bash(make deploy)"])
    assert decision(rules, shell("make deploy")) == "deny"
    assert decision(rules, shell("make  deploy ")) == "deny"
    assert decision(rules, shell("make deploy X")) == "ask"
    assert decision(rules, shell("make test")) == "allow"


@pytest.mark.parametrize("command", ["", " ", "\n"])
def test_T3_an_empty_command_is_not_certain(command: str) -> None:
    assert decision(NO_RM, shell(command)) == "ask"


def test_T3_an_assignment_in_front_may_change_what_runs() -> None:
    assert decision(NO_RM, shell("LD_PRELOAD=./x.so ls")) == "ask"
    assert decision(NO_RM, shell("make CC=gcc")) == "allow"


def test_T3_an_ask_rule_asks_also_where_it_can_not_be_told() -> None:
    rules = policy(allow=["Bash"], ask=["Bash(git push:*)"])
    assert decision(rules, shell("git push")) == "ask"
    assert decision(rules, shell("true && git push")) == "ask"
    assert decision(rules, shell("git status")) == "allow"
