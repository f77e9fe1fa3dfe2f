"""
What a wire can't carry of a conversation (contract M14), as values and as one table. Pure.

The table says for each kind of block what a wire's codec does with it; a property test holds the two
together. A codec reports each loss of a request, so nothing is left out in silence.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from norma.domain.model.values import frozen

Fate: TypeAlias = Literal["kept", "translated", "dropped"]


@frozen
class Loss:
    """
    One thing of a request that does not reach the model as it is.

    *what* is a kind of block or the name of an option, *where* the place of its message (None: not in one).
    """

    what: str
    fate: Literal["translated", "dropped"]
    why: str
    where: int | None = None


@frozen
class Portability:
    """The fates that blocks of one kind can have on a wire, and when."""

    fates: frozenset[Fate]
    why: str


def _row(why: str, *fates: Fate) -> Portability:
    return Portability(frozenset(fates), why)


TABLE: Mapping[str, Mapping[str, Portability]] = {
    "openai-chat": {
        "text": _row("citations have no place on this wire", "kept", "translated"),
        "thinking": _row(
            "replayed as plain text, only to its own provider where that wants it", "translated", "dropped"
        ),
        "tool_call": _row(
            "arguments that were no object are sent as an object that shows them", "kept", "translated"
        ),
        "tool_result": _row(
            "whether it is an error is not said; pictures follow in a user message", "kept", "translated"
        ),
        "image": _row("users may send them where the provider takes them", "kept", "dropped"),
        "audio": _row("users may send wav and mp3 data where the provider takes it", "kept", "dropped"),
        "document": _row("users may send data where the provider takes it", "kept", "dropped"),
        "opaque": _row("only its own wire understands it", "dropped"),
    },
    "anthropic": {
        "text": _row(
            "blank text is refused, as are blanks at the very end; others' citations have no place",
            "kept",
            "translated",
            "dropped",
        ),
        "thinking": _row(
            "signed or redacted thinking goes back to its own provider while thinking is on",
            "kept",
            "dropped",
        ),
        "tool_call": _row(
            "arguments that were no object are sent as an object that shows them", "kept", "translated"
        ),
        "tool_result": _row("whole, its error mark as well", "kept"),
        "image": _row("users and results may send jpeg, png, gif, webp, or a URL", "kept", "dropped"),
        "audio": _row("the wire has no place for it", "dropped"),
        "document": _row("users and results may send PDF and plain text", "kept", "dropped"),
        "opaque": _row("it goes back to its own provider, if its other half is there", "kept", "dropped"),
    },
    "openai-responses": {
        "text": _row("citations have no place in what is sent back", "kept", "translated"),
        "thinking": _row(
            "encrypted reasoning goes back to its own provider, before what followed it", "kept", "dropped"
        ),
        "tool_call": _row(
            "arguments that were no object are sent as an object that shows them", "kept", "translated"
        ),
        "tool_result": _row("whether it is an error is not said", "kept", "translated"),
        "image": _row("users and results may send them where the provider takes them", "kept", "dropped"),
        "audio": _row("the wire has no place for it", "dropped"),
        "document": _row("users and results may send them where the provider takes them", "kept", "dropped"),
        "opaque": _row("it goes back to its own provider where reasoning does", "kept", "dropped"),
    },
}
"""Wire, then kind of block. A wire has its rows when its codec has."""
