"""Small values that parts are built from, taken from the settings."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from norma.adapters.http.guard import AddressGuard
from norma.adapters.http.policy import NetworkPolicy
from norma.app.places import Places
from norma.app.settings import Settings
from norma.ports.commands import CommandTasks

if TYPE_CHECKING:
    from norma.ports.tool_server import LibraryServer
    from norma.ports.tool_source import ToolSource


def network_policy(settings: Settings) -> NetworkPolicy:
    """How every client reaches the network."""
    network = settings.network
    return NetworkPolicy(
        network.proxy,
        network.ca_file,
        network.insecure_tls,
        network.connect_timeout_s,
        network.idle_timeout_s or None,
    )


def journal_path(settings: Settings, environ: Mapping[str, str]) -> str:
    """Where sessions are kept."""
    return settings.journal.path or str(Places.of(environ).journal)


def background_tasks(settings: Settings, tasks: CommandTasks) -> CommandTasks | None:
    """What commands may be left to, None where settings want no such thing."""
    return tasks if settings.shell.background else None


def models_folder(environ: Mapping[str, str]) -> str:
    """Where fetched models are kept."""
    return str(Places.of(environ).models)


def address_guard(settings: Settings) -> AddressGuard:
    """The guard over every URL that a model or a page supplies."""
    return AddressGuard(settings.fetch.allow_addresses)


def past_proxies(network: NetworkPolicy) -> NetworkPolicy:
    """The same network without any proxy, for where fetch.proxy_fallback wants it."""
    return evolve(network, proxy="none")


def servers_wanted(
    settings: Settings, make: "Callable[[], Sequence[LibraryServer]]"
) -> "Sequence[LibraryServer]":
    """The tool servers; without any in the settings nothing is made, nor imported, for them."""
    return make() if settings.mcp.servers else []


def sources_wanted(
    servers: "Sequence[LibraryServer]", make: "Callable[[], ToolSource]"
) -> "Sequence[ToolSource]":
    """Where tools come from beside the built-in ones."""
    return [make()] if servers else []
