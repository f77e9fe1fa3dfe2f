"""What can go wrong before the embedded model answers."""

from norma.domain.model.failures import Failure, FailureKind
from norma.ports.errors import PortError


class EmbeddedFailed(PortError):
    """
    The embedded model can't be had: its file, its package, its port, or its process.

    Kinds: "usage" where a setting or an installation mends it, "network" for a download that did not
    come, "protocol" for a file that is not what it should be, "timeout" and "server" for the process.
    """

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(Failure(kind, message))
