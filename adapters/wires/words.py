"""Pieces of text as they stream, made fit to be encoded (contract M12). Pure."""

from norma.adapters.http.json_text import is_whole, whole_text


class Words:
    """
    The text of one block, piece by piece.

    Halves of a surrogate pair are joined over pieces (*half* waits for its other one); a lone half and NUL
    become U+FFFD.
    """

    __slots__ = ("half", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.half = ""

    def add(self, piece: str) -> str:
        """What may be shown now that *piece* has come: all but a half that waits for its other one."""
        if not piece.isascii() or "\0" in piece or self.half:
            piece = self._clean(piece)
        if piece:
            self.pieces.append(piece)
        return piece

    def end(self) -> str:
        """What was still waiting."""
        rest, self.half = self.half, ""
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
        if not self.half and "\0" not in piece and is_whole(piece):
            return piece
        piece = self.half + piece
        self.half = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            self.half = piece[-1]
            piece = piece[:-1]
        return whole_text(piece).replace("\0", "\ufffd")


def clean(text: str) -> str:
    """A whole text made fit to be encoded."""
    return whole_text(text).replace("\0", "\ufffd")
