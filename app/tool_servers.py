"""
The tool servers that settings name: made here, started once a person or a rule has allowed it (rule T1).

Naming a file with `--mcp-config` allows its servers, unless a rule denies. Others are judged by the policy
and, where that asks, by whoever can be asked before the first prompt; where nobody answers then, the model
may ask for the start within a session.
"""

import asyncio
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from norma.adapters.http.egress import Egress
from norma.adapters.mcp.channel import Channel
from norma.adapters.mcp.environment import minimal_environment
from norma.adapters.mcp.http import HttpChannel
from norma.adapters.mcp.restarts import RestartPolicy
from norma.adapters.mcp.server import McpServer
from norma.adapters.mcp.stdio import StdioChannel, shown_command
from norma.app.settings import ServerSettings, Settings, SettingsError
from norma.domain.model.actions import Action, action_digest, tool_digest
from norma.domain.model.questions import Answer, Question
from norma.domain.model.secrets import Secret
from norma.domain.policy.policy import CurrentPolicy, Verdict
from norma.domain.tools.remote import StartServer
from norma.domain.tools.servers import ServerTools
from norma.ports.approver import Approver
from norma.ports.clock import Clock
from norma.ports.tool_server import LibraryServer, Offers, ServerFailed, ToolServer

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def tool_servers(
    settings: Settings,
    environ: Mapping[str, str],
    roots: Sequence[str],
    egress: Egress,
    clock: Clock,
    offers: Offers,
) -> list[LibraryServer]:
    """
    Every server of the settings, none of them started. Whoever has them closes them.

    Raises:
        SettingsError: a value names a variable that is not set.
    """
    faults: list[str] = []
    made: list[LibraryServer] = []
    for name, server in settings.mcp.servers.items():
        where = f"mcp.servers.{name}"
        channel, shows = _way(name, server, where, faults, environ, roots, egress, clock)
        made.append(
            McpServer(
                name,
                shows,
                channel,
                clock,
                offers=offers,
                protocol=server.protocol,
                request_s=settings.mcp.start_timeout_s,
                call_s=settings.mcp.call_timeout_s or None,
                restarts=RestartPolicy(settings.mcp.restarts),
            )
        )
    if faults:
        raise SettingsError(faults)
    return made


def _way(
    name: str,
    server: ServerSettings,
    where: str,
    faults: list[str],
    environ: Mapping[str, str],
    roots: Sequence[str],
    egress: Egress,
    clock: Clock,
) -> tuple[Callable[[], Channel], str]:
    """What makes the channel to a server, and what that starts or reaches."""
    if server.url is not None:
        url = server.url
        headers = {
            key: Secret(value) for key, value in _filled(server.headers, f"{where}.headers", environ, faults)
        }
        return lambda: HttpChannel(name, url, headers, egress, clock), _without_password(url)
    assert server.command is not None  # settings have either
    command, args = server.command, server.args
    added = dict(_filled(server.env, f"{where}.env", environ, faults))
    env = minimal_environment(environ, added)
    cwd = server.cwd or (roots[0] if roots else os.getcwd())
    names = f"\nwith the variables {', '.join(added)}" if added else ""
    shows = f"{shown_command(command, args)}\n(in {cwd}){names}"
    secrets = tuple(added.values())
    return lambda: StdioChannel(name, command, args, env=env, cwd=cwd, secrets=secrets), shows


def _filled(
    values: Mapping[str, str], where: str, environ: Mapping[str, str], faults: list[str]
) -> list[tuple[str, str]]:
    """*values* with our own variables put in; one that is not set and has no default is a fault."""

    def value_of(found: "re.Match[str]") -> str:
        name, default = found[1], found[2]
        if name not in environ and default is None:
            faults.append(f"{where}: the variable {name} is not set; ${{{name}:-}} would make that empty")
        return environ.get(name, default or "")

    return [(key, _VARIABLE.sub(value_of, value)) for key, value in values.items()]


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"{head.partition('://')[0]}://***@{tail}" if at else url


async def start_servers(
    shelf: ServerTools,
    policy: CurrentPolicy,
    approver: Approver | None,
    *,
    permitted: Collection[str] = (),
    only: Collection[str] | None = None,
) -> tuple[str, ...]:
    """
    Start the servers that may be, all at once after the questions; what a person should know of the others.

    *permitted* are allowed already, by name. *only* leaves out all others.
    """
    notes: list[str] = []
    starting: list[ToolServer] = []
    for server, start in shelf.starts:
        if only is not None and server.name not in only:
            continue
        why = await start_refusal(server.name, start, policy, approver, server.name in permitted)
        part = server_part_of(start)
        if part != server.name:
            notes.append(f"the tool server {server.name!r} is called {part} in rules: mcp__{part}__*")
        if why is None:
            starting.append(server)
            continue
        if why == "":
            shelf.offer_start(server)
            why = f"nobody was asked yet; the rule {start.spec.name} would allow it"
        notes.append(f"the tool server {server.name} was not started: {why}")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_started(server)) for server in starting]
    return (*notes, *(note for task in tasks for note in task.result()))


def server_part_of(start: StartServer) -> str:
    """What stands for the server in the names of its tools."""
    return start.spec.name.split("__")[1]


async def _started(server: ToolServer) -> list[str]:
    try:
        await server.connect()
    except ServerFailed as error:
        return [error.failure.message]
    return [f"tool server {server.name}: {note}" for note in server.notes]


async def start_refusal(
    name: str, start: StartServer, policy: CurrentPolicy, approver: Approver | None, permitted: bool
) -> str | None:
    """
    Why a server must not be started: None if it may, empty if nobody has decided yet.

    *permitted*: it was named for that. A rule that denies still counts.
    """
    action = start.examine({})
    digest = tool_digest(start.spec)
    verdict = policy.policy.judge(action, tool_digest=digest)
    if verdict.decision == "deny":
        return verdict.why
    if verdict.decision == "allow" or permitted:
        return None
    if approver is None:
        return ""
    answer = await approver.ask(_question(name, action, digest, verdict))
    if not isinstance(answer, Answer):
        return ""
    return None if answer.allows else answer.feedback or "it was denied"


def _question(name: str, action: Action, digest: str, verdict: Verdict) -> Question:
    key = f"mcp:{name}"
    return Question(key, key, action, action_digest(action), digest, verdict.why)
