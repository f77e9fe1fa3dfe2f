"""Which URLs name a static asset, such as an image or an archive, that is no page to read (contract F5)."""

from typing import Final

# fmt: off
ASSETS: Final = frozenset({
    "apng", "avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "svg", "svgz", "tif", "tiff", "webp", "eot",
    "otf", "ttf", "woff", "woff2", "aac", "flac", "m4a", "mid", "mp3", "oga", "ogg", "opus", "wav", "weba",
    "avi", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm", "wmv", "7z", "bz2", "gz", "jar", "rar",
    "tar", "tgz", "xz", "zip", "zst", "map", "wasm",
})
# fmt: on
"""Suffixes. Scripts, style sheets, PDF, JSON, XML and text are fetched."""


def asset_suffix(path: str) -> str | None:
    """The suffix of the last segment of *path* (a URL's, without query) if it is an asset's."""
    name = path.rpartition("/")[2].partition(";")[0]
    _, dot, suffix = name.rpartition(".")
    found = _plain(suffix).lower()
    return found if dot and found in ASSETS else None


def _plain(suffix: str) -> str:
    """Escapes of plain letters undone: `.p%6Eg` is `.png` to a server."""
    first, *rest = suffix.split("%")
    out = first
    for part in rest:
        try:
            out += chr(int(part[:2], 16)) + part[2:]
        except ValueError:
            return suffix
    return out
