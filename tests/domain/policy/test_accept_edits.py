"""What the mode accept-edits leaves to a question."""

import pytest

from tests.domain.policy.examples import decision, editing, policy, verdict

DECIDING = ["norma.toml", "sub/norma.toml", ".git/config", ".git/hooks/pre-commit", ".git", "sub/.git/config"]
ORDINARY = ["a.py", "my-norma.toml", "norma.toml.md", ".github/workflows/x.yml", ".gitignore", "x.git/y"]


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
@pytest.mark.parametrize("path", [*DECIDING, ".GIT/config", "Norma.TOML"])
def test_T4_accept_edits_asks_about_what_decides_over_what_runs(path, tool):
    got = verdict(policy("accept-edits"), editing(f"/project/{path}", tool=tool))
    assert (got.decision, got.rule) == ("ask", None)
    assert f"/project/{path} decides over what runs" in got.why


@pytest.mark.parametrize("path", ORDINARY)
def test_T4_accept_edits_allows_other_files(path):
    assert decision(policy("accept-edits"), editing(f"/project/{path}")) == "allow"


def test_T4_one_such_file_among_others_is_enough():
    assert decision(policy("accept-edits"), editing("/project/a.py", "/project/.git/config")) == "ask"


@pytest.mark.parametrize("path", DECIDING)
def test_T4_a_rule_or_bypass_allows_them_all_the_same(path):
    action = editing(f"/project/{path}")
    assert decision(policy("accept-edits", allow=["Edit(**)"]), action) == "allow"
    assert decision(policy("bypass"), action) == "allow"
