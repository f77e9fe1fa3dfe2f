"""The address guard at the socket: literals, names that lie, look-ups that hang (F7, F9)."""

import asyncio
import importlib.util
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from norma.adapters.http import lookups
from norma.adapters.http.egress import Call, CallFailed, Egress, NetworkPolicy
from norma.adapters.http.guard import AddressGuard, AddressRefused, refusal
from tests.rigs.fixtures import fixture_folder
from tests.rigs.listening import listening


class Spy:
    """Opens no socket, and notes the address that one was wanted for."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def __call__(self, info: Sequence[Any]) -> socket.socket:
        self.opened.append(info[4][0])
        raise ConnectionRefusedError("a spy opens nothing")


@pytest.fixture
def liars(pytestconfig: pytest.Config) -> ModuleType:
    path = fixture_folder(pytestconfig, "web") / "rebind_resolver.py"
    spec = importlib.util.spec_from_file_location("rebind_resolver", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@asynccontextmanager
async def guarded(guard: AddressGuard, proxy: str = "none") -> AsyncIterator[Egress]:
    egress = Egress(NetworkPolicy(proxy), environ={}, guard=guard)
    try:
        yield egress
    finally:
        await egress.aclose()


async def failure(egress: Egress, url: str) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await egress.send(Call("GET", url))
    return caught.value


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "[fd00:ec2::254]", "localhost", "a.localhost",
     "metadata.google.internal", "[64:ff9b::a9fe:a9fe]", "[fe80::1]", "168.63.129.16", "localhost."],
)  # fmt: skip
async def test_F7_a_literal_or_a_refused_name_opens_no_socket(host: str) -> None:
    spy = Spy()
    async with guarded(AddressGuard(open_socket=spy)) as egress:
        error = await failure(egress, f"http://{host}:81/")
    assert error.failure.kind == "refused"
    assert not error.may_retry
    assert spy.opened == []


async def test_F7_rebinding_changes_nothing_since_there_is_one_look_up(liars: ModuleType) -> None:
    spy = Spy()
    resolver = liars.Rebinding()
    async with guarded(AddressGuard(resolver=resolver, open_socket=spy)) as egress:
        error = await failure(egress, "http://rebind.example/")
        assert resolver.asked == ["rebind.example"]
        assert spy.opened == ["93.184.216.34"]
        assert error.failure.kind == "network"
        again = await failure(egress, "http://rebind.example/")
    assert again.failure.kind == "refused"
    assert "127.0.0.1" in str(again)
    assert spy.opened == ["93.184.216.34"]


@pytest.mark.parametrize("turned", [False, True])
async def test_F7_an_answer_with_one_inner_address_is_refused_whole(liars: ModuleType, turned: bool) -> None:
    spy = Spy()
    mixed = liars.Mixed()
    mixed.ips = tuple(reversed(mixed.ips)) if turned else mixed.ips
    async with guarded(AddressGuard(resolver=mixed, open_socket=spy)) as egress:
        error = await failure(egress, "http://mixed.example/")
    assert error.failure.kind == "refused"
    assert spy.opened == []


async def test_F7_the_socket_is_judged_even_if_a_resolver_was_not() -> None:
    guard = AddressGuard()
    open_socket = lookups.guarded_socket(guard)
    with pytest.raises(AddressRefused):
        open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80)))
    open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("93.184.216.34", 80))).close()


async def test_F7_an_allow_list_opens_a_range_and_nothing_beside_it() -> None:
    spy = Spy()
    async with guarded(AddressGuard(["10.1.0.0/16", "::1/128"], open_socket=spy)) as egress:
        assert (await failure(egress, "http://10.1.2.3/")).failure.kind == "network"
        assert (await failure(egress, "http://[::1]/")).failure.kind == "network"
        assert (await failure(egress, "http://10.2.0.1/")).failure.kind == "refused"
        assert (await failure(egress, "http://127.0.0.1/")).failure.kind == "refused"
    assert spy.opened == ["10.1.2.3", "::1"]


async def test_F7_an_allowed_host_may_be_wherever_it_is_and_others_may_not(liars: ModuleType) -> None:
    spy = Spy()
    guard = AddressGuard(["intranet.example"], resolver=liars.Mixed(ips=("10.0.0.5",)), open_socket=spy)
    async with guarded(guard) as egress:
        assert (await failure(egress, "http://intranet.example/")).failure.kind == "network"
        assert (await failure(egress, "http://x.intranet.example/")).failure.kind == "refused"
    assert spy.opened == ["10.0.0.5"]


async def test_F7_localhost_is_this_machine_and_nobody_is_asked(liars: ModuleType) -> None:
    spy = Spy()
    resolver = liars.Rebinding()
    async with guarded(AddressGuard(["127.0.0.0/8"], resolver=resolver, open_socket=spy)) as egress:
        assert (await failure(egress, "http://localhost/")).failure.kind == "network"
    assert resolver.asked == []
    assert spy.opened == ["127.0.0.1"]


async def test_F7_a_proxy_is_exempt_and_names_are_its_own_to_resolve(liars: ModuleType) -> None:
    lines: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append((await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[0])
        writer.write(b"HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()

    async with listening(serve) as where:
        resolver = liars.Rebinding()
        async with guarded(AddressGuard(resolver=resolver), f"http://{where}") as egress:
            answer = await egress.send(Call("GET", "http://only-the-proxy-knows.example/x"))
            answer.close()
            for host in ("10.0.0.1", "[::1]", "localhost", "metadata.google.internal"):
                assert (await failure(egress, f"http://{host}/")).failure.kind == "refused"
    assert resolver.asked == []
    assert lines == ["GET http://only-the-proxy-knows.example/x HTTP/1.1"]


async def test_F9_look_ups_that_hang_hold_up_no_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    def stuck(*_: Any, **__: Any) -> list[Any]:
        free.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    try:
        async with guarded(AddressGuard()) as egress:
            fetches = [
                asyncio.ensure_future(egress.send(Call("GET", f"http://h{n}.example/"))) for n in range(40)
            ]
            loop = asyncio.get_running_loop()
            text = await asyncio.wait_for(loop.run_in_executor(None, Path(__file__).read_text), 10)
            assert "hang" in text
            for fetch in fetches:
                fetch.cancel()
            done = await asyncio.wait_for(asyncio.gather(*fetches, return_exceptions=True), 10)
    finally:
        free.set()
    assert all(isinstance(one, asyncio.CancelledError) for one in done)


def test_F7_our_table_is_never_milder_than_the_interpreters() -> None:
    texts = [
        "192.88.99.1",
        "198.18.0.1",
        "192.0.0.9",
        "2001:2::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "100::1",
        "64:ff9b:1::7f00:1",
        "ff0e::1",
        "2001::7f00:1",
        "fec0::1",
        "::2",
        "4000::1",
    ]
    for text in texts:
        assert refusal(ip_address(text)), text
    for text in ("1.1.1.1", "172.32.0.1", "9.255.255.255", "11.0.0.0", "2606:4700::1", "2a00::1"):
        assert refusal(ip_address(text)) is None, text


@pytest.mark.parametrize("entry", ["", "10.0.0.0/33", "a/b", "h:80", "b\u00fccher.example"])
def test_F7_an_entry_that_opens_nothing_is_a_fault(entry: str) -> None:
    with pytest.raises(ValueError, match="no host and no range"):
        AddressGuard([entry])


def test_N4_a_session_of_the_hosts_cannot_be_guarded() -> None:
    with pytest.raises(ValueError, match="guarded"):
        Egress(NetworkPolicy(), environ={}, guard=AddressGuard(), session=object())  # type: ignore[arg-type]
