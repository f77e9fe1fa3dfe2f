"""A proxy is a boundary (F8): shown with real proxies that are down, refuse, drop and answer."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from norma.adapters.http.egress import NetworkPolicy
from norma.ports.page_fetch import FetchFailed
from tests.rigs.listening import listening
from tests.rigs.web import Hostile, fetcher

Writer = asyncio.StreamWriter


@asynccontextmanager
async def proxy(act: Callable[[str, Writer], None]) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that does *act* with each request; its URL, and the first lines that it saw."""
    lines: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        first = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[0]
        lines.append(first)
        act(first, writer)
        await writer.drain()

    async with listening(serve) as where:
        yield f"http://{where}", lines


def down() -> str:
    """The URL of a proxy that is not there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def drops(first: str, writer: Writer) -> None:
    writer.transport.abort()


def says(status: int) -> Callable[[str, Writer], None]:
    def act(first: str, writer: Writer) -> None:
        writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 6\r\nConnection: close\r\n\r\nproxy!".encode())

    return act


def drops_the_tunnel(first: str, writer: Writer) -> None:
    if first.startswith("CONNECT"):
        writer.write(b"HTTP/1.1 200 Fine\r\n\r\n")
    writer.close()


@asynccontextmanager
async def secure(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """An HTTPS server on loopback; its URL and a CA file that trusts it."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))

    async def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        await writer.drain()

    async with listening(serve, ssl=context) as where:
        yield f"https://{where}", str(folder / "ca.pem")


async def test_F8_a_proxy_that_is_down_is_an_error_and_nothing_goes_past_it(hostile: Hostile) -> None:
    async with fetcher(network=NetworkPolicy(down())) as fetch:
        with pytest.raises(FetchFailed) as caught:
            await fetch.get(f"{hostile.a}/ok")
    assert caught.value.failure.kind == "proxy"
    assert hostile.targets() == []


async def test_F8_a_proxy_that_drops_is_an_error_and_nothing_goes_past_it(hostile: Hostile) -> None:
    async with proxy(drops) as (url, lines), fetcher(network=NetworkPolicy(url)) as fetch:
        with pytest.raises(FetchFailed):
            await fetch.get(f"{hostile.a}/ok")
    assert len(lines) == 1
    assert hostile.targets() == []


@pytest.mark.parametrize("act", [drops_the_tunnel, says(502), says(407)])
async def test_F8_a_tunnel_that_fails_is_an_error(tmp_path: Path, act: Callable[[str, Writer], None]) -> None:
    async with (
        secure(tmp_path) as (server, ca_file),
        proxy(act) as (url, lines),
        fetcher(network=NetworkPolicy(url, ca_file)) as fetch,
    ):
        with pytest.raises(FetchFailed):
            await fetch.get(server)
    assert [line.split(" ")[0] for line in lines] == ["CONNECT"]


async def test_F8_with_the_option_there_is_one_direct_try_and_a_note(hostile: Hostile) -> None:
    environ = {"HTTP_PROXY": down(), "HTTPS_PROXY": down()}
    async with fetcher(network=NetworkPolicy(down()), environ=environ, direct=True) as fetch:
        page = await fetch.get(f"{hostile.a}/ok")
    assert page.status == 200
    assert any("directly" in note and "proxy" in note for note in page.notes)
    assert [report.route for report in fetch.reports] == ["proxy", "direct"]
    assert hostile.targets() == ["/ok"]


async def test_F8_a_dropped_tunnel_falls_back_with_the_option(tmp_path: Path) -> None:
    async with (
        secure(tmp_path) as (server, ca_file),
        proxy(drops_the_tunnel) as (url, _),
        fetcher(network=NetworkPolicy(url, ca_file), direct=True) as fetch,
    ):
        with pytest.raises(FetchFailed, match="certificate"):
            await fetch.get(server)  # past the proxy; that way trusts no CA of this test
    assert [report.route for report in fetch.reports] == ["proxy", "direct"]


async def test_F8_a_status_is_never_a_reason_to_go_past_the_proxy(hostile: Hostile, tmp_path: Path) -> None:
    async with proxy(says(502)) as (url, lines), fetcher(network=NetworkPolicy(url), direct=True) as fetch:
        page = await fetch.get(f"{hostile.a}/ok")
        assert (page.status, page.markdown) == (502, "proxy!")
        with pytest.raises(FetchFailed) as caught:
            await fetch.get("https://127.0.0.1:1/")
    assert caught.value.failure.kind == "proxy"
    assert hostile.targets() == []
    assert len(lines) == 2


async def test_F8_the_direct_try_is_guarded_too(hostile: Hostile) -> None:
    network = NetworkPolicy(down())
    async with fetcher(network=network, direct=True, allow=()) as fetch:
        with pytest.raises(FetchFailed):
            await fetch.get("http://nowhere.invalid/")
    assert hostile.targets() == []


async def test_F8_what_fails_without_a_proxy_is_tried_once(hostile: Hostile) -> None:
    async with fetcher(direct=True) as fetch:
        with pytest.raises(FetchFailed):
            await fetch.get(down())
    assert len(fetch.reports) == 1
