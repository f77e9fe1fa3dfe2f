"""
The client: a connection's life, driven over a channel.

Requests are futures; whoever makes one waits for it, up to its deadline, and takes its id away again when
that passes or when it is cancelled. What a server asks is answered by tasks that the client owns.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from norma.adapters.mcp.asked import CantAnswer, answer_to, capabilities_of, roots_of
from norma.adapters.mcp.channel import Channel, Receiver
from norma.adapters.mcp.connection import (
    Answered,
    Asked,
    Connection,
    Event,
    Failed,
    Notified,
    Progressed,
    Ready,
    Refused,
    Send,
    Skipped,
)
from norma.adapters.mcp.frames import INTERNAL_ERROR, Id, RpcError, answer, refusal
from norma.adapters.mcp.lines import MOST_BYTES, LongFrame
from norma.adapters.mcp.progress import log_line, progress_line
from norma.domain.model.failures import Failure
from norma.ports.tool_server import Offers, OutcomeUnknown, ServerFailed, ServerInfo

Progress = Callable[[str], None]

BUSY = 8
"""So many requests on their way, and further ones go out together."""
MOST_ASKED = 16
"""Requests of the server that are worked on at once; more are refused."""
MOST_ROUNDS = 10
"""Of questions before one answer, in the generation where a server asks by answering."""


class RequestFailed(Exception):
    """The server answered with an error."""

    def __init__(self, error: RpcError) -> None:
        super().__init__(str(error))
        self.error = error


class Unanswered(Exception):
    """The connection is gone, or this request on it; *sent*: the server may have got it."""

    def __init__(self, failure: Failure, *, sent: bool) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.sent = sent


class _Pending:
    __slots__ = ("future", "progress")

    def __init__(self, future: "asyncio.Future[Any]", progress: Progress | None) -> None:
        self.future = future
        self.progress = progress


class Client(Receiver):
    """
    One connection to the server *name*. Its owner calls `aclose`, whatever happens.

    *changed* is told that a list has changed ("tools", "resources", "prompts"), *ended* that the connection
    is over, once, and not after `aclose`.
    """

    def __init__(
        self,
        name: str,
        channel: Channel,
        offers: Offers,
        *,
        protocol: str | None = None,
        changed: Callable[[str], None],
        ended: Callable[[], None],
    ) -> None:
        self._name = name
        self._channel = channel
        self._offers = offers
        self._connection = Connection(capabilities_of(offers), roots=roots_of(offers), protocol=protocol)
        self._changed = changed
        self._ended = ended
        self._opened: asyncio.Future[None] | None = None
        self._asked: dict[Id, asyncio.Task[None]] = {}
        self._progress: list[Progress] = []
        self._over: Unanswered | None = None
        self.odd = 0
        """How much came that is no frame, or belongs to nothing."""
        self._oddest = ""

    @property
    def info(self) -> ServerInfo | None:
        """What the server said of itself."""
        return self._connection.info

    @property
    def alive(self) -> bool:
        """Whether requests can be made."""
        return self._connection.state == "ready"

    @property
    def failure(self) -> Failure | None:
        """How the connection ended, if it did."""
        return None if self._over is None else self._over.failure

    @property
    def stateless(self) -> bool:
        """Whether the generation without a handshake is spoken."""
        return self._connection.stateless

    @property
    def waiting(self) -> int:
        """How many requests wait for their answer."""
        return self._connection.waiting

    async def open(self, timeout_s: float | None) -> None:
        """Start the channel and agree on a version. Raises ServerFailed."""
        self._opened = asyncio.get_running_loop().create_future()
        self._channel.open(self)
        self._carry_out([self._connection.open()])
        try:
            async with asyncio.timeout(timeout_s):
                await self._opened
        except TimeoutError:
            raise ServerFailed(self._late("the handshake", timeout_s)) from None
        except Unanswered as error:
            raise ServerFailed(error.failure) from error

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None,
        progress: Progress | None = None,
    ) -> Any:
        """
        The result of one request.

        Raises:
            RequestFailed: the server's error answer.
            Unanswered: the connection was or is lost.
            ServerFailed: kind `timeout`; or `invalid_request` for what has no JSON form.
        """
        connection = self._connection
        if connection.state != "ready":
            raise self._over or Unanswered(self._failure("is not connected"), sent=False)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        pending = _Pending(future, progress)
        number, frame = connection.request(method, params, pending, progress=progress is not None)
        try:
            self._channel.send(frame, busy=connection.waiting > BUSY)
        except (TypeError, ValueError) as error:
            connection.token_of(number)
            message = f"the arguments for {method} have no JSON form: {error}"
            raise ServerFailed(Failure("invalid_request", message)) from error
        timer = (
            None if timeout_s is None else loop.call_later(timeout_s, self._expire, future, method, timeout_s)
        )
        if progress is not None:
            self._progress.append(progress)
        try:
            return await future
        finally:
            if timer is not None:
                timer.cancel()
            if progress is not None:
                self._progress.remove(progress)
            notice = connection.forget(number, "the client no longer waits for it")
            if notice is not None:
                self._channel.forget(number)
                self._channel.send(notice, busy=False)

    async def interactive(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout_s: float | None,
        progress: Progress | None = None,
    ) -> Any:
        """As `request`, and answers what the server wants to know before it gives its result."""
        asked: Mapping[str, Any] = params
        for _ in range(MOST_ROUNDS):
            result = await self.request(method, asked, timeout_s=timeout_s, progress=progress)
            if not self._connection.stateless or not isinstance(result, dict):
                return result
            if result.get("resultType") != "input_required":
                return result
            asked = {**params, **await self._inputs(method, result)}
        message = f"the tool server {self._name} asked {MOST_ROUNDS} times before it answered {method}"
        raise ServerFailed(Failure("protocol", message))

    async def aclose(self) -> None:
        """End the connection and what belongs to it. A cancel is held back until that is done."""
        failure = self._failure("was closed")
        self._lose(Unanswered(failure, sent=True), told=False)
        tasks = list(self._asked.values())
        for task in tasks:
            task.cancel()
        await self._channel.close()
        if tasks:
            await asyncio.wait(tasks)

    # -- what the channel brings

    def received(self, value: Any) -> None:
        self._carry_out(self._connection.receive(value))

    def skipped(self, why: str) -> None:
        self.odd += 1
        if not self._oddest:
            self._oddest = why

    def too_long(self, frame: LongFrame, size: int) -> None:
        self.skipped(f"a line of {size} bytes")
        if frame.has_method:
            return
        text = f"the tool server {self._name} sent {size} bytes in one line; the limit is {MOST_BYTES}"
        failure = Failure("protocol", text)
        if frame.id is None:
            for number in self._connection.numbers():
                self.failed(number, failure, sent=True)
        elif type(frame.id) is int:
            self.failed(frame.id, failure, sent=True)

    def failed(self, number: int, failure: Failure, *, sent: bool) -> None:
        if self._opened is not None and not self._opened.done():
            self._lose(Unanswered(failure, sent=sent))
            return
        pending = self._connection.token_of(number)
        if pending is not None and not pending.future.done():
            pending.future.set_exception(Unanswered(failure, sent=sent))

    def waits_for(self, number: int) -> bool:
        return self._connection.waits_for(number)

    def lost(self, failure: Failure, *, sent: bool = True) -> None:
        self._lose(Unanswered(failure, sent=sent))

    # -- what the machine wants

    def _carry_out(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case Answered(pending, result):
                    if not pending.future.done():
                        pending.future.set_result(result)
                case Failed(pending, error):
                    if not pending.future.done():
                        pending.future.set_exception(RequestFailed(error))
                case Send(frame):
                    self._channel.send(frame, busy=False)
                case Progressed(pending, params):
                    if pending.progress is not None:
                        self._tell(pending.progress, progress_line(params))
                case Notified(method, params):
                    self._notified(method, params)
                case Skipped(why):
                    self.skipped(why)
                case Asked(number, method, params):
                    self._ask(number, method, params)
                case Ready():
                    assert self._opened is not None
                    assert self._connection.info is not None
                    self._channel.established(self._connection.info)
                    if not self._opened.done():
                        self._opened.set_result(None)
                case Refused(why):
                    self._lose(Unanswered(self._failure(f"can't be used: {why}"), sent=False))

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        head, _, tail = method.removeprefix("notifications/").partition("/")
        if tail == "list_changed":
            self._changed(head)
        elif method == "notifications/message":
            line = log_line(self._name, params)
            if line:
                for progress in self._progress:
                    self._tell(progress, line)
        elif method == "notifications/cancelled":
            number = params.get("requestId")
            if isinstance(number, str | int | float) and number in self._asked:
                self._asked[number].cancel()

    def _tell(self, progress: Progress, line: str) -> None:
        """Show a line. A host that fails to must not cost the frames behind it."""
        try:
            progress(line)
        except Exception as error:
            self.skipped(f"progress that could not be shown: {type(error).__name__}: {error}")

    def _ask(self, number: Id, method: str, params: Mapping[str, Any]) -> None:
        if number in self._asked or len(self._asked) >= MOST_ASKED:
            self._channel.send(refusal(number, INTERNAL_ERROR, "too many requests at once"), busy=False)
            return
        task = asyncio.get_running_loop().create_task(self._answer(number, method, params))
        self._asked[number] = task
        task.add_done_callback(lambda _: self._asked.pop(number, None))

    async def _answer(self, number: Id, method: str, params: Mapping[str, Any]) -> None:
        try:
            frame = answer(number, await answer_to(method, params, self._offers, self._name))
        except CantAnswer as error:
            frame = refusal(number, error.code, str(error))
        except Exception as error:
            frame = refusal(number, INTERNAL_ERROR, f"the host failed: {type(error).__name__}")
        if self._connection.state == "ready":
            self._channel.send(frame, busy=False)

    async def _inputs(self, method: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """What the server wants to know, found out."""
        wanted = result.get("inputRequests")
        answers: dict[str, Any] = {}
        for key, ask in wanted.items() if isinstance(wanted, dict) else ():
            asked = ask if isinstance(ask, dict) else {}
            params = asked.get("params")
            try:
                answers[key] = await answer_to(
                    str(asked.get("method")),
                    params if isinstance(params, dict) else {},
                    self._offers,
                    self._name,
                )
            except CantAnswer as error:
                why = f"the tool server {self._name} asked something before it answered {method}: {error}"
                raise ServerFailed(Failure("refused", why)) from error
        state = result.get("requestState")
        return {"inputResponses": answers, **({} if state is None else {"requestState": state})}

    # -- ends

    def _expire(self, future: "asyncio.Future[Any]", method: str, timeout_s: float) -> None:
        if not future.done():
            future.set_exception(ServerFailed(self._late(method, timeout_s)))

    def _lose(self, error: Unanswered, *, told: bool = True) -> None:
        if self._over is not None:
            return
        self._over = error
        for pending in self._connection.end():
            if not pending.future.done():
                pending.future.set_exception(error)
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(error)
        elif told:
            self._ended()

    def _failure(self, what: str) -> Failure:
        return Failure("server", f"the tool server {self._name} {what}")

    def _late(self, what: str, timeout_s: float | None) -> Failure:
        hint = (
            f" ({self.odd} things came that belong to nothing; the first: {self._oddest})" if self.odd else ""
        )
        message = f"the tool server {self._name} did not answer {what} within {timeout_s:g} s{hint}"
        return Failure("timeout", message, "transport")


def unanswered(error: Unanswered) -> ServerFailed:
    """The port's error for a request that will have no answer."""
    if not error.sent:
        return ServerFailed(error.failure)
    failure = Failure(
        error.failure.kind,
        f"{error.failure.message}\nThe outcome of this call is unknown: it may have been done or not.",
        error.failure.source,
        error.failure.status,
    )
    return OutcomeUnknown(failure)
