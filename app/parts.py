"""Small values that parts are built from, taken from the settings."""

from collections.abc import Mapping

from norma.adapters.http.policy import NetworkPolicy
from norma.app.places import Places
from norma.app.settings import Settings
from norma.ports.commands import CommandTasks


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
