"""
The settings of a command: the user's file, the project's, a named one, the environment, arguments.

Later ones win. Which files were read, and what was left out for want of trust, is kept for the person.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field

from norma.app.filling import fill
from norma.app.mcp_config import mcp_config
from norma.app.places import Places
from norma.app.settings import Settings, SettingsError
from norma.app.sources import (
    Layer,
    assignments_layer,
    bytes_layer,
    environment_layer,
    file_layer,
    merged,
    with_rules,
)
from norma.app.trust import ProjectFile, TrustBook, digest_of
from norma.domain.model.values import frozen

FILE_NAME = "norma.toml"


@frozen
class Wishes:
    """What the command line says about settings."""

    settings: str | None = None
    set: Sequence[str] = ()
    allow: Sequence[str] = ()
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    mode: str | None = None
    mcp_config: str | None = None

    def layer(self) -> Layer:
        """The last and strongest layer."""
        layer = with_rules(assignments_layer(self.set), allow=self.allow, ask=self.ask, deny=self.deny)
        if self.mode is None:
            return layer
        values = merged(layer.values, {"permissions": {"mode": self.mode}})
        return evolve(layer, values=values)


@frozen
class Reading:
    """The settings, the files that they came from, and notes that a person should see."""

    settings: Settings
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = field(default=())
    permitted_servers: frozenset[str] = frozenset()
    """The tool servers of a file that was named for them."""


def read_settings(
    wishes: Wishes,
    *,
    environ: Mapping[str, str],
    folder: Path,
    trust: Callable[[ProjectFile], bool] | None = None,
) -> Reading:
    """
    Read every source for a command that was started in *folder*.

    *trust* puts the question whether a project's file may count; None when nobody can be asked.

    Raises:
        SettingsError: with the faults of all sources, an untrusted file's own included.
    """
    places = Places.of(environ)
    named = Path(wishes.settings).absolute() if wishes.settings else None
    layers: list[Layer] = []
    files: list[Path] = []
    notes: list[str] = []
    if places.settings.is_file() and not _same(places.settings, named):
        layers.append(file_layer(places.settings))
        files.append(places.settings)
    project = _project(folder / FILE_NAME, named, places.settings)
    if project is not None:
        layer, note = _judged(project, TrustBook(places.trust), trust)
        layers.append(layer)
        files.append(project.path)
        notes += [note] if note else []
    if named is not None:
        layers.append(file_layer(named, wishes.settings))
        files.append(named)
    permitted: frozenset[str] = frozenset()
    if wishes.mcp_config is not None:
        config = mcp_config(Path(wishes.mcp_config), wishes.mcp_config)
        permitted = config.names
        layers = [_without_servers(layer, permitted, wishes.mcp_config, notes) for layer in layers]
        layers.append(config.layer)
        files.append(Path(wishes.mcp_config).absolute())
        notes += config.notes
    layers += [environment_layer(environ), wishes.layer()]
    return Reading(fill(Settings, layers), tuple(files), tuple(notes), permitted)


def _without_servers(layer: Layer, names: frozenset[str], source: str, notes: list[str]) -> Layer:
    """*layer* without tool servers that *source* has too: one server is never made of two descriptions."""
    mcp = layer.values.get("mcp")
    servers = mcp.get("servers") if isinstance(mcp, Mapping) else None
    if not isinstance(servers, Mapping) or not isinstance(mcp, Mapping) or not names & servers.keys():
        return layer
    notes += [
        f"two tool servers are called {name!r}; the one in {layer.name} was left out, that in {source} counts"
        for name in sorted(names & servers.keys())
    ]
    kept = {name: server for name, server in servers.items() if name not in names}
    return evolve(layer, values={**layer.values, "mcp": {**mcp, "servers": kept}})


def _same(path: Path, named: Path | None) -> bool:
    return named is not None and named.exists() and path.samefile(named)


def _project(path: Path, *known: Path | None) -> ProjectFile | None:
    """The project's own file, unless there is none or it is one that counts anyway."""
    if not path.is_file() or any(_same(path, other) for other in known):
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError([f"{path}: the settings file can't be read: {error.strerror}"]) from error
    layer = evolve(bytes_layer(data, path, str(path)), scope="project")
    return ProjectFile(path.resolve(), layer, digest_of(data))


def _judged(
    project: ProjectFile, book: TrustBook, trust: Callable[[ProjectFile], bool] | None
) -> tuple[Layer, str | None]:
    """What of the project's file counts, and a note on what does not."""
    if project.layer.faults or not project.wishes or book.holds(project):
        return project.layer, None
    fill(Settings, [project.layer])  # its faults are told before anybody is asked to trust it
    if trust is not None and trust(project):
        book.add(project)
        return project.layer, None
    note = (
        f"{project.path} is not trusted, so these keys in it were left out: {', '.join(project.wishes)}. "
        f"To let them count, read the file, then name it with --settings {FILE_NAME}, "
        "or answer yes when norma asks in a terminal."
    )
    return project.restricted(), note
