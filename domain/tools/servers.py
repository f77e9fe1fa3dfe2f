"""The tools of all tool servers, as they come and go."""

from collections.abc import Sequence

from norma.domain.tools.remote import ListResources, ReadResource, RemoteTool, StartServer
from norma.domain.tools.remote_names import server_parts, tool_names
from norma.ports.tool import Tool
from norma.ports.tool_server import LibraryServer, ServerTool
from norma.ports.tool_source import ToolSource


class ServerTools(ToolSource):
    """
    Of each server the tools it has now, and two for its resources if it has any.

    A server that a person has yet to allow stands here as one tool that starts it (see `offer_start`); one
    that was denied, or could not be started, has none.
    """

    def __init__(self, servers: Sequence[LibraryServer]) -> None:
        self._shelves = [
            _Shelf(server, part)
            for server, part in zip(servers, _parts([server.name for server in servers]), strict=True)
        ]
        self._seen: tuple[tuple[Tool, ...], ...] = ()
        self._tools: tuple[Tool, ...] = ()

    @property
    def starts(self) -> tuple[tuple[LibraryServer, StartServer], ...]:
        """Each server with the tool that would start it, whose action is what a person is asked about."""
        return tuple((shelf.server, shelf.start) for shelf in self._shelves)

    def offer_start(self, server: LibraryServer) -> None:
        """Let the model ask for the start of *server*: the question is then put in its session."""
        for shelf in self._shelves:
            if shelf.server is server:
                shelf.offered = True

    def tools(self) -> tuple[Tool, ...]:
        seen = tuple(shelf.tools() for shelf in self._shelves)
        if len(seen) != len(self._seen) or any(a is not b for a, b in zip(seen, self._seen, strict=True)):
            self._seen = seen
            self._tools = tuple(tool for tools in seen for tool in tools)
        return self._tools


class _Shelf:
    """The tools of one server; a tool is the same object for as long as it stays as it is."""

    def __init__(self, server: LibraryServer, part: str) -> None:
        self.server = server
        self.start = StartServer(server, part)
        self.offered = False
        self._part = part
        self._library: tuple[Tool, ...] = (ListResources(server, part), ReadResource(server, part))
        self._start_alone: tuple[Tool, ...] = (self.start,)
        self._known: dict[str, tuple[ServerTool, RemoteTool]] = {}
        self._listed: tuple[ServerTool, ...] | None = None
        self._readable = False
        self._tools: tuple[Tool, ...] = ()

    def tools(self) -> tuple[Tool, ...]:
        info, listed = self.server.info, self.server.tools
        if info is None and not listed:
            return self._start_alone if self.offered else ()
        readable = self._readable if info is None else "resources" in info.capabilities
        if listed is not self._listed or readable != self._readable:
            self._listed, self._readable = listed, readable
            names = tool_names(self._part, [tool.name for tool in listed])
            remote = tuple(self._remote(tool, names[tool.name]) for tool in listed)
            self._tools = (*remote, *self._library) if readable else remote
        return self._tools

    def _remote(self, tool: ServerTool, name: str) -> RemoteTool:
        before = self._known.get(name)
        if before is not None and before[0] == tool:
            return before[1]
        made = RemoteTool(self.server, tool, name, "" if before is None else _difference(before[0], tool))
        self._known[name] = (tool, made)
        return made


def _difference(before: ServerTool, now: ServerTool) -> str:
    """What a person who knew the tool as it was should look at."""
    changed = []
    if before.description != now.description:
        changed.append(f"its description is now: {now.description}")
    if before.input_schema != now.input_schema:
        old, new = (set(tool.input_schema.get("properties", ())) for tool in (before, now))
        named = ", ".join(sorted(new - old)) or "no new ones"
        changed.append(f"its inputs have changed; new: {named}")
    return "the server has changed this tool: " + "; ".join(changed) if changed else ""


def _parts(names: list[str]) -> list[str]:
    parts = server_parts(names)
    return [parts[name] for name in names]
