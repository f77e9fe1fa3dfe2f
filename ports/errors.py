"""
Errors that cross a port.

Each carries a `Failure`: the condition, in words without secrets. What the adapter saw below
(the library's exception) is the `__cause__`. Cancellation is never turned into one of these.
"""

from norma.domain.model.blocks import Block
from norma.domain.model.failures import Failure
from norma.domain.model.usage import Attempt, Usage


class PortError(Exception):
    """The world behind a port broke. *failure* says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class ModelError(PortError):
    """
    A reply did not come to its end.

    *partial* holds text and thinking as they came, and the tool calls that were complete; a call
    that the failure cut is left out. *attempts* has an entry for each HTTP request made.
    """

    def __init__(
        self,
        failure: Failure,
        *,
        partial: tuple[Block, ...] = (),
        usage: Usage | None = None,
        attempts: tuple[Attempt, ...] = (),
    ) -> None:
        super().__init__(failure)
        self.partial = partial
        self.usage = Usage() if usage is None else usage
        self.attempts = attempts


class JournalFailed(PortError):
    """The journal can't be read or written (disk full, damaged, newer format); nothing is half written."""


class JournalConflict(PortError):
    """Another writer was first: the expected version is not the journal's. Nothing was written."""


class UnknownSession(PortError):
    """No session has this id."""


class Refused(PortError):
    """
    A rule forbids it and nothing was done: policy, workspace roots, or a rule of the tool.

    The model is told the message as an error result.
    """

    def __init__(self, message: str) -> None:
        super().__init__(Failure("refused", message, "policy"))


class ToolFailed(PortError):
    """
    A tool could not do what was asked and says why in words for the model.

    The engine turns it, as any other exception of a tool, into an error result.
    """

    def __init__(self, message: str) -> None:
        super().__init__(Failure("internal", message))
