"""The end of what a server wrote on stderr: bounded by bytes, since some never end a line (contract P7)."""

import re
from collections import deque
from collections.abc import Iterable

KEPT_BYTES = 64 << 10
SHOWN_LINES = 20
SHOWN_CHARACTERS = 2_000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class StderrTail:
    """Keeps the last bytes; *secrets* are blotted out of what is shown."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._secrets = sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True)

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        data = data[-KEPT_BYTES:]
        self._pieces.append(data)
        self._size += len(data)
        while self._size - len(self._pieces[0]) >= KEPT_BYTES:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """All that is kept."""
        text = b"".join(self._pieces)[-KEPT_BYTES:].decode("utf-8", "replace")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def shown(self) -> str:
        """The last lines, without control characters, for an error message; empty if there are none."""
        lines = [_CONTROL.sub("", line).rstrip() for line in re.split(r"[\n\r]+", self.text())]
        return "\n".join([line for line in lines if line][-SHOWN_LINES:])[-SHOWN_CHARACTERS:]
