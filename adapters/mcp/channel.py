"""
What carries frames to a server and back: a child's pipes, or HTTP. It only moves them.

Above: the client, which owns the channel and the connection's life. Below: a process, or the egress.
"""

import re
from abc import abstractmethod
from typing import Any, Protocol

from norma.adapters.http.json_text import parse_exactly, whole
from norma.adapters.mcp.frames import Frame
from norma.adapters.mcp.lines import LongFrame
from norma.domain.model.failures import Failure
from norma.ports.tool_server import ServerInfo

_LONG_NUMBER = re.compile(rb"\d{19}")


class Receiver(Protocol):
    """Who gets what a channel brings. Called on the loop, never from within `send`."""

    @abstractmethod
    def received(self, value: Any) -> None:
        """JSON that came."""

    @abstractmethod
    def skipped(self, why: str) -> None:
        """Something came that is no JSON."""

    @abstractmethod
    def too_long(self, frame: LongFrame, size: int) -> None:
        """A frame of *size* bytes came, more than is taken; what it was is known in part."""

    @abstractmethod
    def failed(self, number: int, failure: Failure, *, sent: bool) -> None:
        """The request *number* will have no answer; *sent*: the server may have got it."""

    @abstractmethod
    def waits_for(self, number: int) -> bool:
        """Whether the request *number* still has no answer."""

    @abstractmethod
    def lost(self, failure: Failure, *, sent: bool = True) -> None:
        """The connection is over; *sent* as above, for all that wait. The channel still wants its `close`."""


class Channel(Protocol):
    """One way to one server, for one connection."""

    @abstractmethod
    def open(self, receiver: Receiver) -> None:
        """Start. Raises ServerFailed if there is nothing to start."""

    @abstractmethod
    def send(self, frame: Frame, *, busy: bool) -> None:
        """Send a frame; never waits. *busy*: many are on their way, so that it may go with others."""

    @abstractmethod
    def established(self, info: ServerInfo) -> None:
        """The versions are agreed on."""

    @abstractmethod
    def forget(self, number: int) -> None:
        """Nobody waits for the answer to this request any more."""

    @abstractmethod
    async def close(self) -> None:
        """
        End it, and what it started; nothing is left. Again and at the same time: all wait for the one end.

        A cancel is held back until it is done, and raised then.
        """


def read_frame(data: bytes) -> Any:
    """
    The JSON of a line, with whole characters only. Raises ValueError.

    Exact where it matters: a structured result and an id keep integers that the quick library would round.
    """
    import orjson

    try:
        value = orjson.loads(data)
    except ValueError:
        return whole(parse_exactly(data))
    if isinstance(value, dict) and _may_be_rounded(value) and _LONG_NUMBER.search(data):
        return whole(parse_exactly(data))
    return value


def _may_be_rounded(frame: Frame) -> bool:
    result = frame.get("result")
    if isinstance(result, dict):
        return result.get("structuredContent") is not None
    return isinstance(frame.get("id"), float)
