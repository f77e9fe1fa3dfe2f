"""
A decoder for event streams, as the WHATWG server-sent-events text describes them (contract M11).

Pure: bytes in, the data of whole events out, the same for every way the bytes are cut. Names and ids of
events are left out: on the model wires the data says its own type. It differs from the text in one point,
`finish`.

Each read costs one split. While an event spans reads its pieces are kept in a list and joined once, so the
work is linear in the bytes, however long a line is.
"""

from norma.adapters.http.json_text import parse

_BOM = b"\xef\xbb\xbf"
_LF, _CR = 10, 13


class EventTooLong(ValueError):
    """An event is longer than the decoder takes; the message says how long it may be."""


class SseDecoder:
    """Decodes one stream. *most_bytes* bounds what is kept for an event that has not ended."""

    __slots__ = ("_after_cr", "_kept", "_most", "_pieces", "_start", "_usual")

    def __init__(self, *, most_bytes: int = 64 << 20) -> None:
        self._most = most_bytes
        self._start: bytes | None = b""
        self._pieces: list[bytes] = []
        self._kept = 0
        self._after_cr = False
        self._usual = b"data: "
        """What stood before the data of the last plain event: most often it stands before the next, too."""

    def feed(self, data: bytes) -> list[bytes]:
        """
        The data of the events that *data* completes, in order; several lines are joined by LF.

        Raises EventTooLong.
        """
        if self._start is not None:
            data = self._skip_mark(data)
        if b"\r" in data or self._after_cr:
            data = self._with_lf(data)
        if not data:
            return []
        pieces = self._pieces
        if pieces:
            if b"\n\n" not in data and not (data[0] == _LF and pieces[-1][-1] == _LF):
                self._keep(data)
                return []
            pieces.append(data)
            data = b"".join(pieces)
            pieces.clear()
            self._kept = 0
        parts = data.split(b"\n\n")
        rest = parts.pop()
        if rest:
            self._keep(rest)
        events = []
        usual = self._usual
        at = len(usual)
        for part in parts:
            if part.startswith(usual) and part.find(b"\n", at) < 0:  # nearly always, and half the cost
                events.append(part[at:])
            elif before := _before_one_line(part):
                usual = self._usual = before
                at = len(usual)
                events.append(part[at:])
            elif (found := _data_of(part)) is not None:
                events.append(found)
        return events

    def finish(self) -> bytes | None:
        """
        The data of a last event that no blank line ended, if it is a JSON object or array, or `[DONE]`.

        The event-stream text would drop it; some servers end so, and a complete object can't be a cut one.
        """
        part = b"".join(self._pieces)
        self._pieces.clear()
        found = _data_of(part)
        if found is None or found.strip() == b"[DONE]":
            return found
        try:
            return found if isinstance(parse(found), dict | list) else None
        except ValueError:
            return None

    def _keep(self, piece: bytes) -> None:
        self._kept += len(piece)
        if self._kept > self._most:
            raise EventTooLong(f"an event of the stream is longer than {self._most} bytes")
        self._pieces.append(piece)

    def _skip_mark(self, data: bytes) -> bytes:
        """Leave out one byte order mark at the very beginning, which may come in three pieces."""
        data = (self._start or b"") + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._start = data
            return b""
        self._start = None
        return data.removeprefix(_BOM)

    def _with_lf(self, data: bytes) -> bytes:
        """Turn CRLF and CR into LF; a CR at the end may have its LF in the next piece."""
        if not data:
            return data
        if self._after_cr and data[0] == _LF:
            data = data[1:]
            self._after_cr = False
            if not data:
                return data
        self._after_cr = data[-1] == _CR
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _before_one_line(part: bytes) -> bytes:
    """What stands before the data in an event that is one line of data, named or not; else nothing."""
    at = part.find(b"\n") + 1
    is_plain = not at or part.startswith(b"event:")
    if is_plain and part.startswith(b"data: ", at) and part.find(b"\n", at) < 0:
        return part[: at + 6]
    return b""


def _data_of(part: bytes) -> bytes | None:
    """The data of one event; None if it has none."""
    found = [value for line in part.split(b"\n") if (value := _data_line(line)) is not None]
    return b"\n".join(found) if found else None


def _data_line(line: bytes) -> bytes | None:
    if line.startswith(b"data:"):
        return line[6:] if line.startswith(b"data: ") else line[5:]
    return b"" if line == b"data" else None
