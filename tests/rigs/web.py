"""Pages over real sockets: the hostile server of the fixtures, and what fetches from it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from norma.adapters.http.egress import CallReport, Egress, NetworkPolicy
from norma.adapters.http.guard import AddressGuard
from norma.adapters.urls.parser import StandardUrls
from norma.adapters.web_fetch.fetch import FetchPolicy, WebPages
from norma.ports.errors import Refused
from norma.ports.page_fetch import Page, PageRequest
from norma.ports.urls import WebUrl

OURS = ("127.0.0.1/32",)


@frozen
class Hostile:
    """The running server: *a* is opened to tests, *b* plays another host."""

    a: str
    b: str

    def log(self) -> list[Any]:
        """The requests that it saw, each as host, method, target and headers; the log is empty then."""
        with urllib.request.urlopen(f"{self.a}/__log?clear=1", timeout=10) as answer:
            rows: list[Any] = json.loads(answer.read())
        return rows

    def targets(self) -> list[str]:
        """The targets of the requests that it saw."""
        return [row[2] for row in self.log()]


@contextmanager
def hostile_server(folder: Path) -> Iterator[Hostile]:
    """The server of the fixtures in *folder*, as a process."""
    command = [sys.executable, str(folder / "hostile_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            yield Hostile(**json.loads(process.stdout.readline()))
        finally:
            process.kill()


@frozen
class Fetched:
    """What fetches, and what was seen of it."""

    pages: WebPages
    guard: AddressGuard
    reports: list[CallReport]
    hops: list[WebUrl] = field(factory=list)
    denied: frozenset[str] = frozenset()

    async def hop(self, url: WebUrl) -> None:
        """Allow every hop but those to a denied host."""
        self.hops.append(url)
        if url.host in self.denied:
            raise Refused(f"no rule allows {url.host}")

    async def get(self, url: str, *, extract: bool = False) -> Page:
        """Fetch *url*."""
        return await self.pages.fetch(PageRequest(self.pages.target(url), extract), hop=self.hop)


@asynccontextmanager
async def fetcher(
    *,
    allow: Iterable[str] = OURS,
    timeout_s: float = 10.0,
    network: NetworkPolicy | None = None,
    environ: Mapping[str, str] | None = None,
    direct: bool = False,
    guard: AddressGuard | None = None,
    denied: Iterable[str] = (),
    **policy: Any,
) -> AsyncIterator[Fetched]:
    """Real pages, closed again; whatever fetches goes through one guarded egress."""
    reports: list[CallReport] = []
    guard = guard or AddressGuard(allow)
    environ = environ or {}
    egress = Egress(network or NetworkPolicy("none"), environ=environ, report=reports.append, guard=guard)
    past = Egress(NetworkPolicy("none"), environ=environ, report=reports.append, guard=guard)
    pages = WebPages(
        egress,
        StandardUrls(),
        guard,
        direct=past if direct else None,
        policy=FetchPolicy(timeout_s=timeout_s, **policy),
    )
    try:
        yield Fetched(pages, guard, reports, denied=frozenset(denied))
    finally:
        await egress.aclose()
        await past.aclose()
