"""Pieces of text as they stream, made fit to be encoded (contract M12). Pure."""

import re

from norma.adapters.http.json_text import whole_text

_SUSPECT = re.compile("[\0\ud800-\udfff]")


class Words:
    """
    The text of one block, piece by piece.

    Halves of a surrogate pair are joined over pieces; a lone half and NUL become U+FFFD. A piece that
    `is_plain` may be added to *pieces* without further ado.
    """

    __slots__ = ("_half", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._half = ""

    def is_plain(self, piece: str) -> bool:
        """Whether *piece* may be shown as it is."""
        return piece.isascii() and "\0" not in piece and not self._half

    def add(self, piece: str) -> str:
        """What may be shown now that *piece* has come: all but a half that waits for its other one."""
        if self._half or "\0" in piece or not (piece.isascii() or _SUSPECT.search(piece) is None):
            piece = self._clean(piece)
        if piece:
            self.pieces.append(piece)
        return piece

    def end(self) -> str:
        """What was still waiting."""
        rest, self._half = self._half, ""
        if rest:
            rest = "\ufffd"
            self.pieces.append(rest)
        return rest

    @property
    def text(self) -> str:
        """All of it so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def _clean(self, piece: str) -> str:
        piece = self._half + piece
        self._half = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            self._half = piece[-1]
            piece = piece[:-1]
        return whole_text(piece).replace("\0", "\ufffd")


def clean(text: str) -> str:
    """A whole text made fit to be encoded."""
    return whole_text(text).replace("\0", "\ufffd")
