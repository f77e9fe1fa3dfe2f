"""
Whether a project's own settings file counts (rule T2).

A folder that somebody unpacked may hold a `norma.toml`. Its deny and ask rules count always, for they
only take away. Everything else in it (allow rules, mode, models, servers, network, roots, …) counts
once the user has trusted exactly these bytes of exactly this file, or has named it with `--settings`.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from norma.app.settings import SettingsError
from norma.app.sources import Layer
from norma.domain.model.values import frozen

ALWAYS = ("ask", "deny")
"""The lists under `permissions` that need no trust."""


@frozen
class ProjectFile:
    """A project's settings file, read once: what is judged is what was read."""

    path: Path
    layer: Layer
    digest: str

    @property
    def wishes(self) -> tuple[str, ...]:
        """The keys in it that need trust, dotted."""
        return tuple(_wishes(self.layer.values))

    def restricted(self) -> Layer:
        """What counts without trust."""
        rules = self.layer.values.get("permissions", {})
        kept = {name: rules[name] for name in ALWAYS if name in rules} if isinstance(rules, Mapping) else {}
        return evolve(self.layer, values={"permissions": kept} if kept else {})


def _wishes(values: Mapping[str, Any]) -> list[str]:
    found = []
    for key, value in values.items():
        if key == "permissions" and isinstance(value, Mapping):
            found += [f"permissions.{name}" for name in value if name not in ALWAYS]
        elif isinstance(value, Mapping):
            found += [f"{key}.{name}" for name in value]
        else:
            found.append(key)
    return found


def digest_of(data: bytes) -> str:
    """What trust is bound to, besides the path."""
    return hashlib.sha256(data).hexdigest()


class TrustBook:
    """The project files that the user trusted, kept as JSON in the user's configuration folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, project: ProjectFile) -> bool:
        """Whether the user trusted this file as it is now. Raises SettingsError if the book can't be read."""
        return self._read().get(str(project.path)) == project.digest

    def add(self, project: ProjectFile) -> None:
        """Write down that the user trusts this file as it is now. Raises OSError if that can't be kept."""
        book = {**self._read(), str(project.path): project.digest}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".trust-")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump({"trusted": book}, file, indent=2)
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_bytes())["trusted"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SettingsError([self._unreadable()]) from error
        if not isinstance(found, dict):
            raise SettingsError([self._unreadable()])
        return found

    def _unreadable(self) -> str:
        return f"{self._path}: the list of trusted files can't be read; mend or remove it"
