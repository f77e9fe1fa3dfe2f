"""
What a host imports: `Settings`, `SettingsError` and `open_norma`.

Each is loaded at its first use, and what opens a network, parses a page or draws on a terminal later
still, so that importing this package costs a host next to nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from norma.app.running import Norma, open_norma
    from norma.app.settings import Settings, SettingsError

__all__ = ["Norma", "Settings", "SettingsError", "open_norma"]

_HOME = {
    "Norma": "norma.app.running",
    "Settings": "norma.app.settings",
    "SettingsError": "norma.app.settings",
    "open_norma": "norma.app.running",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
