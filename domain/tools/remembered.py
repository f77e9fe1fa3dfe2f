"""What a session has read, so that it does not write over what it has not seen."""

from collections import OrderedDict
from hashlib import blake2b

from norma.domain.model.values import frozen
from norma.ports.files import FileContent

MOST = 10_000
MOST_DIGESTED = 1 << 20
"""Bytes. Of a larger file only the stamp is known."""


@frozen
class Known:
    """A file as it was: its stamp, and a digest of its bytes if they were all seen."""

    stamp: str
    digest: bytes | None = None


class Remembered:
    """
    Each file as a session last read or wrote it; shared by the tools of one engine.

    A file that has got another mode or another link, or was written again as it was, has not changed.
    Of many files the ones that were not used for longest are forgotten: they count as never read.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str], Known] = OrderedDict()

    def saw(self, session: str, path: str, content: FileContent) -> None:
        """*session* knows what the file holds."""
        self._files[session, path] = Known(content.stamp, _digest(content))
        self._files.move_to_end((session, path))
        while len(self._files) > MOST:
            self._files.popitem(last=False)

    def outdated(self, session: str, path: str, content: FileContent) -> bool:
        """Whether *session* knows the file as it was, and not as it is."""
        known = self._files.get((session, path))
        if known is None or known.stamp == content.stamp:
            return False
        return known.digest is None or known.digest != _digest(content)


def _digest(content: FileContent) -> bytes | None:
    if content.whole_size > min(len(content.data), MOST_DIGESTED):
        return None
    return blake2b(content.data, digest_size=16).digest()
