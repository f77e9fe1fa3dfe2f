"""Lines of output, told in bundles: not each by itself, and not more than somebody can read."""

import asyncio
from collections.abc import Callable

PAUSE_S = 0.5
MOST_LINES = 20
MOST_CHARACTERS = 300
MOST_BUNDLES = 50
"""Who watches a chatty command would fill a conversation with it."""


class Lines:
    """*tell* gets the whole lines of what is added, a pause after the first of a bundle."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._part = ""
        self._waiting: list[str] = []
        self._more = 0
        self._timer: asyncio.TimerHandle | None = None
        self._bundles = 0

    def add(self, text: str) -> None:
        """Take the next piece, which may end inside a line."""
        if self._bundles > MOST_BUNDLES:
            return
        *whole, self._part = (self._part + text).split("\n")
        self._part = self._part[: MOST_CHARACTERS + 1]  # one more, which tells that it is cut
        for line in whole:
            self._take(line)
        if self._waiting and self._timer is None:
            self._timer = self._loop.call_later(PAUSE_S, self._flush)

    def finish(self) -> None:
        """Tell what is left; no timer of this runs any more."""
        if self._part and self._bundles <= MOST_BUNDLES:
            self._take(self._part)
            self._part = ""
        self._flush()

    def _take(self, line: str) -> None:
        if len(self._waiting) < MOST_LINES:
            self._waiting.append(line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + "…")
        else:
            self._more += 1

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            more = [f"[and {self._more} more lines]"] if self._more else []
            said = "\n".join([*self._waiting, *more])
            self._waiting.clear()
            self._more = 0
            self._bundles += 1
            if self._bundles > MOST_BUNDLES:
                said += "\n[it prints too much; no more of it is told, TaskOutput shows it]"
            self._tell(said)
