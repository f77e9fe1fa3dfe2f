"""
What Norma is made of, in build order: each part, annotated with its port, and what it is given.

`running` opens the world and passes it in; `environments` says which part a double stands in for. What a
turn can do without is made `later`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dependency_injector.containers import DeclarativeContainer
from dependency_injector.providers import Callable as Call
from dependency_injector.providers import (
    Dependency,
    Factory,
    FactoryAggregate,
    Object,
    Provider,
    Singleton,
)

from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.http.egress import Egress
from norma.adapters.http.guard import AddressGuard
from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.journal.sqlite import SqliteJournal
from norma.adapters.process.tasks import ShellTasks
from norma.adapters.schemas.checks import SchemaChecks
from norma.adapters.system.clock import SystemClock
from norma.app.later import (
    AnthropicModel,
    GitIgnore,
    GrepSearch,
    LaterCommands,
    LaterDocuments,
    LaterEmbedded,
    LaterIgnores,
    LaterPages,
    LaterSearch,
    LaterWebSearch,
    OpenAIChatModel,
    OpenAIResponsesModel,
    PdfDocuments,
    ServerTools,
    ShellRunner,
    StandardUrls,
    embedded_model,
    server_offers,
    tool_servers,
    web_pages,
    web_search,
)
from norma.app.parts import (
    address_guard,
    background_tasks,
    journal_path,
    models_folder,
    network_policy,
    past_proxies,
    servers_wanted,
    sources_wanted,
)
from norma.app.policies import current_policy
from norma.app.settings import Settings
from norma.domain.engine.engine import Engine
from norma.domain.policy.policy import CurrentPolicy
from norma.domain.tools.catalogue import builtin_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from norma.adapters.embedded.lazy import EmbeddedModel
    from norma.ports.approver import Approver
    from norma.ports.clock import Clock
    from norma.ports.commands import CommandRunner, CommandTasks
    from norma.ports.documents import Documents
    from norma.ports.file_search import FileSearch
    from norma.ports.files import IgnoreRules, Workspace
    from norma.ports.journal import Journal
    from norma.ports.model import ChatModel
    from norma.ports.page_fetch import PageFetch
    from norma.ports.schemas import SchemaCompiler
    from norma.ports.tool import Tool
    from norma.ports.tool_server import LibraryServer, Offers
    from norma.ports.tool_source import ToolSource
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
    grep: Provider[FileSearch] = Singleton(GrepSearch, environ=environ)
    search: Provider[FileSearch] = Singleton(LaterSearch, grep.provider)
    git_ignores: Provider[IgnoreRules] = Singleton(GitIgnore)
    ignores: Provider[IgnoreRules] = Singleton(LaterIgnores, git_ignores.provider)
    pdf: Provider[Documents] = Singleton(PdfDocuments)
    documents: Provider[Documents] = Singleton(LaterDocuments, pdf.provider)
    tasks: Provider[CommandTasks] = Singleton(ShellTasks, settings.provided.shell.env)
    background: Provider[CommandTasks | None] = Call(background_tasks, settings, tasks)
    shell: Provider[CommandRunner] = Singleton(ShellRunner, settings.provided.shell.env, tasks=background)
    commands: Provider[CommandRunner] = Singleton(LaterCommands, shell.provider)
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
    fetched: Provider[PageFetch] = Singleton(web_pages, settings, guarded, direct, urls, guard, clock)
    pages: Provider[PageFetch] = Singleton(LaterPages, fetched.provider)
    unrepeated: Provider[Egress] = Singleton(
        Egress, network, environ=environ, session=http_session, keep_alive=False
    )
    search_backend: Provider[WebSearch] = Singleton(web_search, settings, environ, unrepeated)
    web_search: Provider[WebSearch] = Singleton(LaterWebSearch, search_backend.provider)

    tools: Provider[Sequence[Tool]] = Singleton(
        builtin_tools,
        workspace,
        search,
        commands,
        policy,
        tasks=background,
        clock=clock,
        ignores=ignores,
        documents=documents,
        pages=pages,
        web_search=web_search,
        search_limit=settings.provided.search.limit,
    )

    # Nothing on this machine is behind a proxy, whatever the settings say of the network.
    loopback: Provider[Egress] = Singleton(Egress, NetworkPolicy("none"), environ=environ)
    local_wire: Provider[ChatModel] = Factory(OpenAIChatModel, loopback, clock)
    own_server: Provider[EmbeddedModel] = Singleton(
        embedded_model,
        settings.provided.embedded,
        models_folder=Call(models_folder, environ),
        progress=progress,
        wire=local_wire.provider,
    )
    embedded: Provider[ChatModel] = Singleton(LaterEmbedded, own_server.provider)

    model: Provider[Any] = Dependency()  # ChatModel
    approver: Provider[Approver | None] = Object(None)

    offers: Provider[Offers] = Singleton(
        server_offers, settings, roots, policy, approver, model.provider, clock
    )
    all_servers: Provider[Sequence[LibraryServer]] = Singleton(
        tool_servers, settings, environ, roots, egress, clock, offers
    )
    servers: Provider[Sequence[LibraryServer]] = Singleton(servers_wanted, settings, all_servers.provider)
    server_tools: Provider[ServerTools] = Singleton(ServerTools, servers)
    sources: Provider[Sequence[ToolSource]] = Singleton(sources_wanted, servers, server_tools.provider)

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
