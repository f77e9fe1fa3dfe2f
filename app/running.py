"""
Open the world, build Norma in it, and close everything again.

Imports are inside the functions: a host that only names `open_norma` pays for none of what it opens.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from norma.app.settings import Settings, SettingsError

if TYPE_CHECKING:
    import aiohttp

    from norma.adapters.discovery.local import LocalServer
    from norma.app.container import Container
    from norma.app.models import Choice, Models
    from norma.domain.engine.engine import Engine
    from norma.domain.engine.session import Session
    from norma.domain.model.requests import SystemSegment
    from norma.ports.approver import Approver
    from norma.ports.journal import Journal
    from norma.ports.model import ChatModel
    from norma.ports.tool import Tool
    from norma.ports.tool_server import LibraryServer

SystemPrompt: TypeAlias = "Callable[[Sequence[str], Sequence[str]], tuple[SystemSegment, ...]]"
"""Makes the system prompt of the workspace roots and the names of the tools."""


class Norma:
    """
    An open Norma: models, sessions, and the parts behind them.

    Not made by hosts; `open_norma` makes it and closes what belongs to it.
    """

    def __init__(self, container: "Container", models: "Models", choice: "Choice", engine: "Engine") -> None:
        self._container = container
        self._models = models
        self._engine = engine
        self._sessions: list[Session] = []
        self.choice = choice
        """Which model was chosen, and why."""
        self.notes: tuple[str, ...] = ()
        """What a person should know: tool servers that are not there, and why."""

    @property
    def journal(self) -> "Journal":
        """Where the sessions are kept."""
        return self._container.journal()

    @property
    def workspace(self) -> str:
        """The first workspace root; sessions belong to it."""
        return self._container.workspace().roots[0]

    def server(self, name: str) -> "LibraryServer":
        """
        The tool server of that name, for its resources and prompts.

        Raises KeyError if the settings have none.
        """
        return {server.name: server for server in self._container.servers()}[name]

    def model(self, name: str | None = None) -> "ChatModel":
        """
        The model that sessions use, or another one of the settings. The same object each time.

        Raises SettingsError if the settings have no such model, or it can't be made.
        """
        return self.choice.model if name is None else self._models.configured(name)

    async def session(self, session_id: str | None = None) -> "Session":
        """
        A new session, or the one of that id as the journal has it (new, too, if it has none).

        Raises ValueError for an id that can't be one, JournalFailed if it can't be read.
        """
        session = await self._engine.session(session_id)
        self._sessions.append(session)
        return session

    def hear(self, owner: str) -> None:
        """A task of session *owner* has something to tell; with no turn it waits for the result of a tool."""
        session = next((one for one in reversed(self._sessions) if one.id == owner), None)
        if session is None or not session.busy:
            return
        notices = self._container.tasks().notices(owner)
        session.steer("\n".join(["<task-notification>", *notices, "</task-notification>"]))

    async def aclose(self) -> None:
        """End every turn that is going on, and wait for it."""
        while self._sessions:
            await self._sessions.pop().aclose()


@asynccontextmanager
async def open_norma(
    settings: Settings,
    *,
    approver: "Approver | None" = None,
    environ: Mapping[str, str] | None = None,
    model: str | None = None,
    tools: "Sequence[Tool]" = (),
    system: "tuple[SystemSegment, ...] | SystemPrompt" = (),
    progress: Callable[[str], None] | None = None,
    http_session: "aiohttp.ClientSession | None" = None,
    permitted_servers: Collection[str] = (),
) -> AsyncIterator[Norma]:
    """
    Norma, as *settings* want it; closed with everything it opened when the block ends.

    *approver* answers permission questions; None: they come as events, for `session.answer`. *model* names
    the settings' model for sessions. *tools* are the host's own, beside the built-in ones. *system* is the
    system prompt, none by default. *progress* gets a line now and then while a model is fetched.
    *http_session* stays the host's (contract N4). *permitted_servers* are tool servers of the settings, by
    name, that may be started without a question; others are judged, and asked about before this returns.

    Raises:
        SettingsError: the settings ask for something that is not there (a folder, a key, a wire).
    """
    async with open_parts(
        settings, environ=environ, approver=approver, progress=progress, http_session=http_session
    ) as container:
        models = models_of(container)
        choice = await models.choose(model)
        tools = (*container.tools(), *tools) if choice.tools else ()
        if callable(system):
            system = system(container.workspace().roots, [tool.spec.name for tool in tools])
        container.model.override(choice.model)
        container.check_dependencies()
        norma = Norma(container, models, choice, container.engine(tools=tools, system=system))
        if choice.tools:
            norma.notes = await started_servers(container, permitted_servers)
        container.tasks().listen(norma.hear)
        try:
            yield norma
        finally:
            await norma.aclose()


@asynccontextmanager
async def open_parts(
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    approver: "Approver | None" = None,
    progress: Callable[[str], None] | None = None,
    http_session: "aiohttp.ClientSession | None" = None,
) -> AsyncIterator["Container"]:
    """The container of *settings* without a choice of model; what it opened is closed when the block ends."""
    import os

    environ = os.environ if environ is None else environ
    container = container_of(settings, environ, progress=progress, http_session=http_session)
    if approver is not None:
        container.approver.override(approver)
    _open_workspace(container)
    async with AsyncExitStack() as stack:
        web = (container.guarded, container.direct, container.unrepeated)
        parts = (
            container.egress,
            container.loopback,
            *web,
            container.journal,
            container.embedded,
            container.tasks,
        )
        for part in parts:
            close = getattr(part(), "aclose", None)  # a double may have nothing to close
            if close is not None:
                stack.push_async_callback(close)
        for server in container.servers():
            stack.push_async_callback(server.aclose)
        yield container


async def started_servers(
    container: "Container", permitted: Collection[str], *, only: Collection[str] | None = None
) -> tuple[str, ...]:
    """Start the tool servers that may be (*only* those); what a person should know of the rest."""
    if not container.servers():
        return ()
    from norma.app.tool_servers import start_servers

    return await start_servers(
        container.server_tools(), container.policy(), container.approver(), permitted=permitted, only=only
    )


def container_of(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    progress: Callable[[str], None] | None = None,
    http_session: Any = None,
) -> "Container":
    """A container of its own, with the doubles that the settings' environment wants."""
    from dependency_injector.providers import Object, Singleton

    from norma.app.container import Container
    from norma.app.environments import doubles

    container = Container(
        settings=Object(settings),
        environ=Object(environ),
        roots=Object(_roots(settings)),
        progress=Object(progress or _silent),
        http_session=Object(http_session),
    )
    for name, make in doubles(settings.environment).items():
        container.providers[name].override(Singleton(make))
    return container


def _roots(settings: Settings) -> tuple[str, ...]:
    import os

    return settings.workspace.roots or (os.getcwd(),)


def _silent(line: str) -> None:
    pass


def _open_workspace(container: "Container") -> None:
    """Look at the workspace roots first: nothing else makes sense without them."""
    try:
        container.workspace()
    except ValueError as error:
        raise SettingsError([f"workspace.roots: {error}"]) from error


def models_of(container: "Container") -> "Models":
    """The ways to a model that *container* has."""
    from norma.app.models import Models

    def embedded() -> "Choice":
        from norma.app.embedding import embedded_choice

        return embedded_choice(container.embedded(), settings.embedded, container.clock())

    async def local() -> "LocalServer | None":
        from norma.app.probing import local_server

        return await local_server(container.loopback())

    settings = container.settings()
    return Models(
        settings,
        container.environ(),
        settings.environment,
        container.wires.providers,
        container.clock(),
        container.local_wire,
        local,
        embedded,
    )
