"""
The tool port.

Above: the engine, which judges a call before it runs and gives every call one result. Below: a
built-in tool written against other ports, a remote one, or a host's own.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from norma.domain.model.actions import Action, Traits
from norma.domain.model.blocks import ResultBlock, Text
from norma.domain.model.requests import ToolSpec
from norma.domain.model.values import frozen
from norma.ports.errors import Refused


@frozen
class ToolOutput:
    """
    What a tool gives back; *is_error* marks a failure that the model should know of.

    *room* is how many characters of text it may hold, where a tool's contract says more than the engine's own
    cap; the engine keeps to it.
    """

    blocks: tuple[ResultBlock, ...]
    is_error: bool = False
    room: int | None = None

    @classmethod
    def of(cls, text: str, *, is_error: bool = False, room: int | None = None) -> "ToolOutput":
        """Output of one text."""
        return cls((Text(text),), is_error, room)


async def nothing_more(action: Action) -> None:
    """The permit of a run that nobody can be asked about: always refused."""
    raise Refused(f"Nobody can be asked. The rule {action.rule} would allow it.")


@frozen
class ToolRun:
    """
    One run of a tool.

    *arguments* fit the tool's schema and are the tool's own copy. *action* is what was judged
    and allowed: the tool does that and nothing more. *progress* shows the host a line meanwhile;
    it does nothing once the run is over.

    *permit* asks for what turns out to be needed beyond *action* (another host in a redirect, an
    install): it returns when that may be done, and raises Refused with the reason when not. It is
    judged by the policy and, where that asks, by a person; every further effect needs its own.

    *session* is whose run it is: what a tool remembers between calls belongs to one session.
    """

    arguments: Mapping[str, Any]
    action: Action
    progress: Callable[[str], None]
    permit: Callable[[Action], Awaitable[None]] = nothing_more
    session: str = ""


class Tool(Protocol):
    """
    Something a model may ask for.

    `examine` and `run` may be called many times at once, for different calls.
    """

    @property
    @abstractmethod
    def spec(self) -> ToolSpec:
        """Name, description and schema; the same for the tool's life."""

    @property
    @abstractmethod
    def traits(self) -> Traits:
        """Whether runs may overlap, and be repeated after a crash; the same for the tool's life."""

    @abstractmethod
    def examine(self, arguments: Mapping[str, Any]) -> Action:
        """
        Say exactly what a run with *arguments* (they fit the schema) would do. Changes nothing.

        It is answered within the step that judges the call, so it may look at a few directory
        entries (to resolve a path) and at one small file (to show what will change in it), and
        must not wait for anything.

        Raises:
            Refused: the call is against a rule that no permission opens. It gets an error result.
        """

    @abstractmethod
    async def run(self, run: ToolRun) -> ToolOutput:
        """
        Do `run.action`.

        Cancellation passes through at once, and what the run started (children, temporary files)
        is gone when it has passed. Any exception becomes an error result with its message.
        """
