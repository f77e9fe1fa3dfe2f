"""Decodes the bodies that `Accept-Encoding: gzip, deflate` allows (contract N7). Pure."""

import zlib

OFFERED = "gzip, deflate"


class BadEncoding(ValueError):
    """The body is in an encoding that was not offered, or is damaged."""


class Inflater:
    """
    Decodes one gzip or deflate body.

    What comes out of one `take` is bounded, so a bomb stops at its reader's cap.
    """

    def __init__(self, encoding: str, *, most_bytes: int = 256 << 10) -> None:
        self._encoding = encoding
        self._most = most_bytes
        self._waiting = b""
        self._engine: zlib._Decompress | None = None
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the body, as far as it was fed, is whole."""
        return self._ended or self._engine is None

    @property
    def has_more(self) -> bool:
        """Whether `take` may give more without being fed."""
        return bool(self._waiting)

    def take(self, data: bytes) -> bytes:
        """The next decoded bytes after *data* was added. Raises BadEncoding."""
        waiting = self._waiting + data
        if not waiting:
            return b""
        try:
            return self._inflate(waiting)
        except zlib.error as error:
            raise BadEncoding(f"the {self._encoding} body is damaged: {error}") from None

    def _inflate(self, data: bytes) -> bytes:
        if self._ended and self._encoding == "deflate":
            self._waiting = b""
            return b""  # nothing can follow
        if self._ended:
            data = data.lstrip(b"\0")  # padding between members, or after the last
            if not data:
                self._waiting = b""
                return b""
        if self._engine is None or self._ended:
            self._engine = zlib.decompressobj(self._window(data[0]))
            self._ended = False
        out = self._engine.decompress(data, self._most)
        self._ended = self._engine.eof
        self._waiting = self._engine.unused_data if self._ended else self._engine.unconsumed_tail
        return out

    def _window(self, first: int) -> int:
        """gzip may follow gzip; `deflate` comes with the zlib header and, from some servers, without."""
        if self._encoding == "gzip":
            return 31
        return 15 if first & 0x0F == 8 else -15


def inflater_for(header: str | None) -> Inflater | None:
    """What decodes a body whose Content-Encoding is *header*; None: it is plain. Raises BadEncoding."""
    encoding = (header or "").strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip"):
        return Inflater("gzip")
    if encoding == "deflate":
        return Inflater("deflate")
    raise BadEncoding(f"the body has the encoding {encoding!r}, which was not offered ({OFFERED} was)")
