"""
Lines out of a stream of bytes, in linear time and bounded memory. Pure.

A line ends with LF; CR before it is dropped. Of a line that is too long only its first and last bytes are
kept, because the id that it answers to stands there (contract P4).
"""

import re
from typing import Any

from norma.adapters.http.json_text import parse
from norma.domain.model.values import frozen

MOST_BYTES = 8 << 20
EDGE_BYTES = 64 << 10


@frozen
class TooLong:
    """A line over the limit: what it began and ended with, and its length."""

    head: bytes
    tail: bytes
    size: int


class Lines:
    """Splits one stream. *most_bytes* bounds a line, its end not counted."""

    __slots__ = ("_head", "_most", "_pieces", "_size", "_tail")

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None
        self._tail = b""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that *data* completes; empty ones are left out."""
        if b"\n" not in data:
            self._keep(data)
            return []
        parts = data.split(b"\n")
        out: list[bytes | TooLong] = []
        if self._size:
            self._keep(parts[0])
            parts[0] = b""
            self._end(out)
        rest = parts.pop()
        for part in parts:
            if len(part) > self._most + 1:  # one more, for a CR
                self._keep(part)
                self._end(out)
            elif part and (part := part.removesuffix(b"\r")):
                out.append(part)
        if rest:
            self._keep(rest)
        return out

    def finish(self) -> list[bytes | TooLong]:
        """The stream is over: what a last line without its end holds."""
        out: list[bytes | TooLong] = []
        if self._size:
            self._end(out)
        return out

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._head is not None:
            self._tail = (self._tail + piece[-EDGE_BYTES:])[-EDGE_BYTES:]
            return
        self._pieces.append(piece)
        if self._size > self._most + 1:
            line = b"".join(self._pieces)
            self._pieces.clear()
            self._head, self._tail = line[:EDGE_BYTES], line[-EDGE_BYTES:]

    def _end(self, out: list[bytes | TooLong]) -> None:
        """The kept line is complete."""
        head, size = self._head, self._size
        self._head, self._size = None, 0
        if head is not None:
            out.append(TooLong(head, self._tail, size))
            self._tail = b""
            return
        pieces = self._pieces
        line = (pieces[0] if len(pieces) == 1 else b"".join(pieces)).removesuffix(b"\r")
        pieces.clear()
        if len(line) > self._most:
            out.append(TooLong(line[:EDGE_BYTES], line[-EDGE_BYTES:], size))
        elif line:
            out.append(line)


@frozen
class LongFrame:
    """What can be told of the frame in a line that was too long. *id* None: it can't be read."""

    id: Any
    has_method: bool


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?![\d.eE]))\s*[,}]', re.DOTALL)
_TAIL_ID = re.compile(
    rb',\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*((?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?)\}\s*$', re.DOTALL
)


def long_frame(line: TooLong) -> LongFrame:
    """Read id and method at the top level of the frame's head, or the id from its very end."""
    found, has_method = _top_level(line.head)
    if found is None and not has_method:
        match = _TAIL_ID.search(line.tail)
        found = parse(match[1]) if match else None
    return LongFrame(found, has_method)


def _top_level(head: bytes) -> tuple[Any, bool]:
    at, depth, found, has_method = 0, 0, None, False
    while at < len(head):
        byte = head[at]
        if byte == 0x22:
            string = _STRING.match(head, at)
            if string is None:
                break
            at = string.end()
            if depth == 1 and string[0] == b'"method"':
                has_method = has_method or head[at:].lstrip().startswith(b":")
            elif depth == 1 and string[0] == b'"id"' and (value := _SCALAR.match(head, at)):
                found = parse(value[1])
            continue
        depth += (byte in b"{[") - (byte in b"}]")
        at += 1
    return found, has_method
