"""Tool names that a wire takes, and the way back (contract M13). Pure."""

import re
from collections.abc import Iterable
from hashlib import sha256

MOST = 64
_LEGAL = re.compile(f"[a-zA-Z0-9_-]{{1,{MOST}}}")
_ILLEGAL = re.compile("[^a-zA-Z0-9_-]")


class WireNames:
    """
    The names of *tools* on a wire that takes up to 64 of `a-z A-Z 0-9 _ -`.

    A legal name is kept. Another is cleaned and gets a mark made from it alone, so it stays the same
    whatever other tools there are. Raises ValueError for a tool without a name.
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._own: dict[str, str] = {}
        names = list(tools)
        if "" in names:
            raise ValueError("a tool has no name; every tool needs one")
        for name in sorted(names, key=lambda name: _LEGAL.fullmatch(name) is None):  # legal ones are kept
            self._add(name)

    def to_wire(self, name: str) -> str:
        """The name on the wire of a tool, also of one that only the history knows."""
        return self._wire.get(name) or self._add(name)

    def from_wire(self, name: str) -> str:
        """The tool that a name on the wire means; an unknown one is left as it is."""
        return self._own.get(name, name)

    def _add(self, name: str) -> str:
        if name in self._wire:
            return self._wire[name]
        found = name
        tries = 0
        while _LEGAL.fullmatch(found) is None or found in self._own:
            mark = sha256(f"{tries or ''}{name}".encode("utf-8", "replace")).hexdigest()[:8]
            found = f"{_ILLEGAL.sub('_', name)[: MOST - 9]}_{mark}"
            tries += 1
        self._wire[name] = found
        self._own[found] = name
        return found
