"""What a model call cost, as far as anybody said (contract M9)."""

from typing import ClassVar, Literal, TypeAlias

from norma.domain.model.changes import evolve
from norma.domain.model.values import frozen

Provenance: TypeAlias = Literal["reported", "partial", "estimated", "unknown"]

_WORST_FIRST: tuple[Provenance, ...] = ("unknown", "partial", "estimated", "reported")


@frozen
class Usage:
    """
    Token counts; None where nobody reported one, never a silent zero.

    *input_tokens* is the total, cached or not; the cache counts are parts of it.
    *output_tokens* is the total; *reasoning_tokens* is a part of it.
    """

    WHOLE: ClassVar = True

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    provenance: Provenance = "unknown"

    def __add__(self, other: "Usage") -> "Usage":
        """The sum. It is *partial* as soon as one side is unknown and the other is not."""
        if self == NOTHING:
            return other
        if other == NOTHING:
            return self
        first, second = self.provenance, other.provenance
        worse = _WORST_FIRST.index(first) <= _WORST_FIRST.index(second)
        provenance: Provenance = first if worse else second
        if "unknown" in (first, second) and first != second:
            provenance = "partial"
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.cache_read_tokens, other.cache_read_tokens),
            _sum(self.cache_write_tokens, other.cache_write_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            provenance,
        )

    def at_least(self, other: "Usage") -> "Usage":
        """Field-wise maximum: how cumulative reports of one reply fold together."""
        return evolve(
            self,
            input_tokens=_most(self.input_tokens, other.input_tokens),
            cache_read_tokens=_most(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_most(self.cache_write_tokens, other.cache_write_tokens),
            output_tokens=_most(self.output_tokens, other.output_tokens),
            reasoning_tokens=_most(self.reasoning_tokens, other.reasoning_tokens),
        )


@frozen
class Attempt:
    """One HTTP request of a logical request, and what it cost: *outcome* is "ok" or an error kind."""

    WHOLE: ClassVar = True

    attempt: int
    outcome: str
    usage: Usage = Usage()


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else one + other


def _most(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else max(one, other)


NOTHING = Usage(provenance="reported")
"""No model was called: the neutral element of the sum."""
