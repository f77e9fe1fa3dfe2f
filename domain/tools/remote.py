"""
Tools of tool servers, as the engine knows tools.

A server may do anything, and what it says of its tools proves nothing, so each call declares every effect and
the policy decides by name. Its hints only say what may overlap and be repeated.
"""

import json
from collections.abc import Mapping
from typing import Any

from norma.domain.model.actions import ANY_EFFECT, Action, Effects, Traits
from norma.domain.model.blocks import Text
from norma.domain.model.requests import ToolSpec
from norma.domain.tools.limits import counted
from norma.domain.tools.remote_names import READ, RESOURCES, START, own_name
from norma.domain.tools.schemas import inputs, words
from norma.ports.errors import PortError, ToolFailed
from norma.ports.tool import Tool, ToolOutput, ToolRun
from norma.ports.tool_server import LibraryServer, Resource, ServerTool, ToolServer


class RemoteTool(Tool):
    """
    One tool of *server* as it was when it was listed. *changed* says what is other than before.

    A tool that the server has dropped since is called all the same; the server then says that it has.
    """

    def __init__(self, server: ToolServer, tool: ServerTool, name: str, changed: str = "") -> None:
        self._server = server
        self._tool = tool
        self._spec = ToolSpec(name, tool.description, tool.input_schema)
        self._changed = changed

    @property
    def server_name(self) -> str:
        """Whose tool it is."""
        return self._server.name

    @property
    def remote_name(self) -> str:
        """What the server calls it."""
        return self._tool.name

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def traits(self) -> Traits:
        hints = self._tool.hints
        return Traits(parallel=hints.read_only, repeatable=hints.repeatable)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        name = self._spec.name
        shows = f"tool {self._tool.name} of the server {self._server.name}, with\n{_shown(arguments)}"
        if self._changed:
            shows += f"\n({self._changed})"
        return Action(name, ANY_EFFECT, shows, name)

    async def run(self, run: ToolRun) -> ToolOutput:
        try:
            return await self._server.call(self._tool.name, run.arguments, run.progress)
        except PortError as error:
            raise ToolFailed(str(error)) from error


class StartServer(Tool):
    """
    Starts a server that nobody has allowed yet; its tools are there at the next model call.

    Its description holds the whole command, so that a permission is bound to exactly that.
    """

    def __init__(self, server: ToolServer, server_part: str) -> None:
        self._server = server
        about = f"Start the tool server {server.name}. Its tools appear after that. It is: {server.shows}"
        self._spec = ToolSpec(own_name(server_part, START), about, inputs({}, {}))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def traits(self) -> Traits:
        return Traits(repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        name = self._spec.name
        shows = f"start the tool server {self._server.name}, and again if it dies:\n{self._server.shows}"
        return Action(name, ANY_EFFECT, shows, name)

    async def run(self, run: ToolRun) -> ToolOutput:
        try:
            await self._server.connect()
        except PortError as error:
            raise ToolFailed(str(error)) from error
        names = ", ".join(tool.name for tool in self._server.tools)
        return ToolOutput.of(f"{self._server.name} is started. Its tools: {names or 'none'}.")


class ListResources(Tool):
    """What a server offers for reading."""

    def __init__(self, server: LibraryServer, server_part: str) -> None:
        self._server = server
        about = f"List what the server {server.name} offers for reading: addresses, names and types."
        self._spec = ToolSpec(own_name(server_part, RESOURCES), about, inputs({}, {}))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        name = self._spec.name
        return Action(name, _ASKS, f"list the resources of the server {self._server.name}", name)

    async def run(self, run: ToolRun) -> ToolOutput:
        try:
            found = await self._server.resources()
        except PortError as error:
            raise ToolFailed(str(error)) from error
        lines = [_line(resource) for resource in found]
        return ToolOutput.of("\n".join([counted(len(lines), "resource"), *lines]))


class ReadResource(Tool):
    """The text or file at one of a server's addresses."""

    def __init__(self, server: LibraryServer, server_part: str) -> None:
        self._server = server
        about = f"Read a resource of the server {server.name} by its address."
        schema = inputs({"uri": words("The address, as listed, with the gaps of a template filled in.")})
        self._spec = ToolSpec(own_name(server_part, READ), about, schema)

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def traits(self) -> Traits:
        return Traits(parallel=True, repeatable=True)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        name = self._spec.name
        shows = f"read {arguments['uri']} from the server {self._server.name}"
        return Action(name, _ASKS, shows, name)

    async def run(self, run: ToolRun) -> ToolOutput:
        try:
            blocks = await self._server.read(run.arguments["uri"])
        except PortError as error:
            raise ToolFailed(str(error)) from error
        return ToolOutput(blocks or (Text("The resource is empty."),))


_ASKS = Effects(reads=True, network=True, processes=True)
"""Where a server takes a resource from is its own affair; the protocol says no more than that it reads."""


def _shown(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=dict)


def _line(resource: Resource) -> str:
    kind = "template" if resource.template else resource.media_type or "type not given"
    about = f": {resource.description}" if resource.description else ""
    name = "" if resource.name == resource.uri else f" {resource.name}"
    return f"{resource.uri}{name} ({kind}){about}"
