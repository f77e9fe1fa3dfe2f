"""Images as Read hands them to a model."""

from base64 import b64encode

from norma.domain.model.blocks import Image

MOST_BYTES = 3_750_000
"""As base64 these are 5 MB, the most that model providers take."""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(data: bytes) -> str | None:
    """The type of an image that models can look at and that begins with *data*; None for all else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS if data.startswith(start)), None)


def image(data: bytes, kind: str, name: str) -> Image:
    """The block of a whole image."""
    return Image(kind, b64encode(data).decode(), name=name)
