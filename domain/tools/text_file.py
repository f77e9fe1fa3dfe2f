"""A text file as a model edits it: without the mark in front and with plain line ends."""

from attrs import frozen

MARK = b"\xef\xbb\xbf"
"""UTF-8 may begin with this (a byte order mark)."""

BINARY_WITHIN = 8000
"""A NUL among this many first bytes makes a file binary, as in git."""

_SIGNATURES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)


def binary_kind(data: bytes) -> str | None:
    """What kind of binary file begins with *data*, in words; None for text."""
    known = next((words for start, words in _SIGNATURES if data.startswith(start)), None)
    if known is not None or b"\0" in data[:BINARY_WITHIN]:
        return known or "of unknown kind"
    return None


@frozen
class TextFile:
    """
    *text* of a file; `encoded` puts a new text into the same form.

    Bytes that are no UTF-8 are kept as they are. Where every line ends in CR LF, the text has LF
    only: that is how a model sees it, and nothing is lost by it.
    """

    text: str
    marked: bool = False
    crlf: bool = False

    @classmethod
    def of(cls, data: bytes) -> "TextFile":
        """The text of *data*, which is not binary."""
        marked = data.startswith(MARK)
        text = data.removeprefix(MARK).decode("utf-8", "surrogateescape")
        pairs = text.count("\r\n")
        crlf = pairs > 0 and pairs == text.count("\n") == text.count("\r")
        return cls(text.replace("\r\n", "\n") if crlf else text, marked, crlf)

    def plain(self, text: str) -> str:
        """*text* of a model with the line ends that `self.text` has."""
        return text.replace("\r\n", "\n") if self.crlf else text

    def encoded(self, text: str) -> bytes:
        """The bytes of the file with *text* in it."""
        if self.crlf:
            text = text.replace("\n", "\r\n")
        return (MARK if self.marked else b"") + text.encode("utf-8", "surrogateescape")
