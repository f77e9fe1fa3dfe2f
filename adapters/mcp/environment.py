"""What a server's process gets to see of our environment: a short safe list, never keys (contract P7)."""

from collections.abc import Mapping

PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ")
"""Proxies are not in it: they may hold passwords, and whether a server uses one its settings say."""


def minimal_environment(environ: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """The safe list and the locale out of *environ*, then what settings add."""
    kept = {name: environ[name] for name in PASSED_ON if name in environ}
    kept |= {name: value for name, value in environ.items() if name.startswith("LC_")}
    return {**kept, **added}
