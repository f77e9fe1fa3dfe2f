"""
A server behind a URL: Streamable HTTP (contract N8: through the egress).

Each frame is a POST. Its answer is nothing, one JSON body, or an event stream that ends with the answer to
the request in it; a stream that breaks off goes on where its last event had an id. A further stream, by GET,
brings what the server says of its own accord. A session that the server has forgotten (404) ends the
connection without harm: what was asked was not done, and the next use begins a new one.

Each POST is a task, owned here. What is to come first (the end of the handshake) is waited for by the rest.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import evolve

from norma.adapters.http.call import Call, CallFailed, host_of, shown_url
from norma.adapters.http.egress import Egress
from norma.adapters.http.json_text import write
from norma.adapters.mcp.channel import Channel, Receiver, read_frame
from norma.adapters.mcp.event_stream import EventStream, EventTooLong
from norma.adapters.mcp.frames import Frame
from norma.adapters.mcp.lines import EDGE_BYTES, MOST_BYTES, LongFrame
from norma.adapters.mcp.versions import STATELESS
from norma.adapters.process.patience import Patience
from norma.domain.model.failures import Failure, FailureKind
from norma.domain.model.secrets import Secret
from norma.ports.clock import Clock
from norma.ports.tool_server import ServerInfo

if TYPE_CHECKING:
    from norma.adapters.http.transport import Answer

MOST_RESUMES = 5
"""In a row without a new event; then the stream is lost."""
FIRST_WAIT_S, MOST_WAIT_S = 0.5, 30.0
GOODBYE_S = 2.0
ENDING_S = 0.5
"""After the answer, for its stream to end."""
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class HttpChannel(Channel):
    """One session with the server at *url*. *headers* are settings' own and may hold secrets."""

    def __init__(
        self, name: str, url: str, headers: Mapping[str, str | Secret], egress: Egress, clock: Clock
    ) -> None:
        self._name = name
        self._url = url
        self._headers = dict(headers)
        self._egress = egress
        self._clock = clock
        self._session: str | None = None
        self._info: ServerInfo | None = None
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._first: asyncio.Task[None] | None = None
        self._closed: asyncio.Future[None] | None = None

    def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def send(self, frame: Frame, *, busy: bool) -> None:
        body = write(frame)
        if self._closed is not None:
            return
        number = frame.get("id") if "method" in frame else None
        task = self._own(self._post(frame, body, number, self._first))
        if frame.get("method") == "notifications/initialized":
            self._first = task
        if number is not None:
            self._requests[number] = task

    def established(self, info: ServerInfo) -> None:
        self._info = info
        if info.protocol != STATELESS:
            self._own(self._listen())

    def forget(self, number: int) -> None:
        task = self._requests.pop(number, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        patience = Patience()
        if self._closed is not None:
            await patience.wait(self._closed, 3600)
        else:
            self._closed = asyncio.get_running_loop().create_future()
            try:
                await self._end(patience)
            finally:
                self._closed.set_result(None)
        patience.release()

    async def _end(self, patience: Patience) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if self._session is not None:
            goodbye = asyncio.get_running_loop().create_task(self._delete())
            await patience.wait(goodbye, GOODBYE_S)
            goodbye.cancel()
            tasks.append(goodbye)
        for task in tasks:
            await patience.wait(task, GOODBYE_S)

    async def _delete(self) -> None:
        """Tell the server that the session is over; it may refuse, or be gone."""
        with suppress(CallFailed):
            (await self._egress.send(Call("DELETE", self._url, self._all_headers()))).close()

    def _own(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- one frame

    async def _post(
        self, frame: Frame, body: bytes, number: int | None, first: "asyncio.Task[None] | None"
    ) -> None:
        if first is not None:
            await asyncio.wait((first,))
        headers = self._all_headers() | self._headers_for(frame)
        headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            answer = await self._egress.send(Call("POST", self._url, headers, body))
            try:
                await self._take(answer, number)
            finally:
                answer.close()
        except CallFailed as error:
            self._fail(number, self._named(error.failure), sent=error.sent)
        finally:
            if number is not None and self._requests.get(number) is asyncio.current_task():
                del self._requests[number]

    async def _take(self, answer: "Answer", number: int | None) -> None:
        if answer.status == 404 and self._session is not None:
            self._session = None
            self._receiver.lost(self._failure("server", "has forgotten the session", 404), sent=False)
            return
        session = answer.headers.get("Mcp-Session-Id")
        if session and self._info is None:
            self._session = session
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if answer.status // 100 != 2:
            await self._take_error(answer, kind, number)
        elif kind == "text/event-stream":
            await self._follow(answer, number)
        else:
            data, cut = await answer.read_up_to(MOST_BYTES)
            if cut:
                self._receiver.too_long(LongFrame(number, has_method=False), len(data))
            elif data.strip():
                self._frame(data, number)
            elif number is not None:
                self._fail(
                    number, self._failure("protocol", "gave an empty answer", answer.status), sent=True
                )

    async def _take_error(self, answer: "Answer", kind: str, number: int | None) -> None:
        data, _ = await answer.read_up_to(EDGE_BYTES)
        if kind == "application/json" and number is not None:
            with suppress(ValueError):
                value = read_frame(data)
                if isinstance(value, dict) and value.get("id") in (number, None) and "error" in value:
                    self._receiver.received({**value, "id": number})
                    return
        what, sent = _refusal(answer.status, answer.headers.get("Location"))
        said = " ".join(data[:300].decode("utf-8", "replace").split())
        if said and kind in ("text/plain", "application/json"):
            what += f": {said}"
        self._fail(number, self._failure(_KINDS.get(answer.status, "server"), what, answer.status), sent=sent)

    def _frame(self, data: bytes, number: int | None) -> None:
        try:
            value = read_frame(data)
        except ValueError:
            if number is not None:
                self._fail(number, self._failure("protocol", "answered with what is no JSON"), sent=True)
            else:
                self._receiver.skipped("a body that is no JSON")
            return
        self._receiver.received(value)

    def _fail(self, number: int | None, failure: Failure, *, sent: bool) -> None:
        if number is not None:
            self._receiver.failed(number, failure, sent=sent)
        else:
            self._receiver.skipped(failure.message)

    # -- streams

    async def _follow(self, answer: "Answer", number: int | None) -> None:
        """Read a stream until the answer to *number* has come, or it ends for good."""
        stream = EventStream()
        failure = await self._read(answer, stream, number)
        resumes = 0
        while self._waits(number):
            if stream.last_id is None or resumes >= MOST_RESUMES:
                why = self._failure("stream_dropped", "ended its stream without the answer")
                self._fail(number, failure or why, sent=True)
                return
            resumes += 1
            await self._clock.sleep(self._wait_s(stream, resumes))
            before = stream.last_id
            stream = EventStream(before)
            failure = await self._get(stream, number)
            if stream.last_id != before:
                resumes = 0

    def _waits(self, number: int | None) -> bool:
        return number is not None and self._receiver.waits_for(number)

    def _wait_s(self, stream: EventStream, tries: int) -> float:
        wait = FIRST_WAIT_S * 2.0 ** (tries - 1) if stream.retry_s is None else stream.retry_s
        return min(wait, MOST_WAIT_S)

    async def _get(self, stream: EventStream, number: int | None = None) -> Failure | None:
        """Read a stream that goes on from *stream*'s last event. What failed, if something did."""
        headers = self._all_headers() | {"Accept": "text/event-stream"}
        if stream.last_id is not None:
            headers["Last-Event-ID"] = stream.last_id
        try:
            answer = await self._egress.send(Call("GET", self._url, headers))
        except CallFailed as error:
            return self._named(error.failure)
        try:
            if answer.status != 200:
                return self._failure(
                    "server", f"does not go on with its stream (HTTP {answer.status})", answer.status
                )
            return await self._read(answer, stream, number)
        finally:
            answer.close()

    async def _read(self, answer: "Answer", stream: EventStream, number: int | None) -> Failure | None:
        """Until the stream ends, breaks off, or has brought the answer to *number*."""
        try:
            while data := await answer.read():
                for event in stream.feed(data):
                    if event.data:
                        self._frame(event.data, None)
                if number is not None and not self._receiver.waits_for(number):
                    await _to_its_end(answer)
                    return None
        except EventTooLong as error:
            return self._failure("protocol", f"sent too much at once: {error}")
        except CallFailed as error:
            return self._named(error.failure)
        return None

    async def _listen(self) -> None:
        """The stream of what the server says of its own accord, for as long as there is one."""
        if self._first is not None:
            await asyncio.wait((self._first,))
        stream, tries = EventStream(), 0
        while tries < MOST_RESUMES:
            before = stream.last_id
            failure = await self._get(stream)
            if failure is not None and failure.status in (404, 405):
                return  # it has no such stream, or the session is gone, which the next request finds out
            tries = 0 if stream.last_id != before or failure is None else tries + 1
            wait = max(self._wait_s(stream, max(tries, 1)), FIRST_WAIT_S)
            stream = EventStream(stream.last_id)
            await self._clock.sleep(wait)

    # -- headers and failures

    def _all_headers(self) -> dict[str, str | Secret]:
        ours: dict[str, str | Secret] = {}
        if self._session is not None:
            ours["Mcp-Session-Id"] = self._session
        if self._info is not None:
            ours["MCP-Protocol-Version"] = self._info.protocol
        theirs = {name.lower() for name in self._headers}
        return {
            **{name: value for name, value in ours.items() if name.lower() not in theirs},
            **self._headers,
        }

    def _headers_for(self, frame: Frame) -> dict[str, str | Secret]:
        """In the stateless generation the path of a request can be read without its body."""
        params = frame.get("params")
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        if not isinstance(meta, Mapping) or "io.modelcontextprotocol/protocolVersion" not in meta:
            return {}
        assert isinstance(params, Mapping)
        headers: dict[str, str | Secret] = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": frame["method"]}
        name = params.get(_NAMED.get(frame["method"], ""))
        if isinstance(name, str) and name.isascii() and name.isprintable():
            headers["Mcp-Name"] = name
        return headers

    def _named(self, failure: Failure) -> Failure:
        return evolve(failure, message=f"the tool server {self._name}: {failure.message}")

    def _failure(self, kind: FailureKind, what: str, status: int | None = None) -> Failure:
        message = f"the tool server {self._name} at {shown_url(self._url)} {what}"
        return Failure(kind, message, "transport" if status is None else "http", status)


async def _to_its_end(answer: "Answer") -> None:
    """Nothing more is wanted; but a connection whose stream ends by itself can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ENDING_S):
            while await answer.read():
                pass


_KINDS: Mapping[int, FailureKind] = {
    400: "invalid_request",
    401: "authentication",
    403: "permission",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    413: "invalid_request",
    429: "rate_limited",
    503: "overloaded",
    504: "timeout",
}


def _refusal(status: int, location: str | None) -> tuple[str, bool]:
    """What a status means, and whether the request may have been carried out."""
    match status:
        case 401 | 403:
            return (
                f"refused the credentials (HTTP {status}); headers are set in mcp.servers.<name>.headers",
                False,
            )
        case 404 | 405:
            return f"is no MCP server over Streamable HTTP (HTTP {status})", False
        case _ if 300 <= status < 400:
            where = f" to {host_of(location)}" if location and host_of(location) else ""
            return f"redirects{where} (HTTP {status}), which is not followed; set the right url", False
        case _ if 400 <= status < 500:
            return f"refused the request (HTTP {status})", False
        case _:
            return f"failed (HTTP {status})", True
