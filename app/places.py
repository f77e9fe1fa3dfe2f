"""Where Norma keeps a user's files: settings, trust, sessions, typed lines, fetched models."""

from collections.abc import Mapping
from pathlib import Path

from norma.domain.model.values import frozen


@frozen
class Places:
    """The user's folders, as the XDG base directory specification has them. Nothing is made here."""

    config: Path
    state: Path
    cache: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Places":
        """From *environ*; a variable that is empty or relative counts as unset, as the specification says."""
        home = Path(environ.get("HOME") or Path.home())

        def folder(variable: str, default: str) -> Path:
            path = Path(environ.get(variable) or "")
            return (path if path.is_absolute() else home / default) / "norma"

        return cls(
            folder("XDG_CONFIG_HOME", ".config"),
            folder("XDG_STATE_HOME", ".local/state"),
            folder("XDG_CACHE_HOME", ".cache"),
        )

    @property
    def settings(self) -> Path:
        """The user's own settings file."""
        return self.config / "norma.toml"

    @property
    def trust(self) -> Path:
        """Which project files the user trusted."""
        return self.config / "trust.json"

    @property
    def journal(self) -> Path:
        """The sessions, unless settings say otherwise."""
        return self.state / "journal.db"

    @property
    def history(self) -> Path:
        """The lines typed in `norma chat`."""
        return self.state / "chat-history"

    @property
    def models(self) -> Path:
        """The models that Norma fetched."""
        return self.cache / "models"
