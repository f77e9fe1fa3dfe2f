"""
A decoder for event streams, as the WHATWG server-sent-events text describes them (contract M11).

Pure: bytes in, the data of whole events out, the same for every way the bytes are cut. On the model wires the
data says its own type, so the name of an event is told only where its data does not hold it (`Named`); ids
are left out. It differs from the text in one point, `finish`.

Each read costs one split. While an event spans reads its pieces are kept in a list and joined once, so the
work is linear in the bytes, however long a line is.
"""

from norma.adapters.http.json_text import parse

_BOM = b"\xef\xbb\xbf"
_LF, _CR = 10, 13
_USUAL_NAME = b"message"
"""The name of an event that has none."""


class EventTooLong(ValueError):
    """An event is longer than the decoder takes; the message says how long it may be."""


class Named(bytes):
    """The data of an event that has a *name* and does not hold it in quotes."""

    name: str


class SseDecoder:
    """Decodes one stream. *most_bytes* bounds what is kept for an event that has not ended."""

    __slots__ = ("_after_cr", "_kept", "_most", "_pieces", "_quoted", "_start", "_usual")

    def __init__(self, *, most_bytes: int = 64 << 20) -> None:
        self._most = most_bytes
        self._start: bytes | None = b""
        self._pieces: list[bytes] = []
        self._kept = 0
        self._after_cr = False
        self._usual = b"data: "
        """What stood before the data of the last plain event: most often it stands before the next, too."""
        self._quoted: bytes | None = None
        """The name in there, if any, as the data would say it."""

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
        usual, quoted = self._usual, self._quoted
        at = len(usual)
        for part in parts:
            if (
                part.startswith(usual)  # nearly always, and half the cost
                and part.find(b"\n", at) < 0
                and (quoted is None or part.find(quoted, at) >= 0)
            ):
                events.append(part[at:])
            elif (before := _before_one_line(part)) and (name := _quoted_name(before)) in part:
                usual, quoted = self._usual, self._quoted = before, name or None
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


def _quoted_name(before: bytes) -> bytes:
    """The name of an event in quotes, by what stands before its data; nothing for one without a name."""
    if not before.startswith(b"event:"):
        return b""
    name = _field(before.partition(b"\n")[0], b"event")
    return b'"%b"' % name if name and name != _USUAL_NAME else b""


def _data_of(part: bytes) -> bytes | None:
    """The data of one event; None if it has none."""
    lines = part.split(b"\n")
    found = [value for line in lines if (value := _field(line, b"data")) is not None]
    if not found:
        return None
    data = b"\n".join(found)
    names = [value for line in lines if (value := _field(line, b"event")) is not None]
    name = names[-1] if names else b""
    if not name or name == _USUAL_NAME or b'"%b"' % name in data:
        return data
    named = Named(data)
    named.name = name.decode("utf-8", "replace")
    return named


def _field(line: bytes, name: bytes) -> bytes | None:
    """The value of a line, if it is of the field *name*."""
    if not line.startswith(name):
        return None
    rest = line[len(name) :]
    if rest.startswith(b":"):
        return rest[2:] if rest.startswith(b": ") else rest[1:]
    return None if rest else b""
