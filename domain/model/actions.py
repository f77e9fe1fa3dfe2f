"""
Actions: what a tool call will do, in parsed values.

A tool describes a call as an action before anything runs. The policy judges the action, the
person is shown it, and the tool then does exactly that. Nothing here is a guess by name: paths
are resolved, hosts are in ASCII form, a command is the text that the shell will get.
"""

import hashlib
import json
from typing import Any, Literal, TypeAlias

from norma.domain.model.requests import ToolSpec
from norma.domain.model.values import frozen

Access: TypeAlias = Literal["read", "write"]


@frozen
class Effects:
    """
    What a call may touch outside the engine (rule T8).

    *processes* excludes the two kinds that count as reading (rule T4): the ripgrep that was
    resolved, and a worker of our own interpreter that gets data and opens nothing.
    """

    reads: bool = False
    writes: bool = False
    network: bool = False
    processes: bool = False

    @property
    def read_only(self) -> bool:
        """Whether the call changes nothing and reaches nobody."""
        return not (self.writes or self.network or self.processes)


ANY_EFFECT = Effects(reads=True, writes=True, network=True, processes=True)


@frozen
class PathUse:
    """
    A path that a call touches.

    *path* is absolute with symlinks resolved (of a new file: its parent's). *root* is the
    workspace root that holds it, None if it lies outside all of them.
    """

    path: str
    access: Access
    root: str | None


@frozen
class HostUse:
    """A host that a call reaches: *host* in ASCII form without a trailing dot, and the whole URL."""

    host: str
    url: str


@frozen
class Action:
    """
    What one call will do.

    *shows* is what a person must see before saying yes: the resolved path, the host, the whole
    command, uncut. *rule* is the narrowest rule that would allow the call, as a person would
    write it.
    """

    tool: str
    effects: Effects
    shows: str
    rule: str
    paths: tuple[PathUse, ...] = ()
    hosts: tuple[HostUse, ...] = ()
    command: str | None = None


@frozen
class Traits:
    """How calls of a tool may be scheduled: *parallel* with others, *repeatable* after a crash."""

    parallel: bool = False
    repeatable: bool = False


def tool_digest(spec: ToolSpec) -> str:
    """What a person trusted when trusting a tool: its name, description and schema."""
    return _digest([spec.name, spec.description, spec.input_schema])


def call_digest(spec: ToolSpec, arguments: Any) -> str:
    """What an answer is bound to: the tool as described, and the exact arguments (rule T5)."""
    return _digest([tool_digest(spec), arguments])


def action_digest(action: Action) -> str:
    """What an answer about a running call is bound to: exactly what was shown and would be allowed."""
    return _digest([action.tool, action.rule, action.shows])


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode()).hexdigest()
