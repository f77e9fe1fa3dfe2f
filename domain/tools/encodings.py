"""How the bytes of a text file stand for characters, told by the bytes themselves."""

from typing import Final

UTF8: Final = "utf-8"

_MARKS: Final = (
    (b"\xef\xbb\xbf", UTF8),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Byte order marks; of two that begin alike the longer one comes first."""

_NEVER_IN_TEXT: Final = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\b\x1b"))
_CONTROLS_OF_LATIN_1: Final = bytes(range(0x80, 0xA0))


def marked(data: bytes) -> tuple[str, bytes] | None:
    """The encoding that a byte order mark in front of *data* names, and the mark; None if there is none."""
    return next(((name, mark) for mark, name in _MARKS if data.startswith(mark)), None)


def unmarked(data: bytes, *, cut: bool = False) -> str:
    """
    The encoding of *data* without a mark; *cut*: it may end inside a character.

    UTF-8, unless there are bytes that are none, none of the others is a character of UTF-8 beyond ASCII,
    and it reads well as Latin-1 or, where that has only control characters, as Windows-1252. A file of
    UTF-8 with a few broken bytes stays UTF-8.
    """
    try:
        data.decode(UTF8)
    except UnicodeDecodeError as error:
        if not cut or error.end < len(data):
            return _of_one_byte(data)
    return UTF8


def _of_one_byte(data: bytes) -> str:
    if _has(data, _NEVER_IN_TEXT) or not data.decode(UTF8, "ignore").isascii():
        return UTF8
    if not _has(data, _CONTROLS_OF_LATIN_1):
        return "latin-1"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return UTF8
    return "cp1252"


def _has(data: bytes, some: bytes) -> bool:
    return len(data.translate(None, some)) < len(data)


def spoken(encoding: str) -> str:
    """The name as people write it."""
    return {"latin-1": "Latin-1", "cp1252": "Windows-1252"}.get(encoding, encoding.upper())
