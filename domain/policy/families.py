"""Which tools a rule of one name binds besides the tool of that name (rule T3)."""

from typing import Final

READERS: Final = frozenset({"Read", "LS", "Glob", "Grep"})
"""What `Read` binds."""

EDITORS: Final = frozenset({"Edit", "MultiEdit", "Write"})
"""What `Edit` binds."""

SEARCHERS: Final = frozenset({"Glob", "Grep"})
"""Readers that go through everything beneath the path they name."""

SHELLS: Final = frozenset({"Bash", "Monitor"})
"""What `Bash` binds."""

_FAMILIES: Final = {"Read": READERS, "Edit": EDITORS, "Bash": SHELLS}


def family_of(name: str) -> frozenset[str]:
    """The tools that a rule of this name binds when it allows."""
    return _FAMILIES.get(name, frozenset({name}))


def head_of(tool: str) -> str | None:
    """The name whose rules bind *tool* although it is not the tool's own: `Read` for Grep."""
    return next((head for head, family in _FAMILIES.items() if tool in family and tool != head), None)
