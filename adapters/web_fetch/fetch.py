"""
Fetches a page: judges every hop before it is requested, within one deadline, and reads what came.

Above: the WebFetch tool and `norma fetch`. Below: the guarded egress, and in a thread what turns the body
into Markdown, so that the loop goes on meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from norma.adapters.files.threads import Stop, in_thread
from norma.adapters.http.call import Call, CallFailed
from norma.adapters.http.egress import Egress
from norma.adapters.http.guard import AddressGuard, AddressRefused
from norma.adapters.web_fetch.reading import Body, Reader, reading_of
from norma.domain.model.failures import Failure
from norma.domain.model.values import frozen
from norma.domain.policy.assets import asset_suffix
from norma.ports.errors import PortError, Refused
from norma.ports.page_fetch import FetchFailed, Hop, Page, PageFetch, PageRequest
from norma.ports.urls import BadUrl, UrlParser, WebUrl

if TYPE_CHECKING:
    from norma.adapters.http.transport import Answer

MOST_BYTES = 2 << 20
MOST_REDIRECTS = 10
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADERS = ("content-type", "content-length", "last-modified", "location", "server", "date")
ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.8"

_MOST_HEADER = 300
_CONVERT_S = 2.0


@frozen
class FetchPolicy:
    """
    How pages are fetched. *timeout_s* is for the whole: hops, reading, and turning it into Markdown.

    *headers* are the names of those that are shown, in small letters.
    """

    user_agent: str = "norma/0.4"
    timeout_s: float = 30.0
    headers: tuple[str, ...] = HEADERS
    reader: Reader = "whole"


class WebPages(PageFetch):
    """
    Pages over HTTP. The egresses stay their owner's.

    *guard* is the one of *egress*. *direct* reaches the network past every proxy, under the same guard: it
    serves once where a proxy fails; None: a proxy that fails is a failure (F8).
    """

    def __init__(
        self,
        egress: Egress,
        urls: UrlParser,
        guard: AddressGuard,
        *,
        direct: Egress | None = None,
        policy: FetchPolicy | None = None,
    ) -> None:
        self._egress = egress
        self._urls = urls
        self._guard = guard
        self._direct = direct
        self._policy = policy or FetchPolicy()

    def target(self, text: str) -> WebUrl:
        try:
            url = self._urls.parse(text)
        except BadUrl as error:
            raise Refused(f"{text[:200]!r} is not fetched: {error}") from error
        self._judge(url)
        return url

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        self._judge(request.url)
        way = _Way(request.url)
        deadline = _Deadline(self._policy.timeout_s)
        try:
            async with deadline.running():
                answer = await self._arrive(way, hop, deadline)
        except TimeoutError:
            raise _late(way.url, self._policy.timeout_s) from None
        try:
            body = await self._read(answer, way, deadline)
        finally:
            answer.close()
        return await self._page(request, way, answer, body, deadline)

    def _judge(self, url: WebUrl) -> None:
        """The URL policy: the same for a call and for every hop. Raises Refused."""
        suffix = asset_suffix(url.path)
        if suffix is not None:
            raise Refused(f"{url} names a static asset (.{suffix}), which is not fetched.")
        try:
            self._guard.check_host(url.host)
        except AddressRefused as error:
            raise Refused(
                f"{url} is not fetched: {error}. fetch.allow_addresses names hosts and ranges that may be."
            ) from error

    async def _arrive(self, way: "_Way", hop: Hop, deadline: "_Deadline") -> "Answer":
        """Follow redirects to the answer that is no redirect."""
        while True:
            answer = await self._send(way)
            try:
                location = self._location(answer, way)
            except BaseException:
                answer.close()
                raise
            if location is None:
                return answer
            answer.close()
            if len(way.hops) == MOST_REDIRECTS:
                raise FetchFailed(_too_many(way.url))
            self._judge_hop(way.url, location)
            if location.origin != way.url.origin:
                with deadline.paused():
                    await self._ask(hop, way.url, location)
            way.go(location)

    async def _send(self, way: "_Way") -> "Answer":
        call = Call("GET", way.url.text, {"User-Agent": self._policy.user_agent, "Accept": ACCEPT})
        try:
            return await self._egress.send(call)
        except CallFailed as error:
            if self._direct is None or not self._was_proxy(call, error):
                raise _translated(error, way.url) from error
            failed = error
        try:
            answer = await self._direct.send(call)
        except CallFailed as error:
            raise _translated(error, way.url) from error
        way.notes.append(f"fetched directly, past every proxy, since the proxy failed: {failed}")
        return answer

    def _was_proxy(self, call: Call, error: CallFailed) -> bool:
        """Whether what failed was the way through a proxy, and not an answer of it."""
        failure = error.failure
        if failure.status is not None or failure.kind not in ("proxy", "network", "protocol"):
            return False
        return failure.source == "transport" and self._egress.goes_through_proxy(call.url)

    def _location(self, answer: "Answer", way: "_Way") -> WebUrl | None:
        """Where *answer* redirects to; None: it is no redirect."""
        if answer.status not in REDIRECTS:
            return None
        found = list(dict.fromkeys(answer.headers.getall("Location", [])))
        if not found:
            way.notes.append(f"status {answer.status} without a Location: nothing was followed")
            return None
        if len(found) > 1:
            raise Refused(f"{way.url} redirects to {len(found)} addresses at once; none was requested.")
        try:
            target = self._urls.parse(found[0], way.url)
        except BadUrl as error:
            raise Refused(f"{way.url} redirects to {found[0][:200]!r}, which is refused: {error}") from error
        if target.dropped_credentials:
            way.notes.append("credentials in a redirect were left out")
        return target

    def _judge_hop(self, url: WebUrl, target: WebUrl) -> None:
        try:
            self._judge(target)
        except Refused as error:
            raise Refused(f"{url} redirects to {target}, which was not requested. {error}") from error

    async def _ask(self, hop: Hop, url: WebUrl, target: WebUrl) -> None:
        try:
            await hop(target)
        except Refused as error:
            raise Refused(f"{url} redirects to {target}, which was not requested. {error}") from error

    async def _read(self, answer: "Answer", way: "_Way", deadline: "_Deadline") -> Body:
        """The body as far as it comes, in time and within the cap."""
        pieces: list[bytes] = []
        size, cut = 0, False
        try:
            async with deadline.running():
                while piece := await answer.read():
                    pieces.append(piece)
                    size += len(piece)
                    if size > MOST_BYTES:
                        cut = True
                        way.notes.append(f"cut at 2 MiB: only the first {MOST_BYTES} bytes were read")
                        break
        except CallFailed as error:
            if not pieces:
                raise _translated(error, way.url) from error
            cut = True
            way.notes.append(f"incomplete: {error} ({size} bytes came)")
        except TimeoutError:
            if not pieces:
                raise _late(way.url, self._policy.timeout_s) from None
            cut = True
            way.notes.append(
                f"incomplete: time ran out after {self._policy.timeout_s:g} s ({size} bytes came)"
            )
        data = b"".join(pieces)[:MOST_BYTES]
        headers = answer.headers
        return Body(
            data,
            _shown(headers.get("Content-Type", "")),
            str(way.url),
            cut,
            _shown(headers.get("Content-Length", "")) or None,
        )

    async def _page(
        self, request: PageRequest, way: "_Way", answer: "Answer", body: Body, deadline: "_Deadline"
    ) -> Page:
        def convert(stop: Stop) -> tuple[str, tuple[str, ...]]:
            reading = reading_of(body, extract=request.extract, reader=self._policy.reader, stop=stop.check)
            return reading.markdown, reading.notes

        try:
            # What arrived just in time is shown, too: turning it into Markdown has a bound of its own.
            async with asyncio.timeout(max(deadline.left_s, _CONVERT_S)):
                markdown, notes = await in_thread(convert)
        except TimeoutError:
            raise _late(way.url, self._policy.timeout_s) from None
        if not body.data:
            notes = (*notes, "the answer has no body")
        if request.url.dropped_credentials:
            notes = ("credentials in the URL were left out", *notes)
        return Page(
            str(request.url),
            str(way.url),
            answer.status,
            _phrase(answer.status),
            _selected(answer, self._policy.headers),
            markdown,
            (*way.notes, *notes),
            tuple(way.hops),
        )


@define
class _Way:
    """Where a fetch is: the URL now, the hops that led there, and what is to be said of them."""

    url: WebUrl
    hops: list[WebUrl] = field(factory=list)
    notes: list[str] = field(factory=list)

    def go(self, target: WebUrl) -> None:
        """Take a hop. A fragment is kept where the new URL has none."""
        if target.fragment is None and self.url.fragment is not None:
            target = evolve(target, fragment=self.url.fragment)
        self.url = target
        self.hops.append(target)


class _Deadline:
    """The time that a fetch has left. It runs in `running` blocks alone, and not while `paused`."""

    def __init__(self, seconds: float) -> None:
        self.left_s = seconds
        self._began = 0.0
        self._scope: asyncio.Timeout | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Time runs; TimeoutError when it is over."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.left_s) as self._scope:
                self._began = loop.time()
                yield
        finally:
            self.left_s = max(0.0, self.left_s - (loop.time() - self._began))
            self._scope = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time stands still, inside a `running` block: somebody is asked."""
        loop, scope = asyncio.get_running_loop(), self._scope
        assert scope is not None
        self.left_s = max(0.0, self.left_s - (loop.time() - self._began))
        scope.reschedule(None)
        try:
            yield
        finally:
            self._began = loop.time()
            scope.reschedule(self._began + self.left_s)


def _translated(error: CallFailed, url: WebUrl) -> PortError:
    """What the port says of a call that failed."""
    if error.failure.kind == "refused":
        return Refused(f"{url} was not fetched: {error}")
    return FetchFailed(evolve(error.failure, message=" ".join(error.failure.message.split())))


def _late(url: WebUrl, seconds: float) -> FetchFailed:
    message = f"{url} was not fetched within {seconds:g} s (fetch.timeout_s)"
    return FetchFailed(Failure("timeout", message, "transport"))


def _too_many(url: WebUrl) -> Failure:
    message = f"more than {MOST_REDIRECTS} redirects; the last one came from {url}"
    return Failure("protocol", message, "transport")


def _selected(answer: "Answer", names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = ((name, answer.headers.get(name)) for name in names)
    return tuple((name, _shown(value)) for name, value in found if value is not None)


def _shown(value: str) -> str:
    """A header's value in one bounded line that can be encoded."""
    line = " ".join(value[: 4 * _MOST_HEADER].encode("utf-8", "replace").decode("utf-8").split())
    return line if len(line) <= _MOST_HEADER else line[:_MOST_HEADER] + "…"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
