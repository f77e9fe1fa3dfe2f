"""What a command says about an exception."""

from norma.app.cli.advice import advised
from norma.app.cli.arguments import UsageError
from norma.app.settings import SettingsError
from norma.domain.model.blocks import Block
from norma.domain.model.failures import Failure
from norma.domain.model.usage import Attempt, Usage
from norma.domain.model.values import frozen
from norma.ports.errors import ModelError, PortError


@frozen
class Told:
    """A failure, and what of a reply had arrived before it."""

    failure: Failure
    partial: tuple[Block, ...] = ()
    usage: Usage = Usage()
    attempts: tuple[Attempt, ...] = ()


def failure_of(error: Exception) -> Told:
    """The failure behind *error*; one that nobody foresaw is "internal" and names its class."""
    if isinstance(error, SettingsError):
        many = len(error.faults) > 1
        faults = "".join(f"\n  {fault}" for fault in error.faults) if many else str(error)
        return Told(
            Failure("usage", f"{len(error.faults)} faults in the settings:{faults}" if many else faults)
        )
    if isinstance(error, UsageError):
        return Told(Failure("usage", str(error)))
    if isinstance(error, ModelError):
        return Told(advised(error.failure), error.partial, error.usage, error.attempts)
    if isinstance(error, PortError):
        return Told(error.failure)
    if isinstance(error, OSError):
        return Told(Failure("internal", str(error)))
    return Told(Failure("internal", f"{type(error).__name__}: {error} (--debug shows where)"))
