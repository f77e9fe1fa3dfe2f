"""What a server says while it works, as lines for a person. Pure."""

from collections.abc import Mapping
from typing import Any

_QUIET = ("debug",)
MOST_CHARACTERS = 500


def progress_line(params: Mapping[str, Any]) -> str:
    """A progress notice: how far, of how much, and its message."""
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    far = "" if done is None else str(done) if total is None else f"{done} of {total}"
    said = message if isinstance(message, str) else ""
    return (": ".join(part for part in (far, said) if part) or "still at work")[:MOST_CHARACTERS]


def log_line(server: str, params: Mapping[str, Any]) -> str | None:
    """A log message; None for one that is only of use to who wrote the server."""
    level = params.get("level")
    if level in _QUIET:
        return None
    data = params.get("data")
    return f"[{server} {level or 'log'}] {data if isinstance(data, str) else repr(data)}"[:MOST_CHARACTERS]
