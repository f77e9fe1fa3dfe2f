"""
What a command prints: JSON lines for a program, or text for a person.

Stdout holds the answer, stderr everything about it. Nothing here decides anything.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TextIO

from norma.domain.model import to_json
from norma.domain.model.blocks import Block
from norma.domain.model.events import Event
from norma.domain.model.failures import Failure
from norma.domain.model.usage import Attempt, Usage


class Output(Protocol):
    """Where a verb puts its results. Raises BrokenPipeError when nobody reads any more."""

    def event(self, event: Event) -> None:
        """Something that happened in a turn."""

    def record(self, line: Mapping[str, Any], text: str) -> None:
        """A result that is no event: as JSON, and as a person reads it."""

    def note(self, text: str) -> None:
        """Something beside the result that a person should know."""

    def failure(
        self,
        failure: Failure,
        *,
        partial: Sequence[Block] = (),
        usage: Usage | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """The command has failed."""


class JsonLines(Output):
    """One JSON object a line on stdout; notes on stderr."""

    def event(self, event: Event) -> None:
        """The event's own JSON form."""
        self._write(to_json(event))

    def record(self, line: Mapping[str, Any], text: str) -> None:
        """The object."""
        self._write(line)

    def note(self, text: str) -> None:
        """A line on stderr."""
        print(f"norma: {text}", file=sys.stderr, flush=True)

    def failure(
        self,
        failure: Failure,
        *,
        partial: Sequence[Block] = (),
        usage: Usage | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """An object of type "error"; the same keys whatever failed."""
        self._write(error_record(failure, partial, usage, attempts))

    def _write(self, line: Mapping[str, Any]) -> None:
        # ASCII only: it survives every locale, and half surrogate pairs too.
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def error_record(
    failure: Failure,
    partial: Sequence[Block] = (),
    usage: Usage | None = None,
    attempts: Sequence[Attempt] = (),
) -> dict[str, Any]:
    """The JSON object of a failure."""
    said = to_json(failure)
    return {
        "type": "error",
        **{key: said[key] for key in ("kind", "source", "status", "message", "provider", "retry_after_s")},
        "partial": {"blocks": to_json(tuple(partial))},
        "usage": to_json(usage or Usage()),
        "attempts": len(attempts),
        "attempt_usage": to_json(tuple(attempts)),
    }


def forgiving(stream: TextIO) -> TextIO:
    """*stream*, writing as escapes what its encoding can't hold rather than failing."""
    reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream
