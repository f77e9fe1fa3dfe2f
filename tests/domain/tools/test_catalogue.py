"""What holds for every built-in tool."""

from typing import Any

import pytest

from norma.adapters.schemas.checks import SchemaChecks
from norma.domain.model.actions import Traits
from norma.ports.errors import Refused, ToolFailed
from norma.ports.tool import Tool, ToolRun
from tests.domain.tools.calling import Host

NAMES = ["Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit", "Bash"]

ARGUMENTS: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "f"},
    "LS": {},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "Write": {"file_path": "f", "content": "x"},
    "Edit": {"file_path": "f", "old_string": "a", "new_string": "b"},
    "MultiEdit": {"file_path": "f", "edits": [{"old_string": "a", "new_string": "b"}]},
    "Bash": {"command": "true"},
}
PATH_OF = {"LS": "path", "Glob": "path", "Grep": "path"}


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_the_tools_and_their_names(host):
    assert list(host.tools) == NAMES


def test_only_what_reads_may_overlap_and_be_repeated(host):
    free = Traits(parallel=True, repeatable=True)
    assert {name for name, tool in host.tools.items() if tool.traits == free} == {
        "Read",
        "LS",
        "Glob",
        "Grep",
    }
    assert all(host.tools[name].traits == Traits() for name in NAMES[4:])


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_compiles_and_takes_unknown_properties(host, name):
    tool: Tool = host.tools[name]
    check = SchemaChecks().compile(tool.spec.input_schema)
    assert check({**ARGUMENTS[name], "unknown": 1}) is None
    required = tool.spec.input_schema.get("required", [])
    assert all(f'"{one}"' in str(check({})) for one in required)
    assert all("description" in each for each in tool.spec.input_schema["properties"].values())


@pytest.mark.parametrize("name", NAMES)
def test_examining_changes_nothing(tmp_path, host, name):
    host.examine(name, ARGUMENTS[name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_T8_a_call_declares_its_effects_and_paths(tmp_path, host, name):
    action = host.examine(name, ARGUMENTS[name])
    assert action.tool == name
    assert action.effects.read_only == (name in {"Read", "LS", "Glob", "Grep"})
    if name != "Bash":
        (use,) = action.paths
        assert use.root == str(tmp_path)
        assert use.access == ("read" if action.effects.read_only else "write")
        assert use.path in action.shows


@pytest.mark.parametrize("name", NAMES)
def test_T3_the_rule_of_an_action_allows_just_that_call(tmp_path, name):
    (tmp_path / "we{ird} [n]*me").mkdir()
    place = tmp_path / "we{ird} [n]*me"
    key = PATH_OF.get(name, "file_path")
    arguments = ARGUMENTS[name] if name == "Bash" else {**ARGUMENTS[name], key: str(place)}
    rule = Host(tmp_path).examine(name, arguments).rule
    assert Host(tmp_path, mode="dont-ask", allow=[rule]).judge(name, arguments).rule in {rule, None}
    assert Host(tmp_path, mode="dont-ask", allow=[rule]).judge(name, arguments).decision == "allow"
    other = {"command": "true "} if name == "Bash" else {**arguments, key: str(tmp_path / "other")}
    assert Host(tmp_path, mode="dont-ask", allow=[rule]).judge(name, other).rule is None


@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "MultiEdit"])
def test_T4_outside_the_roots_a_file_is_asked_about(tmp_path, name):
    root = tmp_path / "root"
    root.mkdir()
    host = Host(root)
    action = host.examine(name, {**ARGUMENTS[name], "file_path": str(tmp_path / "f")})
    assert [use.root for use in action.paths] == [None]
    assert f"{tmp_path}/f (outside the workspace)" in action.shows
    assert host.judge(name, {**ARGUMENTS[name], "file_path": str(tmp_path / "f")}).decision == "ask"


@pytest.mark.parametrize("name", ["LS", "Glob", "Grep"])
@pytest.mark.parametrize("path", ["..", "/etc", "link", "link/deeper", "root2"])
def test_G7_a_search_outside_the_roots_is_refused_after_links_are_followed(tmp_path, name, path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "root2").mkdir()
    (root / "link").symlink_to(tmp_path / "root2")
    with pytest.raises(Refused, match="outside"):
        Host(root).examine(name, {**ARGUMENTS[name], "path": f"../{path}" if path == "root2" else path})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Bash"])
@pytest.mark.parametrize("path", ["a\0b", "loop/x", "\ud800", "x" * 300])
def test_a_path_that_leads_nowhere_is_refused_in_words(tmp_path, host, name, path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Refused, match="path"):
        host.examine(name, {**ARGUMENTS[name], PATH_OF.get(name, "file_path"): path})


@pytest.mark.parametrize("name", ["Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit"])
def test_T3_a_deny_of_read_binds_every_file_tool(tmp_path, name):
    (tmp_path / "secrets").mkdir()
    host = Host(tmp_path, deny=["Read(secrets/**)"], allow=["Read(**)", "Edit(**)"])
    key = PATH_OF.get(name, "file_path")
    path = "secrets" if key == "path" else "secrets/k"
    assert host.judge(name, {**ARGUMENTS[name], key: path}).decision == "deny"


async def test_a_run_does_what_was_examined_and_not_what_the_path_means_by_then(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (root / "a/f").write_text("mine")
    (outside / "f").write_text("canary")
    host = Host(root)
    arguments = {"file_path": "a/f"}
    action = host.examine("Read", arguments)
    (root / "a").rename(root / "b")
    (root / "a").symlink_to(outside)
    with pytest.raises(ToolFailed, match="become a symbolic link"):
        await host.tools["Read"].run(ToolRun(arguments, action, host.progress.append))
