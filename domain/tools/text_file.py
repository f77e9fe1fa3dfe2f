"""A text file as a model edits it: without the mark in front and with plain line ends."""

from norma.domain.model.values import frozen
from norma.domain.tools.encodings import UTF8, marked, spoken, unmarked

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
)


def binary_kind(data: bytes) -> str | None:
    """What kind of binary file begins with *data*, in words; None for text."""
    known = next((words for start, words in _SIGNATURES if data.startswith(start)), None)
    if known is not None:
        return known
    named = marked(data)
    if named is not None and named[0] != UTF8:
        return (
            None if _decodes(data, *named) else f"of unknown kind, though it begins like {spoken(named[0])}"
        )
    return "of unknown kind" if b"\0" in data[:BINARY_WITHIN] else None


def _decodes(data: bytes, encoding: str, mark: bytes) -> bool:
    try:
        text = data[len(mark) :].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return False
    return "\0" not in text


class NotEncodable(ValueError):
    """The encoding of a file has no such character; the message names both."""


@frozen
class TextFile:
    """
    *text* of a file; `encoded` puts a new text into the same form.

    In UTF-8, bytes that are none are kept as they are. Where every line ends in CR LF, the text has LF
    only: that is how a model sees it, and nothing is lost by it.
    """

    text: str
    encoding: str = UTF8
    mark: bytes = b""
    crlf: bool = False

    @classmethod
    def of(cls, data: bytes, *, cut: bool = False) -> "TextFile":
        """The text of *data*, which is not binary; *cut*: the file goes on behind it."""
        encoding, mark = marked(data) or (unmarked(data, cut=cut), b"")
        text = data[len(mark) :].decode(encoding, _errors(encoding))
        pairs = text.count("\r\n")
        crlf = pairs > 0 and pairs == text.count("\n") == text.count("\r")
        return cls(text.replace("\r\n", "\n") if crlf else text, encoding, mark, crlf)

    @property
    def note(self) -> str:
        """What to say of a file in another encoding; empty for UTF-8."""
        return (
            "" if self.encoding == UTF8 else f"the file is in {spoken(self.encoding)}, and stays so if edited"
        )

    @property
    def raw(self) -> str:
        """The text with its own line ends."""
        return self.text.replace("\n", "\r\n") if self.crlf else self.text

    def plain(self, text: str) -> str:
        """*text* of a model with the line ends that `self.text` has."""
        return text.replace("\r\n", "\n") if self.crlf else text

    def encoded(self, text: str) -> bytes:
        """The bytes of the file with *text* in it. Raises NotEncodable."""
        if self.crlf:
            text = text.replace("\n", "\r\n")
        try:
            return self.mark + text.encode(self.encoding, _errors(self.encoding))
        except UnicodeEncodeError as error:
            raise NotEncodable(
                f"the file is in {spoken(self.encoding)}, which has no {text[error.start]!r}"
            ) from error


def _errors(encoding: str) -> str:
    if encoding == UTF8:
        return "surrogateescape"
    return "strict" if encoding in {"latin-1", "cp1252"} else "surrogatepass"
