"""
What a person is shown before a file is changed: exactly what will be (rule T5).

A question is put together when a call is judged and again when it starts; if the file has changed so that
it would read otherwise, it is asked again. The run holds what it is about to write against it once more.
"""

from collections.abc import Sequence

from norma.domain.tools.places import asked_about
from norma.ports.errors import ToolFailed
from norma.ports.files import FileContent, Resolved
from norma.ports.tool import ToolRun

MOST_SHOWN = 256 << 10
"""Bytes. A larger file is not looked at before a person has said yes: it would hold up the engine."""


def question(found: Resolved, lines: Sequence[str]) -> str:
    """What an action shows: the path, and *lines* on what would be done there."""
    return "\n".join([asked_about(found), *lines])


def small(content: FileContent) -> bytes | None:
    """What `Workspace.peek` would have given of the file that was read: None if it is not looked at."""
    return content.data if content.whole_size <= MOST_SHOWN else None


def require_as_shown(run: ToolRun, lines: Sequence[str], name: str) -> None:
    """Raise ToolFailed unless *lines*, on what would be done now, are those of the question."""
    _, _, shown = run.action.shows.partition("\n")
    if shown != "\n".join(lines):
        raise ToolFailed(f"{name} was changed after this call was allowed. Nothing was changed; try again.")
