"""A text file as a model edits it: without the mark in front and with plain line ends."""

from norma.domain.model.values import frozen
from norma.domain.tools.encodings import UTF8, marked, spoken, unmarked

BINARY_WITHIN = 8000
"""A NUL among this many first bytes makes a file binary, as in git."""

_SIGNATURES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program"),
    (b"SQLite format 3\0", "an SQLite database"),
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


LF, CR_LF, CR = "\n", "\r\n", "\r"


@frozen
class TextFile:
    """
    *text* of a file; `encoded` puts a new text into the same form.

    In UTF-8, bytes that are none are kept as they are. Where every line ends in CR LF, or every one in CR
    (*end*), the text has LF only: that is how a model sees it, and nothing is lost by it.
    """

    text: str
    encoding: str = UTF8
    mark: bytes = b""
    end: str = LF

    @classmethod
    def of(cls, data: bytes, *, cut: bool = False) -> "TextFile":
        """The text of *data*, which is not binary; *cut*: the file goes on behind it."""
        encoding, mark = marked(data) or (unmarked(data, cut=cut), b"")
        text = data[len(mark) :].decode(encoding, _errors(encoding))
        if cut:
            text = text.removesuffix(CR)  # the LF to it may have been cut off
        end = _end(text)
        return cls(text if end == LF else text.replace(end, LF), encoding, mark, end)

    @property
    def note(self) -> str:
        """What to say of a file in another encoding, or with line ends that other tools do not see."""
        notes = [f"in {spoken(self.encoding)}"] if self.encoding != UTF8 else []
        notes += ["one whose lines end in CR alone"] if self.end == CR else []
        return f"the file is {' and '.join(notes)}, and stays so if edited" if notes else ""

    @property
    def raw(self) -> str:
        """The text with its own line ends."""
        return self.text if self.end == LF else self.text.replace(LF, self.end)

    def plain(self, text: str) -> str:
        """*text* of a model with the line ends that `self.text` has."""
        plain = text if self.end == LF else text.replace(CR_LF, LF)
        return plain.replace(CR, LF) if self.end == CR else plain

    def encoded(self, text: str) -> bytes:
        """The bytes of the file with *text* in it. Raises NotEncodable."""
        if self.end != LF:
            text = text.replace(LF, self.end)
        try:
            return self.mark + text.encode(self.encoding, _errors(self.encoding))
        except UnicodeEncodeError as error:
            raise NotEncodable(
                f"the file is in {spoken(self.encoding)}, which has no {text[error.start]!r}"
            ) from error


def _end(text: str) -> str:
    """What all lines end in; LF where they differ."""
    feeds, returns = text.count(LF), text.count(CR)
    if returns > 1 and not feeds:
        return CR
    return CR_LF if feeds and feeds == returns == text.count(CR_LF) else LF


def _errors(encoding: str) -> str:
    if encoding == UTF8:
        return "surrogateescape"
    return "strict" if encoding in {"latin-1", "cp1252"} else "surrogatepass"
