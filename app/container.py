"""
What Norma is made of, in build order: each part, annotated with its port, and what it is given.

`running` opens the world and passes it in; `environments` says which part a double stands in for.
"""

from collections.abc import Sequence
from typing import Any

from dependency_injector.containers import DeclarativeContainer
from dependency_injector.providers import Callable as Call
from dependency_injector.providers import (
    Dependency,
    Factory,
    FactoryAggregate,
    List,
    Object,
    Provider,
    Singleton,
)

from norma.adapters.anthropic.model import AnthropicModel
from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.grep.ignoring import GitIgnore
from norma.adapters.grep.search import GrepSearch
from norma.adapters.http.egress import Egress
from norma.adapters.http.guard import AddressGuard
from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.openai_chat.model import OpenAIChatModel
from norma.adapters.openai_responses.model import OpenAIResponsesModel
from norma.adapters.process.runner import ShellRunner
from norma.adapters.process.tasks import ShellTasks
from norma.adapters.schemas.checks import SchemaChecks
from norma.adapters.system.clock import SystemClock
from norma.adapters.urls.parser import StandardUrls
from norma.app.embedding import embedded_model
from norma.app.parts import background_tasks, journal_path, models_folder, network_policy
from norma.app.policies import current_policy
from norma.app.server_offers import server_offers
from norma.app.settings import Settings
from norma.app.tool_servers import tool_servers
from norma.app.web import address_guard, past_proxies, web_pages, web_search
from norma.domain.engine.engine import Engine
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.tools.catalogue import builtin_tools
from norma.domain.tools.servers import ServerTools
from norma.ports.approver import Approver
from norma.ports.clock import Clock
from norma.ports.commands import CommandRunner, CommandTasks
from norma.ports.file_search import FileSearch
from norma.ports.files import IgnoreRules, Workspace
from norma.ports.journal import Journal
from norma.ports.model import ChatModel
from norma.ports.page_fetch import PageFetch
from norma.ports.schemas import SchemaCompiler
from norma.ports.tool import Tool
from norma.ports.tool_server import LibraryServer, Offers
from norma.ports.urls import UrlParser
from norma.ports.web_search import WebSearch


class Container(DeclarativeContainer):
    """One Norma. Two containers share nothing."""

    settings: Provider[Settings] = Dependency(instance_of=Settings)
    environ: Provider[Any] = Dependency()  # Mapping[str, str]
    roots: Provider[Any] = Dependency()  # Sequence[str]
    progress: Provider[Any] = Dependency()  # Callable[[str], None]
    http_session: Provider[object] = Object(None)

    clock: Provider[Clock] = Singleton(SystemClock)
    schemas: Provider[SchemaCompiler] = Singleton(SchemaChecks)
    journal: Provider[Journal] = Singleton(
        SqliteJournal,
        Call(journal_path, settings, environ),
        clock=clock,
        durability=settings.provided.journal.durability,
    )

    workspace: Provider[Workspace] = Singleton(DiskWorkspace, roots)
    search: Provider[FileSearch] = Singleton(GrepSearch, environ=environ)
    ignores: Provider[IgnoreRules] = Singleton(GitIgnore)
    tasks: Provider[CommandTasks] = Singleton(ShellTasks, settings.provided.shell.env)
    background: Provider[CommandTasks | None] = Call(background_tasks, settings, tasks)
    commands: Provider[CommandRunner] = Singleton(ShellRunner, settings.provided.shell.env, tasks=background)
    policy: Provider[CurrentPolicy] = Singleton(current_policy, settings, workspace)

    network: Provider[NetworkPolicy] = Singleton(network_policy, settings)
    egress: Provider[Egress] = Singleton(Egress, network, environ=environ, session=http_session)
    wires: FactoryAggregate[ChatModel] = FactoryAggregate(
        {
            "anthropic": Factory(AnthropicModel, egress, clock),
            "openai-chat": Factory(OpenAIChatModel, egress, clock),
            "openai-responses": Factory(OpenAIResponsesModel, egress, clock),
        }
    )

    urls: Provider[UrlParser] = Singleton(StandardUrls)
    guard: Provider[AddressGuard] = Singleton(address_guard, settings)
    guarded: Provider[Egress] = Singleton(Egress, network, environ=environ, guard=guard)
    direct: Provider[Egress] = Singleton(Egress, Call(past_proxies, network), environ=environ, guard=guard)
    pages: Provider[PageFetch] = Singleton(web_pages, settings, guarded, direct, urls, guard, clock)
    unrepeated: Provider[Egress] = Singleton(
        Egress, network, environ=environ, session=http_session, keep_alive=False
    )
    web_search: Provider[WebSearch] = Singleton(web_search, settings, environ, unrepeated)

    tools: Provider[Sequence[Tool]] = Singleton(
        builtin_tools,
        workspace,
        search,
        commands,
        policy,
        tasks=background,
        clock=clock,
        ignores=ignores,
        pages=pages,
        web_search=web_search,
        search_limit=settings.provided.search.limit,
    )

    # Nothing on this machine is behind a proxy, whatever the settings say of the network.
    loopback: Provider[Egress] = Singleton(Egress, NetworkPolicy("none"), environ=environ)
    local_wire: Provider[ChatModel] = Factory(OpenAIChatModel, loopback, clock)
    embedded: Provider[ChatModel] = Singleton(
        embedded_model,
        settings.provided.embedded,
        models_folder=Call(models_folder, environ),
        progress=progress,
        wire=local_wire.provider,
    )

    model: Provider[Any] = Dependency()  # ChatModel
    approver: Provider[Approver | None] = Object(None)

    offers: Provider[Offers] = Singleton(
        server_offers, settings, roots, policy, approver, model.provider, clock
    )
    servers: Provider[Sequence[LibraryServer]] = Singleton(
        tool_servers, settings, environ, roots, egress, clock, offers
    )
    server_tools: Provider[ServerTools] = Singleton(ServerTools, servers)
    sources: Provider[Any] = List(server_tools)  # Sequence[ToolSource]

    engine: Provider[Engine] = Factory(
        Engine,
        model=model,
        tools=tools,
        sources=sources,
        policy=policy,
        approver=approver,
        journal=journal,
        clock=clock,
        schemas=schemas,
        workspace=workspace.provided.roots[0],
    )
