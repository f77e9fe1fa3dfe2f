"""
What decoders of answers share: bytes to JSON events, and how either can be bad (contract M5, M11). Pure.

A wire's decoder subclasses this and says what one event's JSON, or one whole body's, means.
"""

from abc import abstractmethod
from collections import deque
from typing import Any

from norma.adapters.http.json_text import parse_exactly, quick_parser
from norma.adapters.http.sse import EventTooLong, SseDecoder
from norma.adapters.wires.assembly import Assembly
from norma.adapters.wires.errors import WireError, dropped, excerpt, protocol_error
from norma.adapters.wires.wire import Decoding
from norma.domain.model.blocks import Block
from norma.domain.model.replies import ReplyEvent
from norma.domain.model.usage import Usage

DONE = b"[DONE]"
"""The end mark of the streams of OpenAI and its kin."""


class AnswerDecoding(Decoding):
    """
    Decodes one answer of *host* into *assembly*.

    *no_end* says, of a stream that ended too soon, what it should have given. A subclass sets `is_done` when
    it has finished the assembly; nothing after that can matter.
    """

    no_end: str

    def __init__(self, host: str, assembly: Assembly, statuses: frozenset[int]) -> None:
        self._host = host
        self._assembly = assembly
        self._statuses = statuses
        self._sse = SseDecoder()
        self._parse = quick_parser()
        self.is_done = False

    @property
    def events(self) -> deque[ReplyEvent]:
        return self._assembly.events

    def partial(self) -> tuple[Block, ...]:
        return self._assembly.partial()

    def partial_usage(self) -> Usage:
        return self._assembly.partial_usage()

    def feed(self, data: bytes) -> None:
        try:
            found = self._sse.feed(data)
        except EventTooLong as error:
            raise protocol_error(f"the answer of {self._host} can't be read: {error}") from None
        for event in found:
            if self.is_done:
                return
            if event == DONE:  # to let the parser fail on it costs more than to look
                self._done_mark()
                continue
            try:
                value = self._parse(event)
            except ValueError:
                self._odd_event(event)
            else:
                self._event(value, event)

    def finish(self) -> None:
        rest = self._sse.finish()
        if rest is not None and not self.is_done:
            self._odd_event(rest)
        if not self.is_done and not self.cut():
            raise dropped(self._host, self.no_end)

    def cut(self) -> bool:
        if not self.is_done and self._has_ended():
            self._end()
        return self.is_done

    def whole(self, body: bytes) -> None:
        if not body.strip():
            raise protocol_error(f"{self._host} answered with status 200 and an empty body")
        try:
            value = parse_exactly(body)
        except ValueError as error:
            shown = excerpt(body)
            raise protocol_error(f"the answer of {self._host} is no JSON ({error}): {shown}") from None
        if not isinstance(value, dict):
            raise protocol_error(f"the answer of {self._host} is no JSON object: {excerpt(body)}")
        self._body(value, body)
        self._end()

    @abstractmethod
    def _event(self, value: Any, data: bytes) -> None:
        """One event of a stream; *data* is what *value* was read from. Integers in it may be inexact."""

    @abstractmethod
    def _body(self, value: dict[str, Any], data: bytes) -> None:
        """All that a body says, integers exact."""

    @abstractmethod
    def _has_ended(self) -> bool:
        """Whether a stream that breaks off now had said its end."""

    @abstractmethod
    def _end(self) -> None:
        """Finish the assembly and set `is_done`."""

    def _done_mark(self) -> None:
        """`[DONE]`, which is not an end mark on every wire."""

    def _not_an_event(self, data: bytes) -> WireError:
        return protocol_error(f"an event in the answer of {self._host} is no JSON object: {excerpt(data)}")

    def _odd_event(self, data: bytes) -> None:
        """What the quick parser does not take: the end mark, a heartbeat, or JSON with its quirks."""
        if data.isspace() or not data:
            return
        if data.strip() == DONE:
            self._done_mark()
            return
        try:
            value = parse_exactly(data)
        except ValueError:
            shown = excerpt(data)
            raise protocol_error(f"an event in the answer of {self._host} is no JSON: {shown}") from None
        self._event(value, data)


def count(report: object, name: str) -> int | None:
    """A counter of a usage report; None where it is absent, null or no count."""
    value = report.get(name) if isinstance(report, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
