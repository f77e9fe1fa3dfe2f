"""
The egress: the one seam through which HTTP leaves this process (contract N8).

It knows the network policy and the environment's proxies, and tells of each call which way it went.
Above: the adapters of models, pages, searches and tool servers. Below: one aiohttp session.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from norma.adapters.http.call import Call, CallFailed, CallReport, Route, host_of, refused_words, shown_url
from norma.adapters.http.policy import NetworkPolicy
from norma.adapters.http.proxy import CgiRefused, ProxyRefused, parse_proxy, proxy_for, shown
from norma.domain.model.failures import Failure

if TYPE_CHECKING:
    import aiohttp

    from norma.adapters.http.guard import AddressGuard
    from norma.adapters.http.transport import Answer

__all__ = ["Call", "CallFailed", "CallReport", "Egress", "NetworkPolicy"]


class Egress:
    """
    Sends HTTP calls. Many may run at once.

    With a *session* of the host's, that decides proxy, TLS and timeouts and is never closed here (N4); else
    one is opened at the first call and closed by `aclose`. *report* is told of each call; what it raises
    comes out of the call. With a *guard* every host, and every address that a socket is opened to, is judged
    first (F7); it takes no session of the host's. A proxy's own address is not judged. Without *keep_alive*,
    and with a guard, each call has a connection of its own and is sent once, whatever becomes of that.
    """

    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        environ: Mapping[str, str],
        session: "aiohttp.ClientSession | None" = None,
        report: Callable[[CallReport], None] | None = None,
        guard: "AddressGuard | None" = None,
        keep_alive: bool = True,
    ) -> None:
        if guard is not None and session is not None:
            raise ValueError("a session of the host's can't be guarded")
        self._policy = policy
        self._environ = environ
        self._hosts_own = session is not None
        self._session = session
        self._report = report
        self._closed = False
        self._guard = guard
        self._keep_alive = keep_alive and guard is None
        self._guarded = None if guard is None else session

    async def send(self, call: Call) -> "Answer":
        """
        Send *call* once. Redirects are not followed.

        The answer, whatever its status, when its headers have come; the caller owns it. A cancel while
        this waits closes the connection before it passes.

        Raises:
            CallFailed: there is no answer; its failure's kind is network, proxy, timeout, protocol,
                refused (N3, F7) or usage.
        """
        peer: list[str] = []
        route: Route = "host"
        proxy: str | None = None
        try:
            if self._guard is not None:
                self._check(self._guard, call.url)
            if not self._hosts_own:
                proxy = self._proxy(call.url)
                route = "direct" if proxy is None else "proxy"
            answer = await self._send(call, proxy, peer)
        except CallFailed as error:
            self._tell(call, route, proxy, peer, failure=error.failure)
            raise
        try:
            self._tell(call, route, proxy, peer, status=answer.status)
        except BaseException:
            answer.close()
            raise
        return answer

    def goes_through_proxy(self, url: str) -> bool:
        """Whether a call of *url* would go through a proxy. Raises CallFailed where none could be sent."""
        return not self._hosts_own and self._proxy(url) is not None

    async def aclose(self) -> None:
        """Close every connection. Later calls fail."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None and not self._hosts_own:
            await session.close()
        guarded, self._guarded = self._guarded, None
        if guarded is not None:
            await guarded.close()

    async def _send(self, call: Call, proxy: str | None, peer: list[str]) -> "Answer":
        from norma.adapters.http import transport

        if self._closed:
            raise CallFailed(Failure("internal", "the network client is closed already"), may_retry=False)
        if self._guard is not None and proxy is None:
            if self._guarded is None:
                self._guarded = transport.open_session(self._policy, self._guard, keep_alive=False)
            session = self._guarded
        else:
            if self._session is None:
                self._session = transport.open_session(self._policy, keep_alive=self._keep_alive)
            session = self._session
        policy = None if self._hosts_own else self._policy
        return await transport.send(session, call, proxy=proxy, policy=policy, peer=peer)

    def _check(self, guard: "AddressGuard", url: str) -> None:
        """Judge the host of *url*, and leave its name for the judgement of the socket's address."""
        from norma.adapters.http.guard import TARGET, AddressRefused

        host = urlsplit(url).hostname or ""
        try:
            guard.check_host(host)
        except AddressRefused as error:
            message = refused_words(str(error))
            raise CallFailed(Failure("refused", message, "policy"), may_retry=False) from None
        TARGET.set(host)

    def _proxy(self, url: str) -> str | None:
        if self._policy.proxy == "none":
            return None
        try:
            if self._policy.proxy != "env":
                return parse_proxy(self._policy.proxy)
            return proxy_for(url, self._environ)
        except CgiRefused as error:
            raise CallFailed(
                Failure("refused", f"{host_of(url)}: {error}", "policy"), may_retry=False
            ) from None
        except ProxyRefused as error:
            message = f"{host_of(url)} can't be reached through the environment's proxy: {error}"
            raise CallFailed(Failure("proxy", message, "local"), may_retry=False) from None

    def _tell(
        self,
        call: Call,
        route: Route,
        proxy: str | None,
        peer: list[str],
        *,
        status: int | None = None,
        failure: Failure | None = None,
    ) -> None:
        if self._report is None:
            return
        self._report(
            CallReport(
                call.method,
                shown_url(call.url),
                call.attempt,
                route,
                proxy=None if proxy is None else shown(proxy),
                address=peer[-1] if peer else None,
                status=status,
                failure=None if failure is None else failure.kind,
            )
        )
