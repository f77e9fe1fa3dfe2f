"""What went wrong, as a value: it travels in errors, outcomes, journals and JSON alike."""

from typing import ClassVar, Literal, TypeAlias

from norma.domain.model.values import frozen

FailureKind: TypeAlias = Literal[
    "authentication",
    "permission",
    "not_found",
    "rate_limited",
    "overloaded",
    "invalid_request",
    "context_overflow",
    "server",
    "network",
    "proxy",
    "timeout",
    "protocol",
    "stream_dropped",
    "refused",
    "usage",
    "journal",
    "conflict",
    "internal",
]
"""
The condition. "refused": policy, address guard, a rule of the tool, or nobody to ask; nothing was sent.
"usage": command line or settings. "internal": a fault of ours.
"""

FailureSource: TypeAlias = Literal["http", "api", "transport", "policy", "local"]
"""http: a status other than 200. api: an error reported inside a 200 answer."""


@frozen
class ProviderWords:
    """The provider's own description of an error."""

    WHOLE: ClassVar = True

    type: str | None = None
    code: str | None = None
    message: str | None = None
    request_id: str | None = None


@frozen
class Failure:
    """
    A failure, without secrets: *message* says what was wrong, where, and what would help.

    *retry_after_s* is the provider's wish, in seconds.
    """

    WHOLE: ClassVar = True

    kind: FailureKind
    message: str
    source: FailureSource = "local"
    status: int | None = None
    provider: ProviderWords = ProviderWords()
    retry_after_s: float | None = None
