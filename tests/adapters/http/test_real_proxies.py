"""N1 to N5 against proxies of others: plain and CONNECT, with and without a password."""

import asyncio
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trustme

from norma.adapters.http.call import Call, CallFailed, CallReport
from norma.adapters.http.egress import Egress
from norma.adapters.http.policy import NetworkPolicy
from tests.rigs.model_peers import PROXY, python_with
from tests.rigs.wire_models import an_egress
from tests.rigs.wire_server import JSON, Scripted, WireServer, wire_server

pytestmark = [pytest.mark.peers, pytest.mark.timeout(300)]  # the first run installs one
BOUND_S = 30.0
USER, PASSWORD = "ann", "p-canary-31"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@asynccontextmanager
async def program(port: int, *command: str) -> AsyncIterator[str]:
    """A proxy that runs; gives where it listens, and ends it."""
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(BOUND_S):
            await _listens(child, port)
        yield f"127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            child.terminate()
        try:
            await asyncio.wait_for(child.wait(), BOUND_S)
        except TimeoutError:
            child.kill()
            await child.wait()


async def _listens(child: asyncio.subprocess.Process, port: int) -> None:
    """Until the port answers; these programs have no other way of saying so."""
    while True:
        assert child.returncode is None, "the proxy ended before it listened"
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            await writer.wait_closed()
            return


@asynccontextmanager
async def proxy_py(folder: Path, password: str | None) -> AsyncIterator[str]:
    python = await asyncio.to_thread(python_with, "proxy", PROXY)
    port = free_port()
    options = ["--hostname", "127.0.0.1", "--port", str(port), "--num-workers", "1", "--num-acceptors", "1"]
    options += ["--data-dir", str(folder)]
    if password is not None:
        options += ["--basic-auth", f"{USER}:{password}"]
    async with program(port, python, "-m", "proxy", *options) as address:
        yield address


@asynccontextmanager
async def tinyproxy(folder: Path, password: str | None) -> AsyncIterator[str]:
    found = shutil.which("tinyproxy")
    if found is None:
        pytest.skip("tinyproxy is missing, so it was NOT tried; apt-get install tinyproxy-bin to run this")
    port = free_port()
    lines = [f"Port {port}", "Listen 127.0.0.1", "Timeout 60", "MaxClients 20", "LogLevel Critical"]
    if password is not None:
        lines.append(f"BasicAuth {USER} {password}")
    file = folder / "tinyproxy.conf"
    file.write_text("\n".join(lines) + "\n")
    async with program(port, found, "-d", "-c", str(file)) as address:
        yield address


PROXIES = {"proxy.py": proxy_py, "tinyproxy": tinyproxy}


@pytest.fixture(params=PROXIES)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@asynccontextmanager
async def origins(folder: Path) -> AsyncIterator[tuple[WireServer, WireServer, str]]:
    """A plain server, a TLS server, and the file of the authority that vouches for it."""
    authority = trustme.CA()
    file = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    answer = Scripted([b'{"ok": true}'], headers=JSON)
    async with wire_server(answer) as plain, wire_server(answer, tls=context) as secure:
        yield plain, secure, str(file)


async def ask(egress: Egress, url: str) -> int:
    answer = await egress.send(Call("GET", f"{url}/x"))
    body, _ = await answer.read_up_to(1000)
    if answer.status == 200:
        assert body == b'{"ok": true}'
    return answer.status


@pytest.mark.parametrize("password", [None, PASSWORD])
async def test_N1_plain_and_tunnelled_calls_go_through_the_proxy_that_is_named(
    kind: str, password: str | None, tmp_path: Path
) -> None:
    reports: list[CallReport] = []
    async with PROXIES[kind](tmp_path, password) as address, origins(tmp_path) as (plain, secure, ca):
        user = "" if password is None else f"{USER}:{password}@"
        policy = NetworkPolicy(f"http://{user}{address}", ca_file=ca)
        async with an_egress(policy, report=reports.append) as egress:
            assert await ask(egress, plain.url) == 200
            assert await ask(egress, secure.url) == 200
    assert [(report.route, report.proxy) for report in reports] == [("proxy", f"http://{address}")] * 2
    assert len(plain.requests) == len(secure.requests) == 1
    assert secure.requests[0].header("Proxy-Authorization") is None
    assert PASSWORD not in repr(reports) + repr(policy)


@pytest.mark.parametrize("given", ["", f"{USER}:wrong@"])
async def test_N5_a_proxy_that_refuses_is_a_proxy_failure_without_its_password(
    kind: str, given: str, tmp_path: Path
) -> None:
    async with (
        PROXIES[kind](tmp_path, PASSWORD) as address,
        origins(tmp_path) as (plain, secure, ca),
        an_egress(NetworkPolicy(f"http://{given}{address}", ca_file=ca)) as egress,
    ):
        assert await ask(egress, plain.url) in (401, 407)
        with pytest.raises(CallFailed) as failed:
            await ask(egress, secure.url)
    assert failed.value.failure.kind == "proxy"
    assert failed.value.failure.status in (401, 407)
    assert "wrong" not in repr(failed.value) + repr(failed.value.__cause__)
    assert not plain.requests
    assert not secure.requests


async def test_N2_loopback_goes_past_an_environments_proxy(kind: str, tmp_path: Path) -> None:
    reports: list[CallReport] = []
    async with PROXIES[kind](tmp_path, None) as address, origins(tmp_path) as (plain, secure, ca):
        environ = {"HTTP_PROXY": f"http://{address}", "HTTPS_PROXY": f"http://{address}"}
        policy = NetworkPolicy("env", ca_file=ca)
        async with an_egress(policy, report=reports.append, **environ) as egress:
            assert await ask(egress, plain.url) == await ask(egress, secure.url) == 200
    assert [report.route for report in reports] == ["direct", "direct"]


async def test_N1_trust_is_the_same_through_a_proxy_and_past_it(kind: str, tmp_path: Path) -> None:
    async with PROXIES[kind](tmp_path, None) as address, origins(tmp_path) as (_, secure, _):
        for proxy in (f"http://{address}", "none"):
            async with an_egress(NetworkPolicy(proxy)) as egress:
                with pytest.raises(CallFailed, match="certificate"):
                    await ask(egress, secure.url)
            async with an_egress(NetworkPolicy(proxy, insecure_tls=True)) as egress:
                assert await ask(egress, secure.url) == 200
