"""What a body is, by its first bytes and only then by its label, since labels lie (contract F4)."""

import re
from typing import Literal, TypeAlias

from norma.adapters.web_fetch.charsets import codec_of, label_of

Kind: TypeAlias = Literal["html", "feed", "text", "binary"]

_MAGIC = (
    (b"%PDF-", "PDF document"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"GIF8", "GIF image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"BM", "BMP image"),
    (b"\x00\x00\x01\x00", "icon"),
    (b"PK\x03\x04", "ZIP archive (or an office document)"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x7fELF", "program (ELF)"),
    (b"MZ", "program (Windows)"),
    (b"\x00asm", "WebAssembly module"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office document"),
    (b"SQLite format 3\x00", "SQLite database"),
)
_ONLY_IF_BINARY = (b"BM", b"MZ", b"ID3", b"GIF8", b"OggS", b"wOFF", b"wOF2", b"BZh", b"fLaC")
"""Magic words that text may begin with, too."""

_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_MARKUP = re.compile(
    rb"(?:\s|<!--.*?-->|<\?xml[^>]*\?>)*<(?:!doctype\s+html|html|head|body|title|script|style|meta|link|iframe|"
    rb"h[1-6]|div|p|a|table|font|b|br|article|main|section|nav|ul|ol|center)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_FEED = re.compile(
    rb"(?:\s|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*<(?:rss|feed|rdf:RDF)[\s>]", re.DOTALL
)
_LOOKED_AT = 1445
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def kind_of(body: bytes, content_type: str) -> Kind:
    """How *body* is to be read."""
    media = content_type.partition(";")[0].strip().lower()
    if binary_name(body, content_type) is not None:
        return "binary"
    start = body[:_LOOKED_AT].lstrip(b"\xef\xbb\xbf")
    if _FEED.match(start):
        return "feed"
    if "html" in media:
        return "html"
    vague = not media or "/" not in media or media in ("application/octet-stream", "application/x-unknown")
    if vague and _MARKUP.match(start):
        return "html"
    return "text"


def binary_name(body: bytes, content_type: str) -> str | None:
    """What a binary *body* is, in words; None if it is text."""
    start = body[:_LOOKED_AT]
    if start.startswith(_MARKS):
        return None
    noise = _BINARY.search(start) is not None
    found = next(((magic, name) for magic, name in _MAGIC if start.startswith(magic)), None)
    if found is not None and (noise or found[0] not in _ONLY_IF_BINARY):
        return found[1]
    if start[4:8] == b"ftyp":
        return "MP4 or HEIF media"
    if start[:4] == b"RIFF" and start[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}[start[8:12]]
    if (codec_of(label_of(content_type) or "") or "").startswith("utf-16"):
        return None
    return "binary data" if noise else None


def described(body: bytes, content_type: str, *, cut: bool, length: str | None) -> str:
    """A line in place of binary content."""
    name = binary_name(body, content_type) or "binary data"
    if name == "PDF document":
        version = re.match(rb"%PDF-(\d\.\d)", body)
        name += f", version {version[1].decode()}" if version else ""
    media = content_type.partition(";")[0].strip()[:100] or "none"
    size = (
        f"{length} bytes"
        if cut and length
        else f"more than {len(body)} bytes"
        if cut
        else f"{len(body)} bytes"
    )
    return f"[{name}: {size}, Content-Type {media}. Binary content is not shown.]"
