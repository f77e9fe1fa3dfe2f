"""What a session has read, so that it does not write over what it has not seen."""

from collections import OrderedDict

MOST = 10_000


class Remembered:
    """
    The stamp of each file as a session last read or wrote it; shared by the tools of one engine.

    Of many files the ones that were not used for longest are forgotten: they count as never read.
    """

    def __init__(self) -> None:
        self._stamps: OrderedDict[tuple[str, str], str] = OrderedDict()

    def saw(self, session: str, path: str, stamp: str) -> None:
        """*session* knows what the file holds."""
        self._stamps[session, path] = stamp
        self._stamps.move_to_end((session, path))
        while len(self._stamps) > MOST:
            self._stamps.popitem(last=False)

    def outdated(self, session: str, path: str, stamp: str) -> bool:
        """Whether *session* knows the file as it was, and not as it is."""
        return self._stamps.get((session, path), stamp) != stamp
