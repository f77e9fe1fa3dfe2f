"""P2: names that every wire takes, distinct, and the same after a restart."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from norma.domain.policy.rules import parse_rule
from norma.domain.tools.remote_names import RESERVED, server_parts, tool_names

WIRE = re.compile("[a-zA-Z0-9_-]{1,64}")
HARD = ["read.file", "read_file", "repo/search", "two words", "UPPER", "upper", "naïve-ärger", "x" * 200,
        "x" * 199 + "y", "a__b", "_a", "a_", "", "emoji-😀", "server-start"]  # fmt: skip
names = st.sampled_from(HARD) | st.text(max_size=90)


@given(st.lists(names, unique=True), st.lists(names, unique=True))
def test_P2_all_names_of_all_servers_are_legal_and_distinct(servers: list[str], tools: list[str]) -> None:
    parts = server_parts(servers)
    made = [name for server in servers for name in tool_names(parts[server], tools).values()]
    assert len(made) == len(set(made)) == len(servers) * len(tools)
    for name in made:
        assert WIRE.fullmatch(name)
        parse_rule(name, "allow")


@given(st.lists(names, unique=True, min_size=1))
def test_P2_a_name_does_not_depend_on_the_order(tools: list[str]) -> None:
    assert tool_names("s", tools) == tool_names("s", list(reversed(tools)))


@pytest.mark.parametrize("tool", ["read.file", "x" * 200, "two words"])
def test_P2_a_mapped_name_is_the_same_whatever_else_there_is(tool: str) -> None:
    assert tool_names("s", [tool])[tool] == tool_names("s", HARD)[tool]


def test_P2_legal_names_are_kept() -> None:
    assert tool_names("git", ["status", "a__b", "UPPER", "upper"]) == {
        "status": "mcp__git__status",
        "a__b": "mcp__git__a__b",
        "UPPER": "mcp__git__UPPER",
        "upper": "mcp__git__upper",
    }


def test_P2_a_server_is_told_from_its_tool() -> None:
    parts = server_parts(["a", "a__b", "a_", "A"])
    assert parts["a__b"] != "a__b"
    assert len({part.casefold() for part in parts.values()}) == 4
    made = {*tool_names(parts["a"], ["b__c", "_b"]).values(), *tool_names(parts["a__b"], ["c"]).values()}
    assert len(made | {*tool_names(parts["a_"], ["b"]).values()}) == 4


@pytest.mark.parametrize("tool", sorted(RESERVED))
def test_P2_no_tool_has_the_name_of_what_we_do_with_its_server(tool: str) -> None:
    assert tool_names("s", [tool])[tool] != f"mcp__s__{tool}"
