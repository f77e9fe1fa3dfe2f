"""
A reply over HTTP, the same for all wires: ask, ask again before anything was shown, read, and let go.

One `__anext__` is one step of one task: events wait in a deque that one network read refills, with no
task, queue or generator between the socket and the caller.

Whoever loses interest closes the connection at once (contract N6), in each of these ways: a cancel in
`__anext__`, in a wait before a retry as well; `aclose`; dropping the last reference; and the end, cancelled
or with an error, of the task that last read.
"""

import asyncio
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from norma.adapters.http.call import Call, CallFailed, host_of
from norma.adapters.http.limiter import Limiter
from norma.adapters.http.retry import RetryPolicy, asked_wait_s, forbids_retry
from norma.adapters.wires.decoding import may_be_answer
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.errors import WireError, excerpt, http_failure, protocol_error, without_secrets
from norma.adapters.wires.wire import Decoding, Wire
from norma.domain.model.changes import evolve
from norma.domain.model.failures import Failure
from norma.domain.model.replies import ReplyEvent, ReplyFinished
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.secrets import Secret
from norma.domain.model.usage import Attempt, Usage
from norma.ports.clock import Clock
from norma.ports.errors import ModelError
from norma.ports.model import Reply

if TYPE_CHECKING:
    from norma.adapters.http.egress import Egress
    from norma.adapters.http.transport import Answer

MOST_ERROR_BYTES = 64 << 10
MOST_JSON_BYTES = 64 << 20


class HttpReply(Reply):
    """
    One reply of a model behind an HTTP wire.

    *attempts* says what was metered so far, also of a reply that was closed before its end.
    """

    def __init__(
        self,
        egress: "Egress",
        clock: Clock,
        wire: Wire,
        request: ReplyRequest,
        *,
        retry: RetryPolicy,
        limiter: Limiter | None,
        secrets: tuple[Secret, ...] = (),
    ) -> None:
        self._egress = egress
        self._clock = clock
        self._wire = wire
        self._request = request
        self._retry = retry
        self._limiter = limiter
        self._secrets = secrets
        self._encoded: EncodedRequest | None = None
        self._events: deque[ReplyEvent] = deque()
        self._decoding: Decoding | None = None
        self._answer: Answer | None = None
        self._error: ModelError | None = None
        self._was_shown = False
        self._retries = 0
        self._empty_retries = 0
        self._is_over = False
        self._is_reading = False
        self._wait_s: float | None = None
        self._reader: asyncio.Task[object] | None = None
        self._on_end: Callable[[asyncio.Task[object]], None] | None = None
        self.attempts: tuple[Attempt, ...] = ()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        events = self._events
        if events and not self._is_reading:
            if asyncio.current_task() is not self._reader:
                self._watch_reader()
            return events.popleft()
        if self._is_reading:
            raise RuntimeError("another task is reading this reply; it has one reader at a time")
        self._is_reading = True
        try:
            self._watch_reader()
            while not self._events:
                if self._error is not None:
                    error, self._error = self._error, None
                    raise error
                if self._is_over:
                    raise StopAsyncIteration
                await self._advance()
            return self._events.popleft()
        except BaseException:
            self._close("cancelled")
            raise
        finally:
            self._is_reading = False

    def ready(self) -> Iterator[ReplyEvent]:
        while self._events and not self._is_reading:
            yield self._events.popleft()

    async def aclose(self) -> None:
        self._close("cancelled")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close("cancelled")

    def __del__(self) -> None:
        # Any thread may collect it, and the task's list of callbacks is its loop's alone.
        reader = getattr(self, "_reader", None)
        if reader is not None and reader.get_loop() is _running_loop():
            self._unwatch_reader()
        answer = getattr(self, "_answer", None)
        if answer is not None:
            answer.close()

    async def _advance(self) -> None:
        """One step: an attempt, or one read."""
        try:
            if self._answer is None:
                await self._ask()
            else:
                await self._read(self._answer)
        except (CallFailed, WireError) as fault:
            if self._is_over:
                return  # it was closed meanwhile
            self._after(fault)

    def _after(self, fault: CallFailed | WireError) -> None:
        """An attempt failed."""
        if isinstance(fault, CallFailed):
            if self._decoding is None or not self._ends_whole(self._decoding):
                self._recover(fault.failure, may_retry=fault.may_retry, cause=fault.__cause__)
        else:
            # Without its cause: those words are the server's, and may hold a key.
            self._recover(fault.failure, may_retry=fault.may_retry, cause=None)

    async def _ask(self) -> None:
        """Send the request once more, up to an answer with status 200 that can be a reply."""
        if self._encoded is None:
            self._encoded = self._encode()
            if self._limiter is not None:
                await self._limiter.acquire()
        if self._wait_s is not None:
            wait_s, self._wait_s = self._wait_s, None
            await self._clock.sleep(wait_s)
        encoded = self._encoded
        call = Call(encoded.method, encoded.url, encoded.headers, encoded.body, len(self.attempts) + 1)
        self._decoding = self._wire.decoding(encoded, self._clock.new_id, self._retry.statuses)
        self._events = self._decoding.events
        answer = await self._egress.send(call)
        if self._is_over:  # closed while this waited
            answer.close()
            return
        self._answer = answer
        if answer.status != 200:
            raise await self._refusal(answer)
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        self._decoding.content_type = kind
        if kind == "text/html":
            await self._read_page(answer, self._decoding)
        elif kind.endswith("json") or not (encoded.stream or kind == "text/event-stream"):
            await self._read_whole(answer, self._decoding)

    async def _read(self, answer: "Answer") -> None:
        """One read of a stream."""
        decoding = self._decoding
        assert decoding is not None
        data = await answer.read()
        if self._is_over:
            return
        if data:
            decoding.feed(data)
        else:
            decoding.finish()
        if decoding.is_done:
            self._end(decoding)
        elif decoding.events:
            self._was_shown = True

    async def _read_page(self, answer: "Answer", decoding: Decoding) -> None:
        """A body that calls itself a page, and is one, unless it begins as an answer does."""
        begin = b""
        while may_be_answer(begin) is None and len(begin) < MOST_ERROR_BYTES:
            if not (piece := await answer.read()):
                break
            begin += piece
        if not may_be_answer(begin):
            rest, _ = await answer.read_up_to(MOST_ERROR_BYTES)
            shown = excerpt(begin + rest)
            raise protocol_error(f"{host_of(answer.url)} answered with status 200 and text/html: {shown}")
        await self._read_whole(answer, decoding, begin)

    async def _read_whole(self, answer: "Answer", decoding: Decoding, begin: bytes = b"") -> None:
        """A JSON body, also where a stream was asked for; *begin* was read already."""
        body, was_cut = await answer.read_up_to(MOST_JSON_BYTES)
        body = begin + body
        if self._is_over:
            return
        if was_cut:
            raise protocol_error(
                f"the answer of {host_of(answer.url)} is longer than {MOST_JSON_BYTES} bytes"
            )
        decoding.whole(body)
        self._end(decoding)

    def _ends_whole(self, decoding: Decoding) -> bool:
        """Whether an answer whose connection failed was whole by then."""
        if self._answer is None or not decoding.cut():
            return False
        self._end(decoding)
        return True

    def _end(self, decoding: Decoding) -> None:
        """The answer is whole: meter it, then tell its end, or ask again if it is empty."""
        finished = decoding.events.pop()
        assert isinstance(finished, ReplyFinished)
        if self._answer is not None:
            self._answer.let_go()
        again = (
            finished.empty
            and self._wire.empty_is_asked_again
            and self._empty_retries < self._retry.empty_retries
            and not self._was_shown
        )
        number = len(self.attempts) + 1
        self.attempts += (Attempt(number, "empty" if again else "ok", finished.usage),)
        if again:
            self._empty_retries += 1
            self._try_again(self._retry.wait_s(self._empty_retries, self._clock.random()))
            return
        self._is_over = True
        self._answer = None
        self._unwatch_reader()
        decoding.events.append(evolve(finished, attempts=self.attempts))

    async def _refusal(self, answer: "Answer") -> WireError:
        """What an answer with another status than 200 says."""
        body = await answer.read_what_there_is(MOST_ERROR_BYTES)
        asked = asked_wait_s(answer.headers, self._clock.now())
        failure = http_failure(host_of(answer.url), answer.status, body, answer.headers, asked)
        may_retry = answer.status in self._retry.statuses and not forbids_retry(answer.headers)
        return WireError(failure, may_retry=may_retry)

    def _recover(self, failure: Failure, *, may_retry: bool, cause: BaseException | None) -> None:
        """After a failure: have it tried again, or keep the error for when all events were taken."""
        failure = without_secrets(failure, self._secrets)
        decoding = self._decoding
        usage = Usage() if decoding is None else decoding.partial_usage()
        self.attempts += (Attempt(len(self.attempts) + 1, failure.kind, usage),)
        if self._answer is not None:
            self._answer.close()
        was_shown = self._was_shown or bool(self._events)
        if may_retry and not was_shown and self._retries < self._retry.retries:
            self._retries += 1
            self._try_again(self._retry.wait_s(self._retries, self._clock.random(), failure.retry_after_s))
            return
        partial = () if decoding is None else decoding.partial()
        self._error = ModelError(failure, partial=partial, usage=usage, attempts=self.attempts)
        self._error.__cause__ = cause
        self._is_over = True
        self._answer = None

    def _try_again(self, wait_s: float) -> None:
        self._answer = self._decoding = None
        self._wait_s = wait_s

    def _encode(self) -> EncodedRequest:
        try:
            return self._wire.encode(self._request)
        except (ValueError, TypeError) as error:
            raise ModelError(
                Failure("invalid_request", f"the request can't be put on the wire: {error}")
            ) from error

    def _close(self, outcome: str) -> None:
        """Close the connection now, whoever asks; a reply that was still open is metered as *outcome*."""
        self._unwatch_reader()
        answer, self._answer = self._answer, None
        if answer is not None and not self._is_over:
            answer.close()
        if not self._is_over:
            self._is_over = True
            self._events = deque()
            if self._decoding is not None:
                usage = self._decoding.partial_usage()
                self.attempts += (Attempt(len(self.attempts) + 1, outcome, usage),)

    def _watch_reader(self) -> None:
        """Close when the task that reads now ends badly, although somebody may still hold this reply."""
        task = asyncio.current_task()
        if task is None or task is self._reader or self._is_over:
            return
        self._unwatch_reader()
        this = weakref.ref(self)  # the task must not keep a reply alive that everybody else dropped

        def close_after(task: "asyncio.Task[object]") -> None:
            reply = this()
            if reply is not None and _ended_badly(task):
                reply._close("cancelled")

        task.add_done_callback(close_after)
        self._reader, self._on_end = task, close_after

    def _unwatch_reader(self) -> None:
        if self._reader is not None and self._on_end is not None:
            self._reader.remove_done_callback(self._on_end)
        self._reader = self._on_end = None


def _ended_badly(task: "asyncio.Task[object]") -> bool:
    # task.exception() would mark the error as seen, and nobody would be told of one that was not.
    return task.cancelled() or getattr(task, "_exception", None) is not None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
