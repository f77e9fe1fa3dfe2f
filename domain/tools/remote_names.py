"""
Names for strangers' tools: `mcp__server__tool`, in letters that every model wire takes (contract P2). Pure.

No two tools ever share one: a server's part has no `__` inside and no `_` at its ends, so that the name says
where the tool's part begins. What is legal keeps its name; another gets a mark made of its own name alone, so
that it is the same after a restart whatever else there is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

MOST = 64
MOST_SERVER = 30
START, RESOURCES, READ = "server-start", "resources-list", "resources-read"
SAMPLING, ELICITATION = "model-asked", "person-asked"
RESERVED = frozenset({START, RESOURCES, READ, SAMPLING, ELICITATION})
"""What we do with a server ourselves: a permission for it must not let one of its tools run."""

_SERVER = re.compile(r"[A-Za-z0-9](?:(?!__)[A-Za-z0-9_-])*")
_TOOL = re.compile(r"[A-Za-z0-9_-]+")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_MARK = 9


def server_parts(servers: Iterable[str]) -> Mapping[str, str]:
    """The part of a name that stands for each server. Case counts for nothing, as in rules that deny."""

    def legal(name: str) -> bool:
        plain = _SERVER.fullmatch(name) is not None and not name.endswith("_")
        return plain and len(name) <= MOST_SERVER

    return _distinct(servers, legal, MOST_SERVER, squeeze=True)


def tool_names(server_part: str, tools: Iterable[str]) -> Mapping[str, str]:
    """The name for each tool of one server, by the server's own name for it."""
    prefix = f"mcp__{server_part}__"
    room = MOST - len(prefix)

    def legal(name: str) -> bool:
        return _TOOL.fullmatch(name) is not None and len(name) <= room and name not in RESERVED

    parts = _distinct(tools, legal, room, squeeze=False)
    return {tool: prefix + part for tool, part in parts.items()}


def own_name(server_part: str, what: str) -> str:
    """The name of something that we do with a server."""
    return f"mcp__{server_part}__{what}"


def _distinct(
    names: Iterable[str], legal: Callable[[str], bool], most: int, *, squeeze: bool
) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(names), key=lambda name: (not legal(name), name)):
        part, tries = name, 0
        while not legal(part) or (part.casefold() if squeeze else part) in taken:
            mark = sha256(f"{tries or ''}{name}".encode("utf-8", "replace")).hexdigest()[: _MARK - 1]
            clean = _ILLEGAL.sub("_", name)[: most - _MARK]
            if squeeze:
                clean = re.sub("_+", "_", clean).strip("_-") or "server"
            part = f"{clean}_{mark}"
            tries += 1
        found[name] = part
        taken.add(part.casefold() if squeeze else part)
    return found
