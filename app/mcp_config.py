"""
`--mcp-config FILE`: the JSON in which other clients keep their tool servers.

    {"mcpServers": {"name": {"command": "…", "args": ["…"], "env": {}} or {"url": "…", "headers": {}}}}

Keys that other clients put beside these are left out, each told once; what would change what runs is a fault.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from norma.app.sources import Layer
from norma.domain.model.values import frozen

_KNOWN = ("command", "args", "env", "url", "headers", "cwd", "protocol")
_HTTP = ("http", "streamable-http", "streamableHttp", "streamable_http")


@frozen
class McpConfig:
    """What a file says, as a layer of settings: *names* are its servers, which naming the file permits."""

    layer: Layer
    names: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class _Twins(dict[str, Any]):
    """A JSON object that remembers which of its keys came twice; the first value stays."""

    twins: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> "_Twins":
        made = cls()
        twins = []
        for key, value in pairs:
            if key in made:
                twins.append(key)
            else:
                made[key] = value
        made.twins = tuple(twins)
        return made


def mcp_config(path: Path, name: str) -> McpConfig:
    """Read the file at *path*, called *name* in messages; what can't be read is a fault of its layer."""
    try:
        tree = json.loads(path.read_bytes(), object_pairs_hook=_Twins.of)
    except OSError as error:
        return _fault(f"{name}: the file of tool servers can't be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        return _fault(f"{name}: not JSON: {error}")
    servers = tree.get("mcpServers") if isinstance(tree, Mapping) else None
    if not isinstance(servers, _Twins):
        return _fault(f'{name}: expected {{"mcpServers": {{"name": {{"command": …}} or {{"url": …}}}}}}')
    notes = [f"{name}: two servers are called {twin!r}; the second was left out" for twin in servers.twins]
    read: dict[str, Any] = {}
    faults: list[str] = []
    for server, entry in servers.items():
        if not isinstance(entry, Mapping):
            read[server] = entry  # what it should be is said where settings are filled
        elif entry.get("disabled") is True:
            notes.append(f"{name}: the server {server!r} is disabled there")
        else:
            read[server] = {key: entry[key] for key in _KNOWN if key in entry}
            faults += _misfits(name, server, entry)
            unknown = [key for key in entry if key not in (*_KNOWN, "type", "transport", "disabled")]
            if unknown:
                notes.append(f"{name}: of the server {server!r} these are not used: {', '.join(unknown)}")
    layer = Layer(name, {"mcp": {"servers": read}}, path.absolute().parent, tuple(faults), "session")
    return McpConfig(layer, frozenset(read), tuple(notes))


def _misfits(name: str, server: str, entry: Mapping[str, Any]) -> list[str]:
    kind = entry.get("type", entry.get("transport"))
    if kind is None or (kind == "stdio" and "command" in entry) or (kind in _HTTP and "url" in entry):
        return []
    known = ", ".join(("stdio", *_HTTP))
    return [f"{name}: the server {server!r} is of type {kind!r}, which does not fit; known are {known}"]


def _fault(what: str) -> McpConfig:
    return McpConfig(Layer("--mcp-config", faults=(what,)))
