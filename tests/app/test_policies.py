"""The policy that settings make, over a real workspace with links in it."""

import os

import pytest

from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.memory.workspace import MemoryWorkspace
from norma.app.policies import current_policy
from norma.app.settings import Settings
from norma.domain.model.actions import Action, Effects, PathUse


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / ".vault/deep").mkdir(parents=True)
    (folder / "secrets").symlink_to(".vault")
    return folder


def policy(workspace, mode="bypass", **lists):
    permissions = {"mode": mode, **lists}
    return current_policy(Settings.from_mapping({"permissions": permissions}), workspace).policy


def judged(of, workspace, path, tool="Read"):
    found = workspace.resolve(str(path))
    writes = tool != "Read"
    use = PathUse(found.path, "write" if writes else "read", found.root)
    action = Action(tool, Effects(reads=True, writes=writes), found.path, "rule", (use,))
    return of.judge(action, tool_digest="").decision


@pytest.mark.parametrize("rule", ["secrets/**", "secrets", "./secrets/**", "secrets/*", "secrets/**/k?y"])
def test_T3_a_denied_path_that_is_a_link_is_denied_where_it_leads(root, rule):
    workspace = DiskWorkspace([str(root)])
    of = policy(workspace, deny=[f"Read({rule})"])
    for path in ("secrets/key", ".vault/key"):
        assert judged(of, workspace, path) == "deny"
        assert of.hides(workspace.resolve(path).path, workspace.roots)
    assert judged(of, workspace, "other/key") == "allow"


@pytest.mark.parametrize("rule", ["secrets/deep/new/**", "{root}/secrets/deep/new", "./secrets//deep/new"])
def test_T3_a_link_in_the_middle_and_a_missing_end(root, rule):
    workspace = DiskWorkspace([str(root)])
    of = policy(workspace, deny=[f"Read({rule.format(root=root)})"])
    assert judged(of, workspace, ".vault/deep/new/x") == "deny"
    assert judged(of, workspace, ".vault/deep/other") == "allow"


def test_T3_a_link_out_of_the_workspace_and_an_absolute_rule(tmp_path, root):
    outside = tmp_path / "outside [1]"
    outside.mkdir()
    (root / "out").symlink_to(outside)
    (tmp_path / "way").symlink_to(root)
    workspace = DiskWorkspace([str(root)])
    assert judged(policy(workspace, deny=["Read(out/**)"]), workspace, outside / "x") == "deny"
    assert judged(policy(workspace, deny=["Read(out/**)"]), workspace, tmp_path / "outside 1/x") == "allow"
    assert judged(policy(workspace, deny=[f"Read({tmp_path}/way/**)"]), workspace, "a") == "deny"


def test_T3_a_chain_of_links_and_a_second_root(tmp_path, root):
    second = tmp_path / "second"
    (second / "real").mkdir(parents=True)
    (second / "middle").symlink_to("real")
    (second / "secrets").symlink_to("middle")
    workspace = DiskWorkspace([str(root), str(second)])
    of = policy(workspace, deny=["Edit(secrets/**)"])
    assert judged(of, workspace, second / "secrets/x", "Write") == "deny"
    assert judged(of, workspace, second / "real/x", "Write") == "deny"
    assert judged(of, workspace, second / "real/x") == "allow"
    assert judged(of, workspace, second / "other/x", "Write") == "allow"


def test_T3_an_ask_rule_follows_links_and_an_allow_rule_does_not(root):
    workspace = DiskWorkspace([str(root)])
    asking = policy(workspace, ask=["Edit(secrets/**)"])
    assert judged(asking, workspace, "secrets/x", "Edit") == "ask"
    allowing = policy(workspace, mode="default", allow=["Edit(secrets/**)"])
    assert judged(allowing, workspace, "secrets/x", "Edit") == "ask"


@pytest.mark.parametrize("rule", ["loop/**", "x" * 300 + "/**", "**", "/**", "**/key", "*", "Bash", "/"])
def test_T3_what_leads_nowhere_stays_as_it_was_written(root, rule):
    (root / "loop").symlink_to("loop")
    workspace = DiskWorkspace([str(root)])
    text = rule if rule == "Bash" else f"Read({rule})"
    (deny,) = policy(workspace, deny=[text]).deny
    assert deny.rule.text == text


def test_T3_case_is_ignored_where_the_file_system_ignores_it(root):
    workspace = DiskWorkspace([str(root)])
    assert judged(policy(workspace, deny=["Read(keys/**)"]), workspace, "KEYS/x") == "allow"
    # As a file system that ignores case looks: the swapped name finds the same entry.
    lower = root / "lower"
    lower.mkdir()
    (lower / "a").write_text("")
    os.link(lower / "a", lower / "A")
    ignoring = DiskWorkspace([str(lower)])
    assert ignoring.ignores_case
    of = policy(ignoring, deny=["Read(keys/**)"], ask=["Edit(Notes)"])
    assert judged(of, ignoring, "KEYS/x") == "deny"
    assert judged(of, ignoring, "nOTES", "Edit") == "ask"


def test_a_workspace_in_memory_tells_case_apart():
    workspace = MemoryWorkspace({"/project/a": b""}, links={"/project/secrets": ".vault"})
    of = policy(workspace, deny=["Read(secrets/**)"])
    assert judged(of, workspace, "/project/.vault/x") == "deny"
    assert judged(of, workspace, "/project/.VAULT/x") == "allow"
