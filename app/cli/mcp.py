"""
`norma mcp`: tool servers, without a model.

What a person types answers the question about that call, never the one about starting a server: that is
answered by `--mcp-config`, by a rule, or at the terminal.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, run_async
from norma.app.running import open_parts
from norma.app.tool_servers import server_part_of, start_refusal
from norma.domain.model import to_json
from norma.domain.model.blocks import ToolResult, text_of
from norma.domain.model.failures import Failure
from norma.domain.model.values import frozen
from norma.domain.tools.remote import RemoteTool, StartServer
from norma.domain.tools.remote_names import READ, RESOURCES, own_name
from norma.ports.errors import PortError, Refused
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import LibraryServer, OutcomeUnknown, Prompt, Resource, ServerFailed

if TYPE_CHECKING:
    from norma.app.container import Container
    from norma.ports.approver import Approver


def run(command: Command) -> int:
    """Do what was asked; status 1 if a server could not be used, or a tool's result is an error."""
    return run_async(_run(command))


async def _run(command: Command) -> int:
    options = command.options
    servers = command.settings.mcp.servers
    if options.server is not None and options.server not in servers:
        raise UsageError(
            f"there is no tool server {options.server!r} (there: {', '.join(servers) or 'none'})"
        )
    async with open_parts(command.settings, environ=command.environ, approver=_approver(command)) as parts:
        doing = _Doing(command, parts)
        match options.action:
            case "list":
                return doing.list()
            case "tools":
                return await doing.tools()
            case "probe":
                return await doing.probe()
            case "call":
                return await doing.call()
            case "resources":
                return await doing.resources()
            case _:
                return await doing.prompts()


def _approver(command: Command) -> "Approver":
    from norma.app.cli.conversation import approver_for

    return approver_for(command)


@frozen
class _Seen:
    """A server that was to be connected, and what came of it."""

    server: LibraryServer
    start: StartServer
    failure: Failure | None = None


class _Doing:
    """One command over the servers of the settings."""

    def __init__(self, command: Command, parts: "Container") -> None:
        self._command = command
        self._options = command.options
        self._parts = parts
        wanted = self._options.server
        self._starts = [
            (server, start)
            for server, start in parts.server_tools().starts
            if wanted is None or server.name == wanted
        ]

    def list(self) -> int:
        """What is set up; nothing is started."""
        items = []
        for server, start in self._starts:
            told = self._command.settings.mcp.servers[server.name]
            items.append(
                {
                    "name": server.name,
                    "transport": "stdio" if told.url is None else "http",
                    "shows": server.shows,
                    "protocol": told.protocol,
                    "start_rule": start.spec.name,
                }
            )
        text = "\n".join(f"{item['name']}: {item['shows']}" for item in items)
        self._command.output.record({"type": "servers", "items": items}, text)
        self._note_none()
        return 0

    async def tools(self) -> int:
        """The tools of one server, or of all."""
        seen = await self._connected()
        items = [_tool(tool) for tool in self._parts.server_tools().tools() if isinstance(tool, RemoteTool)]
        notes = [f"{one.server.name}: {note}" for one in seen for note in one.server.notes]
        notes += [one.failure.message for one in seen if one.failure is not None]
        text = "\n".join(f"{item['name']}  {_first_line(item['description'])}" for item in items)
        self._command.output.record({"type": "tools", "items": items, "notes": notes}, text)
        self._notes(notes)
        self._note_none()
        return _worst(seen)

    async def probe(self) -> int:
        """Whether each server comes up, and how long that takes."""
        seen = await self._connected()
        checks = []
        for one in seen:
            info = one.server.info
            if one.failure is not None or info is None:
                detail = one.failure.message if one.failure is not None else "it is not connected"
                remedy = f"allow the start with --allow {one.start.spec.name}" if _is_refused(one) else None
            else:
                what = f"{info.name} {info.version}".strip() or "a server without a name"
                notes = "".join(f"; {note}" for note in one.server.notes)
                detail = f"{what}, protocol {info.protocol}, {len(one.server.tools)} tools{notes}"
                remedy = None
            ok = one.failure is None
            checks.append({"name": one.server.name, "ok": ok, "detail": detail, "remedy": remedy})
        ok = all(check["ok"] for check in checks)
        text = "\n".join(
            f"{'ok  ' if check['ok'] else 'FAIL'} {check['name']}: {check['detail']}" for check in checks
        )
        self._command.output.record({"type": "report", "ok": ok, "checks": checks}, text)
        self._note_none()
        return 0 if ok else 1

    async def call(self) -> int:
        """One call, under the name given, listed or not."""
        name = self._options.item
        if self._options.server is None or name is None:
            raise UsageError("norma mcp call needs SERVER and TOOL, and takes ARGS")
        arguments = self._arguments()
        server, start = await self._one()
        self._may(server, start, name, arguments)
        try:
            output = await server.call(name, arguments, self._progress)
        except ServerFailed as error:
            output = ToolOutput.of(str(error), is_error=True)
            if not isinstance(error, OutcomeUnknown):
                self._command.output.note(f"the call failed: {error.failure.kind}")
        record = to_json(ToolResult(name, output.blocks, output.is_error))
        self._command.output.record(record, text_of(output.blocks) or _kinds(output.blocks))
        return 1 if output.is_error else 0

    async def resources(self) -> int:
        """What one server offers for reading, or one of them."""
        if self._options.server is None:
            raise UsageError("norma mcp resources needs SERVER, and takes a URI")
        server, start = await self._one()
        uri = self._options.item
        self._allowed(start, RESOURCES if uri is None else READ)
        if uri is not None:
            blocks = await server.read(uri)
            record = {"type": "resource", "uri": uri, "blocks": to_json(blocks)}
            self._command.output.record(record, text_of(blocks) or _kinds(blocks))
            return 0
        found = await server.resources()
        items = [_resource(one) for one in found]
        text = "\n".join(f"{item['uri']}  {item['name']}" for item in items)
        self._command.output.record({"type": "resources", "items": items}, text)
        return 0

    async def prompts(self) -> int:
        """The prompts of one server, or one of them filled in."""
        if self._options.server is None:
            raise UsageError("norma mcp prompts needs SERVER, and takes NAME and ARGS")
        server, _ = await self._one()
        name = self._options.item
        if name is not None:
            arguments = {key: str(value) for key, value in self._arguments().items()}
            messages = await server.prompt(name, arguments)
            text = "\n".join(f"{message.role}: {text_of(message.blocks)}" for message in messages)
            record = {"type": "prompt", "name": name, "messages": to_json(messages)}
            self._command.output.record(record, text)
            return 0
        items = [_prompt(one) for one in await server.prompts()]
        text = "\n".join(f"{item['name']}  {item['description']}" for item in items)
        self._command.output.record({"type": "prompts", "items": items}, text)
        return 0

    # -- servers

    async def _one(self) -> tuple[LibraryServer, StartServer]:
        """The server that was named, connected. Raises PortError."""
        ((server, start),) = self._starts
        await self._permit(server, start)
        await server.connect()
        return server, start

    async def _connected(self) -> Sequence[_Seen]:
        """All servers in question, each connected or with its failure."""
        permitted = []
        seen: dict[str, _Seen] = {}
        for server, start in self._starts:
            try:
                await self._permit(server, start)
            except PortError as error:
                seen[server.name] = _Seen(server, start, error.failure)
            else:
                permitted.append((server, start))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_seen(server, start)) for server, start in permitted]
        seen |= {one.server.name: one for one in (task.result() for task in tasks)}
        return [seen[server.name] for server, _ in self._starts]

    async def _permit(self, server: LibraryServer, start: StartServer) -> None:
        """Raises Refused if the server must not be started."""
        named = server.name in self._command.reading.permitted_servers
        why = await start_refusal(server.name, start, self._parts.policy(), self._parts.approver(), named)
        if why is not None:
            asked = why or f"nobody can be asked; the rule {start.spec.name} would allow it"
            raise Refused(f"the tool server {server.name} was not started: {asked}")

    def _may(
        self, server: LibraryServer, start: StartServer, name: str, arguments: Mapping[str, Any]
    ) -> None:
        """Typing a call answers its question; what a rule denies stays denied. Raises Refused."""
        for tool in self._parts.server_tools().tools():
            if isinstance(tool, RemoteTool) and (tool.server_name, tool.remote_name) == (server.name, name):
                self._judge(tool.spec.name)
                return
        self._allowed(start, name)

    def _allowed(self, start: StartServer, what: str) -> None:
        self._judge(own_name(server_part_of(start), what))

    def _judge(self, name: str) -> None:
        from norma.domain.model.actions import ANY_EFFECT, Action

        verdict = self._parts.policy().policy.judge(Action(name, ANY_EFFECT, name, name), tool_digest="")
        if verdict.decision == "deny":
            raise Refused(verdict.why)

    # -- words

    def _arguments(self) -> Mapping[str, Any]:
        given = self._options.arguments
        text = sys.stdin.read() if given == "-" else given
        if text is None or not text.strip():
            return {}
        try:
            value = json.loads(text)
        except ValueError as error:
            raise UsageError(f"ARGS are not JSON: {error}") from error
        if not isinstance(value, dict):
            raise UsageError('ARGS must be a JSON object, as in \'{"path": "/tmp"}\'')
        return value

    def _progress(self, line: str) -> None:
        self._command.output.note(line)

    def _notes(self, notes: Sequence[str]) -> None:
        if not self._options.json:
            for note in notes:
                self._command.output.note(note)

    def _note_none(self) -> None:
        if not self._starts:
            self._command.output.note("no tool server is set up; mcp.servers in norma.toml, or --mcp-config")


async def _seen(server: LibraryServer, start: StartServer) -> _Seen:
    try:
        await server.connect()
    except ServerFailed as error:
        return _Seen(server, start, error.failure)
    return _Seen(server, start)


def _worst(seen: Sequence[_Seen]) -> int:
    return 1 if any(one.failure is not None for one in seen) else 0


def _is_refused(one: _Seen) -> bool:
    return one.failure is not None and one.failure.kind == "refused"


def _tool(tool: RemoteTool) -> dict[str, Any]:
    return {
        "name": tool.spec.name,
        "server": tool.server_name,
        "remote_name": tool.remote_name,
        "description": tool.spec.description,
        "input_schema": to_json(dict(tool.spec.input_schema)),
        "read_only": tool.traits.parallel,
        "repeatable": tool.traits.repeatable,
    }


def _resource(one: Resource) -> dict[str, Any]:
    return {
        "uri": one.uri,
        "name": one.name,
        "description": one.description,
        "media_type": one.media_type,
        "template": one.template,
    }


def _prompt(one: Prompt) -> dict[str, Any]:
    arguments = [
        {"name": gap.name, "description": gap.description, "required": gap.required} for gap in one.arguments
    ]
    return {"name": one.name, "description": one.description, "arguments": arguments}


def _first_line(text: object) -> str:
    return str(text).strip().partition("\n")[0][:100]


def _kinds(blocks: Sequence[Any]) -> str:
    return "\n".join(f"[{to_json(block)['type']}]" for block in blocks)
