"""
Server-sent events with the ids and waits that let a broken stream go on (contract M11's rules of form). Pure.

The decoder of the model wires leaves those out; here they decide what is asked for next.
"""

from norma.adapters.mcp.lines import MOST_BYTES
from norma.domain.model.values import frozen

_BOM = b"\xef\xbb\xbf"
_SPARE = 1 << 20


@frozen
class ServerEvent:
    """One event. *id* is the last one that the stream named; *data* is empty where it only names one."""

    data: bytes
    id: str | None


class EventTooLong(ValueError):
    """An event holds more than is taken."""


class EventStream:
    """Decodes one stream. *retry_s* is the wait that it asked for, None if it did not."""

    def __init__(self, last_id: str | None = None, most_bytes: int = MOST_BYTES + _SPARE) -> None:
        self.last_id = last_id
        self.retry_s: float | None = None
        self._most = most_bytes
        self._pieces: list[bytes] = []
        self._kept = 0
        self._after_cr = False
        self._begun = False
        self._data: list[bytes] = []
        self._held = 0
        self._named = False

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that *data* completes. Raises EventTooLong."""
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data[-1:] == b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        head, *others = data.split(b"\n")
        if not others:
            self._keep(head)
            return []
        lines = [b"".join([*self._pieces, head]), *others]
        self._pieces.clear()
        self._kept = 0
        self._keep(lines.pop())
        if not self._begun:
            lines[0] = lines[0].removeprefix(_BOM)
            self._begun = True
        return [event for line in lines if (event := self._line(line)) is not None]

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._kept += len(piece)
            self._bound(self._kept + self._held)

    def _bound(self, size: int) -> None:
        if size > self._most:
            raise EventTooLong(f"an event is longer than {self._most} bytes")

    def _line(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._end()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._held += len(value)
            self._bound(self._held)
        elif name == b"id" and b"\0" not in value:
            self.last_id = value.decode("utf-8", "replace")
            self._named = True
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry_s = int(value) / 1000
        return None

    def _end(self) -> ServerEvent | None:
        data, named = b"\n".join(self._data), self._named
        self._data.clear()
        self._held = 0
        self._named = False
        return ServerEvent(data, self.last_id) if data or named else None
