"""
The model port.

Above: the engine, which wants one reply at a time. Below: an adapter for one provider's wire,
or a double.
"""

from abc import abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

from norma.domain.model.replies import ReplyEvent
from norma.domain.model.requests import ReplyRequest


class Reply(Protocol):
    """
    One reply, arriving. An async iterator over `ReplyEvent` and an async context manager.

    Nothing is sent before the first `__anext__`. Whoever holds the reply closes it: by reading it
    to its end, by `aclose()`, by leaving `async with`, or by dropping the last reference. The
    connection is then closed at once, and the server sees it within a second. A reply is read by one
    task at a time; if that task is cancelled in `__anext__`, the reply is closed before
    `CancelledError` goes on.
    """

    @abstractmethod
    def __aiter__(self) -> Self:
        """The reply itself."""

    @abstractmethod
    async def __anext__(self) -> ReplyEvent:
        """
        The next event, in the order that `norma.domain.model.replies` promises.

        Raises:
            StopAsyncIteration: after `ReplyFinished`, or after `aclose()`.
            ModelError: the reply can't come to its end; it is closed. A stream that ends without
                its end mark is such an error, never a completion.
        """

    def ready(self) -> Iterator[ReplyEvent]:
        """
        The next events, as far as they have come already; never waits, never fails.

        An event is taken when the iterator gives it, and given once, here or by `__anext__`. A reader that
        looks here after each event spares itself a step of its task for every delta. An adapter with nothing
        to gain leaves this as it is: nothing is ever ready.
        """
        return iter(())

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connection now. Closing twice does nothing."""

    @abstractmethod
    async def __aenter__(self) -> Self:
        """The reply itself; still nothing is sent."""

    @abstractmethod
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""


class ChatModel(Protocol):
    """
    A language model that answers a conversation.

    One object may be asked many times at once; replies share nothing but the limiter.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call it before a person, such as "gpt-4.1 at api.openai.com". No secrets."""

    @abstractmethod
    def reply(self, request: ReplyRequest) -> Reply:
        """
        A reply to *request*, not yet begun.

        Failures before anything was shown are retried inside (contract M1), later ones never (M2).
        What the wire can't carry is left out or mapped (M7, M14), never sent to fail.
        """
