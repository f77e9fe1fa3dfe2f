"""What the shared reply needs of a wire's codec."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Protocol

from norma.adapters.wires.encoded import EncodedRequest
from norma.domain.model.blocks import Block
from norma.domain.model.replies import ReplyEvent
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.usage import Usage


class Decoding(Protocol):
    """
    One answer being decoded. Pure.

    Events are added to *events*; *is_done* says that the end mark was seen; *content_type* is what the header
    said, for messages. Each method raises WireError when the answer says, or shows, that it fails; the events
    before that still stand.
    """

    is_done: bool
    content_type: str

    @property
    @abstractmethod
    def events(self) -> deque[ReplyEvent]:
        """The events that were not taken yet; the same object all the time."""

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """The next bytes of a stream."""

    @abstractmethod
    def finish(self) -> None:
        """The stream's bytes are over."""

    @abstractmethod
    def cut(self) -> bool:
        """The connection failed. Whether the answer was whole all the same, and is now ended."""

    @abstractmethod
    def whole(self, body: bytes) -> None:
        """The JSON body of an answer that is no stream."""

    @abstractmethod
    def partial(self) -> tuple[Block, ...]:
        """What there is of a reply that will not be finished."""

    @abstractmethod
    def partial_usage(self) -> Usage:
        """What was reported of it."""


class Wire(Protocol):
    """
    A codec for one model of one provider.

    *empty_is_asked_again*: a normal answer without content is requested again (C5).
    """

    empty_is_asked_again: bool

    @abstractmethod
    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """The request as it is sent. Raises ValueError for what the wire can't be asked."""

    @abstractmethod
    def decoding(
        self, encoded: EncodedRequest, new_id: Callable[[], str], statuses: frozenset[int]
    ) -> Decoding:
        """A decoder for one answer to *encoded*; *statuses* are the numeric codes that are tried again."""
