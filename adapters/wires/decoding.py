"""
What decoders of answers share: bytes to JSON events, and how either can be bad (contract M5, M11). Pure.

A wire's decoder subclasses this and says what one event's JSON, or one whole body's, means.
"""

from abc import abstractmethod
from collections import deque
from typing import Any, Literal

from norma.adapters.http.json_text import parse_exactly, quick_parser, write
from norma.adapters.http.sse import EventTooLong, Named, SseDecoder
from norma.adapters.wires.assembly import Assembly
from norma.adapters.wires.errors import WireError, dropped, excerpt, protocol_error
from norma.adapters.wires.wire import Decoding
from norma.domain.model.blocks import Block
from norma.domain.model.replies import ReplyEvent
from norma.domain.model.usage import Usage

_BEFORE_IT_BEGINS = b"\xef\xbb\xbf \t\r\n"
"""The bytes of a mark and of blanks."""
_LINES = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How a stream may begin."""
_MOST_BYTES = 64 << 20
_MOST_OF_A_PAGE = 4 << 10

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
        self._form: Literal["unknown", "stream", "body", "page"] = "unknown"
        self._head: bytes | None = b""
        """The beginning of a stream in which no event was seen; None once there was one."""
        self._pieces: list[bytes] = []
        """The body, while it is no stream."""
        self._size = 0
        self.content_type = ""
        self.is_done = False

    @property
    def events(self) -> deque[ReplyEvent]:
        return self._assembly.events

    def partial(self) -> tuple[Block, ...]:
        return self._assembly.partial()

    def partial_usage(self) -> Usage:
        return self._assembly.partial_usage()

    def feed(self, data: bytes) -> None:
        if self._form != "stream":
            self._look(data)
            if self._form in ("body", "page"):
                return
        try:
            found = self._sse.feed(data)
        except EventTooLong as error:
            raise protocol_error(f"the answer of {self._host} can't be read: {error}") from None
        if self._head is not None:
            if found:
                self._head = None
            elif len(self._head) < _MOST_OF_A_PAGE:
                self._head += data
        for event in found:
            if self.is_done:
                return
            if event == DONE:  # to let the parser fail on it costs more than to look
                self._done_mark()
                continue
            try:
                value = self._parse(event)
            except ValueError:  # also of one whose name counts: a `Named` is not what the parser takes
                self._odd_event(event)
            else:
                self._event(value, event)

    def finish(self) -> None:
        if self._form == "body":
            self.whole(b"".join(self._pieces))
            return
        if self._form == "page":
            raise self._a_page()
        rest = self._sse.finish()
        if rest is None and _is_other(self._head):
            raise self._other(self._head or b"")
        if rest is not None and not self.is_done:
            self._odd_event(rest)
        if not self.is_done and not self.cut():
            raise dropped(self._host, self.no_end)

    def cut(self) -> bool:
        if not self.is_done and self._has_ended():
            self._end()
        return self.is_done

    def whole(self, body: bytes) -> None:
        body = body.lstrip(_BEFORE_IT_BEGINS)
        if not body:
            raise protocol_error(f"{self._host} answered with status 200 and an empty body")
        if body.startswith(_LINES):
            self.feed(body)
            self.finish()
            return
        try:
            value = parse_exactly(body)
        except ValueError as error:
            shown = excerpt(body)
            told = f"status 200 and {self.content_type}" if self.content_type else "status 200"
            message = f"the answer of {self._host} with {told} is no JSON ({error}): {shown}"
            raise protocol_error(message) from None
        value = _unlisted(value)
        if not isinstance(value, dict):
            raise protocol_error(f"the answer of {self._host} is no JSON object: {excerpt(body)}")
        self._body(value, body)
        self._end()

    def _look(self, data: bytes) -> None:
        """What the body is, by how it begins: some servers send another form than they say."""
        if self._form == "unknown":
            begun = data.lstrip(_BEFORE_IT_BEGINS)
            if not begun:
                return
            self._form = "body" if begun[:1] in b"{[" else "page" if begun[:1] == b"<" else "stream"
        if self._form == "stream":
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _MOST_BYTES:
            raise protocol_error(f"the answer of {self._host} is longer than {_MOST_BYTES} bytes")
        if self._form == "page" and self._size > _MOST_OF_A_PAGE:
            raise self._a_page()

    def _a_page(self) -> WireError:
        return self._other(b"".join(self._pieces))

    def _other(self, body: bytes) -> WireError:
        said = f"{self.content_type} that is no answer" if self.content_type else "no answer"
        return protocol_error(f"{self._host} answered with status 200 and {said}: {excerpt(body)}")

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

    def _no_object(self, value: object, data: bytes) -> None:
        """An event that is no object: null says nothing, an error may stand in a list, else WireError."""
        inside = _unlisted(value)
        if isinstance(inside, dict):
            self._event(inside, write(inside))
        elif value is not None:
            shown = excerpt(data)
            raise protocol_error(f"an event in the answer of {self._host} is no JSON object: {shown}")

    def _odd_event(self, data: bytes) -> None:
        """
        What the quick parser does not take: the end mark, a heartbeat, JSON with its quirks, or an event
        whose name is to be seen.
        """
        if data.isspace() or not data:
            return
        if data.strip() == DONE:
            self._done_mark()
            return
        name = data.name if isinstance(data, Named) else None
        try:
            value = parse_exactly(data)
        except ValueError:
            if name == "error":
                value = {"error": data.decode("utf-8", "replace")}
            else:
                shown = excerpt(data)
                raise protocol_error(f"an event in the answer of {self._host} is no JSON: {shown}") from None
        if name is not None and isinstance(value, dict) and not (value.get("type") or value.get("error")):
            value["type"] = name
        elif name == "error" and isinstance(value, dict) and "error" not in value:
            value = {"error": value}
        self._event(value, data)


def may_be_answer(begin: bytes) -> bool | None:
    """Whether a body begins as an answer does, whatever its header says; None: that takes more of it."""
    begun = begin.lstrip(_BEFORE_IT_BEGINS)
    if begun.startswith((b"{", b"[", *_LINES)):
        return True
    return False if begun and not any(line.startswith(begun) for line in _LINES) else None


def _is_other(head: bytes | None) -> bool:
    """Whether *head* is the beginning of something that is no stream: words, and no line of one."""
    begun = (head or b"").lstrip(_BEFORE_IT_BEGINS)
    return bool(begun) and not any(line.startswith(_LINES) for line in begun.splitlines())


def _unlisted(value: object) -> object:
    """The error that Google's servers put in a list; else *value* as it is."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].get("error"):
        return value[0]
    return value


def count(report: object, name: str) -> int | None:
    """A counter of a usage report; None where it is absent, null or no count."""
    value = report.get(name) if isinstance(report, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
