"""
The session and the answer of aiohttp, which nothing but this and `aiohttp_errors` imports.

Imported when the first request goes out, because the import alone costs more than the rest of Norma's.
"""

import asyncio
import contextvars
import io
import ssl
from typing import Any
from weakref import WeakSet

import aiohttp

from norma.adapters.http.aiohttp_errors import failed_reading, failed_sending, safe_cause
from norma.adapters.http.call import Call, CallFailed, host_of
from norma.adapters.http.encoding import OFFERED, BadEncoding, Inflater, inflater_for
from norma.adapters.http.guard import AddressGuard
from norma.adapters.http.lookups import Lookups, guarded_socket
from norma.adapters.http.policy import NetworkPolicy
from norma.domain.model.failures import Failure
from norma.domain.model.secrets import Secret

_LARGE = 512 << 10
_LONGEST_HEADER = 64 << 10
"""Bytes of one header; aiohttp's own bound is less than some gateways send."""
USER_AGENT = "norma/0.4"

_peer: contextvars.ContextVar[list[str]] = contextvars.ContextVar("norma_peer")
"""Where the connector notes the address of the connection that it gives to the call of this task."""


class _Connector(aiohttp.TCPConnector):
    """
    Tells which address a call went to; after a short answer the connection itself is gone already. Answers
    that were let go of are *left* to it, and closed with it at the latest.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: WeakSet[aiohttp.ClientResponse] = WeakSet()

    async def close(self, *, abort_ssl: bool = False) -> None:
        for response in tuple(self.left):
            response.close()
        await super().close(abort_ssl=abort_ssl)

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - it is theirs
        connection = await super().connect(req, traces, timeout)
        found = connection.transport and connection.transport.get_extra_info("peername")
        if found:
            _peer.get([]).append(_shown_address(found))
        return connection


def open_session(
    policy: NetworkPolicy, guard: AddressGuard | None = None, *, keep_alive: bool = True
) -> aiohttp.ClientSession:
    """
    A session of our own. Its owner closes it. Raises CallFailed when the CA file can't be used.

    Under a *guard* there is one look-up for each request. Without *keep_alive* no connection serves twice,
    and a call is sent once whatever happens.
    """
    resolving: dict[str, Any] = {"resolver": aiohttp.ThreadedResolver()}
    if guard is not None:
        resolving = {
            "resolver": Lookups(guard),
            "use_dns_cache": False,
            "socket_factory": guarded_socket(guard),
        }
    session = aiohttp.ClientSession(
        connector=_Connector(limit=0, ssl=_trust(policy), force_close=not keep_alive, **resolving),
        timeout=session_timeout(policy),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
    )
    # aiohttp sends a GET again when the connection is closed before an answer, which is right for one that
    # was kept and had gone stale, and only then.
    session._retry_connection = keep_alive
    return session


def session_timeout(policy: NetworkPolicy) -> aiohttp.ClientTimeout:
    """N6: no bound on the whole; the bound on connecting includes name, proxy and TLS."""
    return aiohttp.ClientTimeout(
        total=None, connect=policy.connect_timeout_s, sock_read=policy.idle_timeout_s
    )


def _trust(policy: NetworkPolicy) -> ssl.SSLContext | bool:
    if policy.insecure_tls:
        return False
    if policy.ca_file is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(policy.ca_file)
    except (OSError, ssl.SSLError) as error:
        message = f"network.ca_file {policy.ca_file!r} can't be used: {error}; it must hold PEM certificates"
        raise CallFailed(Failure("usage", message), may_retry=False) from error
    return context


class Answer:
    """
    An answer whose headers have come. Its owner reads it to its end, or lets go of it, or closes it.

    Not safe for two readers at once. Used on the loop that opened it.
    """

    __slots__ = (
        "_content",
        "_encoding",
        "_host",
        "_inflater",
        "_left",
        "_loop",
        "_response",
        "headers",
        "status",
        "url",
    )

    def __init__(
        self, response: aiohttp.ClientResponse, call: Call, connector: aiohttp.BaseConnector | None = None
    ) -> None:
        self._left = connector.left if isinstance(connector, _Connector) else None
        self._response = response
        self._content = response.content
        self._loop = asyncio.get_running_loop()
        self._host = host_of(call.url)
        self._inflater: Inflater | None = None
        self._encoding: BadEncoding | None = None
        self.status = response.status
        self.headers = response.headers
        self.url = call.url
        try:
            self._inflater = inflater_for(response.headers.get("Content-Encoding"))
        except BadEncoding as error:
            self._encoding = error

    async def read(self) -> bytes:
        """
        The next decoded bytes as soon as there are some; empty at the end of the body.

        Raises:
            CallFailed: the body broke off (`stream_dropped`), went silent (`timeout`) or is damaged
                (`protocol`). What had arrived before was given out first.
        """
        if self._inflater is not None:
            return await self._read_inflated(self._inflater)
        if self._encoding is not None:
            self._response.close()
            raise self._damaged(self._encoding) from None
        return await self._read_raw()

    async def read_up_to(self, most_bytes: int) -> tuple[bytes, bool]:
        """The body, cut after *most_bytes* decoded ones, and whether it was. Raises CallFailed as `read`."""
        pieces: list[bytes] = []
        size = 0
        while piece := await self.read():
            pieces.append(piece)
            size += len(piece)
            if size > most_bytes:
                return b"".join(pieces)[:most_bytes], True
        return b"".join(pieces), False

    async def read_what_there_is(self, most_bytes: int) -> bytes:
        """
        The beginning of a body that is only to be shown, up to *most_bytes*.

        It is decoded where that can be done, else as it came; a body that breaks off ends there.
        """
        pieces: list[bytes] = []
        size = 0
        try:
            while size < most_bytes and (piece := await self._read_raw()):
                pieces.append(piece)
                size += len(piece)
        except CallFailed:
            pass  # what came before is all there is to show
        raw = b"".join(pieces)[:most_bytes]
        if self._inflater is None or not raw:
            return raw
        out = b""
        try:
            out = self._inflater.take(raw)
            while self._inflater.has_more and len(out) < most_bytes:
                out += self._inflater.take(b"")
        except BadEncoding:
            return out or raw  # it was not encoded as its header says
        return out[:most_bytes]

    def close(self) -> None:
        """Close the connection now, from any thread; one whose body has ended is kept for the next call."""
        if self._response.closed:
            return
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self._response.close()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._response.close)

    def let_go(self, *, within_s: float = 0.5) -> None:
        """
        Nothing more is wanted of the body.

        If its end comes within *within_s* the connection is kept for the next call, else closed. (aiohttp
        gives it back by itself when the end comes; nothing waits for that here.)
        """
        if not self._response.closed:
            if self._left is not None:
                self._left.add(self._response)
            self._loop.call_later(within_s, self._response.close)

    async def _read_raw(self) -> bytes:
        try:
            return await self._content.readany()
        except Exception as error:
            return self._after(error)

    async def _read_inflated(self, inflater: Inflater) -> bytes:
        try:
            while True:
                data = b"" if inflater.has_more else await self._content.readany()
                ended = not data and not inflater.has_more
                if out := inflater.take(data):
                    return out
                if ended and not inflater.ended:
                    raise self._dropped("the compressed body is cut")
                if ended:
                    return b""
        except BadEncoding as error:
            self._response.close()
            raise self._damaged(error) from None
        except CallFailed:
            raise
        except Exception as error:
            rest = self._after(error)
            return inflater.take(rest) or rest[:0]

    def _after(self, error: Exception) -> bytes:
        """
        What had arrived before *error*, which is kept for the next read; if nothing had, the failure.

        aiohttp's reader forgets what it holds as soon as the connection fails.
        """
        content = self._content
        content.set_exception(None)  # type: ignore[arg-type]  # the public way to its buffer
        rest = content.read_nowait()
        content.set_exception(error)
        if rest:
            return rest
        self._response.close()
        raise failed_reading(error, self._host) from error

    def _dropped(self, why: str) -> CallFailed:
        message = f"the answer of {self._host} broke off before its end: {why}"
        return CallFailed(Failure("stream_dropped", message, "transport"), may_retry=True)

    def _damaged(self, error: BadEncoding) -> CallFailed:
        message = f"the answer of {self._host} can't be read: {error}"
        return CallFailed(Failure("protocol", message, "transport"), may_retry=False)


async def send(
    session: aiohttp.ClientSession,
    call: Call,
    *,
    proxy: str | None,
    policy: NetworkPolicy | None,
    peer: list[str],
) -> Answer:
    """
    Send *call* once, redirects not followed; its answer when the headers have come.

    Without *policy* the session is the host's, with timeouts and proxy of its own. The address that
    was connected to is added to *peer*. Raises CallFailed.
    """
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": OFFERED}
    known = {name.lower(): name for name in headers}
    for name, value in call.headers.items():
        headers.pop(known.pop(name.lower(), ""), None)
        headers[name] = value.reveal() if isinstance(value, Secret) else value
    options: dict[str, Any] = {} if policy is None else {"proxy": proxy, "timeout": session_timeout(policy)}
    token = _peer.set(peer)
    try:
        async with asyncio.timeout(_longest_wait_s(policy)):
            response = await session.request(
                call.method,
                _exact_url(call.url),
                headers=headers,
                data=_payload(call.body),
                allow_redirects=False,
                auto_decompress=False,
                **options,
            )
    except Exception as error:
        failure = failed_sending(error, host_of(call.url))
        cause = safe_cause(error)
    else:
        return Answer(response, call, session.connector)
    finally:
        _peer.reset(token)
    raise failure from cause


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """A large body goes out piece by piece; aiohttp would hand it to the socket at once, and warns of it."""
    return body if body is None or len(body) <= _LARGE else io.BytesIO(body)


def _longest_wait_s(policy: NetworkPolicy | None) -> float | None:
    """aiohttp bounds silence once the request is out; this bounds a server that never takes it."""
    if policy is None or policy.idle_timeout_s is None:
        return None
    return policy.connect_timeout_s + 2 * policy.idle_timeout_s


def _exact_url(url: str) -> Any:
    """The URL with its escapes as they are; aiohttp would unescape what it finds needless."""
    from yarl import URL

    return URL(url, encoded=True)


def _shown_address(peername: Any) -> str:
    if not isinstance(peername, tuple):
        return str(peername)
    host, port = peername[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
