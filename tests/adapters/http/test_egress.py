"""The egress over real sockets: policy, proxies, deadlines, reports (N1-N8)."""

import asyncio
import gzip
import ssl
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import trustme

from norma.adapters.http import transport
from norma.adapters.http.egress import Call, CallFailed, CallReport, Egress, NetworkPolicy
from norma.domain.model.secrets import Secret
from tests.rigs.listening import listening
from tests.rigs.wire_models import an_egress
from tests.rigs.wire_server import JSON, Scripted, wire_server

CANARY = "canary-2f9c"


@asynccontextmanager
async def a_proxy(*, refuse: int | None = None) -> AsyncIterator[tuple[str, list[str], list[str]]]:
    """
    An HTTP proxy that forwards to where the request says. Its address, the first lines and the
    Proxy-Authorization headers that it saw.
    """
    lines: list[str] = []
    credentials: list[str] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *headers = head.decode().split("\r\n")
        lines.append(first)
        credentials.extend(row for row in headers if row.lower().startswith("proxy-authorization"))
        method, target, _ = first.split(" ")
        if refuse is not None:
            writer.write(f"HTTP/1.1 {refuse} No\r\nContent-Length: 0\r\n\r\n".encode())
            writer.close()
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            there_reader, there = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 Fine\r\n\r\n")
        else:
            host, _, port = target.removeprefix("http://").partition("/")[0].rpartition(":")
            there_reader, there = await asyncio.open_connection(host, int(port))
            there.write(head)
        try:
            await asyncio.gather(pump(reader, there), pump(there_reader, writer))
        finally:
            there.transport.abort()

    async with listening(serve) as address:
        yield address, lines, credentials


@asynccontextmanager
async def a_tls_server(authority: trustme.CA) -> AsyncIterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()

    async with listening(serve, ssl=context) as address:
        yield f"https://{address}"


async def body_of(egress: Egress, url: str, **options: object) -> bytes:
    answer = await egress.send(Call("GET", url, **options))  # type: ignore[arg-type]  # as the call says
    body, _ = await answer.read_up_to(1 << 20)
    return body


OK = Scripted([b"fine"], headers={"Content-Type": "text/plain"})


async def test_N1_a_ca_file_leaves_the_environment_proxies_on(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    policy = NetworkPolicy(ca_file=str(ca_file))
    async with a_tls_server(authority) as url, a_proxy() as (proxy, lines, _):
        async with an_egress(policy) as egress:
            assert await body_of(egress, url) == b"ok"
        assert lines == []
        # Loopback is exempt from environment proxies, so the way is shown by a name that is not.
        async with an_egress(policy, HTTPS_PROXY=proxy) as egress:
            with pytest.raises(CallFailed):
                await body_of(egress, url.replace("127.0.0.1", "nowhere.invalid"))
        assert lines[0].startswith("CONNECT nowhere.invalid:")


async def test_N1_tls_through_a_proxy_trusts_the_ca_file(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    async with a_tls_server(authority) as url, a_proxy() as (proxy, lines, _):
        async with an_egress(NetworkPolicy(proxy=f"http://{proxy}", ca_file=str(ca_file))) as egress:
            assert await body_of(egress, url) == b"ok"
        assert len(lines) == 1


async def test_N1_a_certificate_that_nobody_vouches_for_is_final_and_named() -> None:
    async with a_tls_server(trustme.CA()) as url:
        async with an_egress() as egress:
            with pytest.raises(CallFailed, match=r"certificate.*network\.ca_file") as failed:
                await body_of(egress, url)
            assert failed.value.failure.kind == "network"
            assert not failed.value.may_retry
        async with an_egress(NetworkPolicy(insecure_tls=True)) as egress:
            assert await body_of(egress, url) == b"ok"


async def test_N1_a_ca_file_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.pem"
    async with an_egress(NetworkPolicy(ca_file=str(path))) as egress:
        with pytest.raises(CallFailed, match=str(path)) as failed:
            await egress.send(Call("GET", "https://127.0.0.1:1/"))
    assert failed.value.failure.kind == "usage"


async def test_N2_no_proxy_of_the_process_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with wire_server(OK) as server, an_egress() as egress:
        assert await body_of(egress, server.url) == b"fine"


async def test_N3_a_cgi_process_refuses_and_sends_nothing() -> None:
    async with wire_server(OK) as server:
        async with an_egress(HTTP_PROXY="http://127.0.0.1:1", REQUEST_METHOD="GET") as egress:
            with pytest.raises(CallFailed, match="REQUEST_METHOD") as failed:
                await body_of(egress, server.url)
        assert failed.value.failure.kind == "refused"
        assert not failed.value.may_retry
        explicit = NetworkPolicy(proxy="none")
        async with an_egress(explicit, HTTP_PROXY="http://127.0.0.1:1", REQUEST_METHOD="GET") as egress:
            assert await body_of(egress, server.url) == b"fine"
        assert len(server.requests) == 1


async def test_N4_a_hosts_session_decides_and_is_never_closed() -> None:
    async with wire_server(OK) as server, aiohttp.ClientSession() as session:
        policy = NetworkPolicy(proxy="http://127.0.0.1:1")
        egress = Egress(policy, environ={}, session=session)
        assert await body_of(egress, server.url) == b"fine"
        await egress.aclose()
        assert not session.closed
        assert server.requests[0].header("Accept-Encoding") == "gzip, deflate"


async def test_N5_a_proxys_credentials_reach_it_and_nothing_else() -> None:
    reports: list[CallReport] = []
    async with wire_server(OK) as server, a_proxy() as (proxy, lines, credentials):
        policy = NetworkPolicy(proxy=f"http://user:{CANARY}@{proxy}")
        async with an_egress(policy, report=reports.append) as egress:
            assert await body_of(egress, f"{server.url}/x?key={CANARY}") == b"fine"
        assert lines == [f"GET {server.url}/x?key={CANARY} HTTP/1.1"]
        assert credentials[0].startswith("Proxy-Authorization: Basic ")
        assert server.requests[0].header("User-Agent") == "norma/0.4"
    assert CANARY not in repr(reports)
    assert reports[0].proxy == f"http://{proxy}"
    assert reports[0].route == "proxy"


@pytest.mark.parametrize("status", [407, 502])
async def test_N5_a_refusing_proxy_is_told_without_its_credentials(status: int) -> None:
    async with a_proxy(refuse=status) as (proxy, _, _):
        policy = NetworkPolicy(proxy=f"http://user:{CANARY}@{proxy}")
        async with an_egress(policy) as egress:
            with pytest.raises(CallFailed, match=str(status)) as failed:
                await egress.send(Call("GET", "https://a.test/", {"X-Api-Key": Secret(CANARY)}))
    assert failed.value.failure.kind == "proxy"
    assert failed.value.failure.status == status
    assert failed.value.may_retry is (status != 407)
    assert CANARY not in everything_about(failed.value)


async def test_N5_an_unreachable_proxy_is_told_without_its_credentials() -> None:
    async with an_egress(NetworkPolicy(proxy=f"http://user:{CANARY}@127.0.0.1:1")) as egress:
        with pytest.raises(CallFailed) as failed:
            await egress.send(Call("GET", "http://a.test/", {"X-Api-Key": Secret(CANARY)}))
    assert failed.value.failure.kind == "proxy"
    assert failed.value.may_retry
    assert CANARY not in everything_about(failed.value)


def everything_about(error: BaseException) -> str:
    seen = "".join(traceback.format_exception(error))
    link: BaseException | None = error
    while link is not None:
        seen += repr(link) + str(link)
        link = link.__cause__ or link.__context__
    return seen


async def test_N6_nothing_bounds_the_whole_of_a_call() -> None:
    policy = NetworkPolicy()
    timeout = transport.session_timeout(policy)
    assert (timeout.total, timeout.connect, timeout.sock_read) == (None, 10.0, 300.0)
    session = transport.open_session(policy)
    assert session.timeout == timeout
    await session.close()
    assert transport.session_timeout(NetworkPolicy(idle_timeout_s=None)).sock_read is None


@pytest.mark.parametrize(
    "script",
    [
        Scripted([], headers={}, end="hold_open"),
        Scripted([b"a"], headers={}, end="hold_open"),
    ],
    ids=["no body", "part of a body"],
)
async def test_N6_silence_is_final(script: Scripted) -> None:
    async with wire_server(script) as server, an_egress(NetworkPolicy(idle_timeout_s=0.05)) as egress:
        answer = await egress.send(Call("GET", server.url))
        with pytest.raises(CallFailed, match="idle_timeout_s") as failed:
            await answer.read_up_to(100)
        await asyncio.wait_for(server.client_closed.wait(), 5)
    assert failed.value.failure.kind == "timeout"
    assert not failed.value.may_retry


async def test_N6_silence_before_the_headers_is_final() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(say_nothing) as address, an_egress(NetworkPolicy(idle_timeout_s=0.05)) as egress:
        with pytest.raises(CallFailed) as failed:
            await egress.send(Call("GET", f"http://{address}/"))
    assert failed.value.failure.kind == "timeout"
    assert not failed.value.may_retry


async def test_N6_a_server_that_never_takes_the_request_is_not_waited_for_for_ever() -> None:
    async def take_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # there is no public way to be deaf
        await asyncio.Event().wait()

    policy = NetworkPolicy(idle_timeout_s=0.05, connect_timeout_s=0.05)
    async with listening(take_nothing, limit=1024) as address, an_egress(policy) as egress:
        with pytest.raises(CallFailed) as failed:
            await egress.send(Call("POST", f"http://{address}/", body=b"x" * (64 << 20)))
    assert failed.value.failure.kind == "timeout"


async def test_N7_the_encodings_offered_are_ours_alone() -> None:
    async with wire_server(OK) as server, an_egress() as egress:
        await body_of(egress, server.url)
        assert server.requests[0].header("Accept-Encoding") == "gzip, deflate"
        await body_of(egress, server.url, headers={"accept-ENCODING": "identity"})
        assert server.requests[1].header("Accept-Encoding") == "identity"


async def test_N7_an_encoding_that_was_not_offered_is_a_protocol_error() -> None:
    script = Scripted([b"whatever"], headers={"Content-Encoding": "br"})
    async with wire_server(script) as server, an_egress() as egress:
        with pytest.raises(CallFailed, match="'br', which was not offered") as failed:
            await body_of(egress, server.url)
    assert failed.value.failure.kind == "protocol"


async def test_N7_a_bomb_stops_at_the_cap_of_decoded_bytes() -> None:
    script = Scripted([gzip.compress(b"\0" * (30 << 20))], headers={"Content-Encoding": "gzip"})
    async with wire_server(script) as server, an_egress() as egress:
        answer = await egress.send(Call("GET", server.url))
        body, was_cut = await answer.read_up_to(1000)
        answer.close()
    assert (len(body), was_cut) == (1000, True)


async def test_N7_a_cut_compressed_body_is_dropped_not_whole() -> None:
    script = Scripted([gzip.compress(b"some text")[:-4]], headers={"Content-Encoding": "gzip"})
    async with wire_server(script) as server, an_egress() as egress:
        with pytest.raises(CallFailed) as failed:
            await body_of(egress, server.url)
    assert failed.value.failure.kind == "stream_dropped"


async def test_N8_each_call_is_reported_with_its_way_and_end() -> None:
    reports: list[CallReport] = []
    script = [OK, Scripted([b"{}"], 503, JSON), Scripted(action="close")]
    async with wire_server(*script) as server:
        async with an_egress(report=reports.append) as egress:
            await body_of(egress, f"{server.url}/a?secret=1")
            await body_of(egress, f"{server.url}/a", attempt=2)
            with pytest.raises(CallFailed):
                await body_of(egress, f"{server.url}/a", attempt=3)
        address = server.url.removeprefix("http://")
    facts = [(row.url, row.attempt, row.route, row.address, row.status, row.failure) for row in reports]
    url = f"{server.url}/a"
    assert facts == [
        (url, 1, "direct", address, 200, None),
        (url, 2, "direct", address, 503, None),
        (url, 3, "direct", address, None, "network"),
    ]


@pytest.mark.parametrize(
    ("url", "kind", "may_retry"),
    [
        ("http://127.0.0.1:1/", "network", True),
        ("http://nowhere.invalid/", "network", False),
    ],
)
async def test_M1_what_the_network_may_mend_is_told_from_what_it_can_not(
    url: str, kind: str, may_retry: bool
) -> None:
    async with an_egress(NetworkPolicy(proxy="none")) as egress:
        with pytest.raises(CallFailed) as failed:
            await egress.send(Call("GET", url))
    assert failed.value.failure.kind == kind
    assert failed.value.may_retry is may_retry


async def test_a_large_body_arrives_whole() -> None:
    body = bytes(range(256)) * 10_000
    async with wire_server(OK) as server, an_egress() as egress:
        await body_of(egress, server.url, body=body)
        assert server.requests[0].body == body
        assert server.requests[0].header("Content-Length") == str(len(body))


async def test_what_arrived_before_a_reset_is_not_lost() -> None:
    async with wire_server(Scripted([b"all of this"], end="reset")) as server, an_egress() as egress:
        answer = await egress.send(Call("GET", server.url))
        for _ in range(20):  # the reset arrives before the first read
            await asyncio.sleep(0)
        assert await answer.read() == b"all of this"
        with pytest.raises(CallFailed) as failed:
            await answer.read()
    assert failed.value.failure.kind == "stream_dropped"


async def test_a_report_that_fails_leaves_no_answer_open() -> None:
    def fail(_: CallReport) -> None:
        raise LookupError("the host's own")

    async with wire_server(Scripted([b"a"], end="hold_open")) as server, an_egress(report=fail) as egress:
        with pytest.raises(LookupError):
            await egress.send(Call("GET", server.url))
        await asyncio.wait_for(server.client_closed.wait(), 5)


async def test_a_redirect_is_not_followed() -> None:
    script = Scripted([b""], 307, {"Location": "http://127.0.0.1:1/"})
    async with wire_server(script) as server, an_egress() as egress:
        answer = await egress.send(Call("POST", server.url, {"Authorization": Secret("x")}, b"{}"))
        assert answer.status == 307
        answer.close()


async def test_a_closed_egress_sends_nothing() -> None:
    async with an_egress() as egress:
        await egress.aclose()
        with pytest.raises(CallFailed, match="closed"):
            await egress.send(Call("GET", "http://127.0.0.1:1/"))


async def test_M3_a_request_that_is_not_valid_is_named_and_not_sent() -> None:
    async with wire_server(Scripted([b"ok"])) as server, an_egress() as egress:
        with pytest.raises(CallFailed, match="is not valid") as failed:
            await egress.send(Call("GET", server.url, {"X-A": f"{CANARY}\r\nX-B: 1"}))
    assert (failed.value.failure.kind, failed.value.may_retry) == ("usage", False)
    assert CANARY not in "".join(traceback.format_exception(failed.value))
    assert not server.requests


async def test_a_long_header_is_taken() -> None:
    headers = {"Content-Security-Policy": "a" * 40_000}
    async with wire_server(Scripted([b"ok"], headers=headers)) as server, an_egress() as egress:
        answer = await egress.send(Call("GET", server.url))
        assert await answer.read_up_to(10) == (b"ok", False)


async def test_an_answer_that_was_let_go_of_ends_with_the_egress_at_the_latest() -> None:
    async with wire_server(Scripted([b"ok"], end="hold_open")) as server, an_egress() as egress:
        answer = await egress.send(Call("GET", server.url))
        assert await answer.read() == b"ok"
        answer.let_go(within_s=60)
        await egress.aclose()
        with pytest.raises(CallFailed, match="broke off"):
            await answer.read()
        await asyncio.wait_for(server.client_closed.wait(), 5)
