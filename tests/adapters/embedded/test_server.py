"""The child that holds llama.cpp: what it answers, how it fails, and that it never stays behind."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.server import EmbeddedServer, Endpoint
from tests.adapters.embedded.processes import (
    CRASHING,
    HOLDING_THE_LOCK,
    Watched,
    children,
    fail_if_left,
    native_package,
)

model = [pytest.mark.model, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = children()
    yield
    fail_if_left(before)


@pytest.fixture
def plausible(tmp_path: Path) -> str:
    """A file that begins as a GGUF file does."""
    path = tmp_path / "plausible.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") * 2 + bytes(100))
    return str(path)


@asynccontextmanager
async def running(server: EmbeddedServer) -> AsyncIterator[Endpoint]:
    try:
        yield await server.start()
    finally:
        await server.aclose()


async def failure_of(server: EmbeddedServer) -> EmbeddedFailed:
    with pytest.raises(EmbeddedFailed) as caught:
        await server.start()
    assert not server.alive
    return caught.value


def get(url: str, key: str | None) -> tuple[int, bytes]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def shown_by_the_system(pid: int, what: str) -> str:
    return Path(f"/proc/{pid}/{what}").read_text()


class TestRealServer:
    pytestmark = model

    async def test_it_answers_on_loopback_to_its_key_only(self, gguf: str):
        async with running(EmbeddedServer(gguf)) as endpoint:
            assert endpoint.base_url.startswith("http://127.0.0.1:")
            url = f"{endpoint.base_url}/models"
            status, body = await asyncio.to_thread(get, url, endpoint.api_key.reveal())
            assert status == 200
            assert [row["id"] for row in json.loads(body)["data"]] == [endpoint.model]
            assert (await asyncio.to_thread(get, url, None))[0] == 401
            assert (await asyncio.to_thread(get, url, "guess"))[0] == 401

    async def test_the_key_stands_on_no_command_line_and_in_no_environment(self, gguf: str):
        server = EmbeddedServer(gguf)
        async with running(server) as endpoint:
            key = endpoint.api_key.reveal()
            assert key not in repr(endpoint)
            assert server.pid is not None
            assert key not in shown_by_the_system(server.pid, "cmdline")
            assert key not in shown_by_the_system(server.pid, "environ")

    async def test_its_environment_holds_no_key_of_ours(self, gguf: str):
        server = EmbeddedServer(gguf, environ={**os.environ, "OPENAI_API_KEY": "canary-in-the-mine"})
        async with running(server):
            assert server.pid is not None
            environment = shown_by_the_system(server.pid, "environ")
        assert "canary-in-the-mine" not in environment
        assert "OMP_WAIT_POLICY=passive" in environment

    async def test_closing_ends_it_and_frees_its_port(self, gguf: str):
        server = EmbeddedServer(gguf)
        async with running(server) as endpoint:
            assert server.alive
        assert not server.alive
        await server.aclose()
        with pytest.raises(urllib.error.URLError, match="refused"):
            await asyncio.to_thread(get, f"{endpoint.base_url}/models", None)

    async def test_its_death_is_noticed_and_explained(self, gguf: str):
        server = EmbeddedServer(gguf)
        async with running(server):
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            async with asyncio.timeout(20):
                while not await server.has_ended():
                    pass
            assert not server.alive
            assert "was ended by SIGKILL" in server.obituary()

    async def test_a_port_of_ones_own_choice(self, gguf: str):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        async with running(EmbeddedServer(gguf, port=port)) as endpoint:
            assert endpoint.base_url == f"http://127.0.0.1:{port}/v1"

    async def test_a_model_cut_short_is_named_with_the_reason(self, gguf: str, tmp_path: Path):
        cut = tmp_path / "cut.gguf"
        with open(gguf, "rb") as whole, open(cut, "wb") as part:  # noqa: ASYNC230 - a test's own file
            part.write(whole.read(3_000_000))
        error = await failure_of(EmbeddedServer(str(cut)))
        assert str(cut) in str(error)
        assert "corrupted or incomplete" in str(error)
        assert "\n" not in str(error)

    def test_a_parent_that_is_killed_leaves_no_child(self, gguf: str):
        script = (
            "import asyncio, sys\n"
            "from norma.adapters.embedded.server import EmbeddedServer\n"
            "async def main():\n"
            "    server = EmbeddedServer(sys.argv[1])\n"
            "    await server.start()\n"
            "    print(server.pid, flush=True)\n"
            "    await asyncio.Event().wait()\n"
            "asyncio.run(main())\n"
        )
        with subprocess.Popen([sys.executable, "-c", script, gguf], stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            child = Watched(int(parent.stdout.readline()))
            parent.kill()
        try:
            assert child.gone()
        finally:
            child.close()


class TestChild:
    """With a package of the same names, for what the real one does not do on command."""

    async def test_a_crash_of_native_code_is_its_exit_status_and_its_last_words(
        self, tmp_path: Path, plausible: str
    ):
        error = await failure_of(EmbeddedServer(plausible, environ=native_package(tmp_path / "p", CRASHING)))
        assert error.failure.kind == "server"
        assert "was ended by SIGSEGV" in str(error)
        assert "tensor on fire" in str(error)

    async def test_a_package_that_is_not_installed_is_named_with_the_remedy(
        self, tmp_path: Path, plausible: str
    ):
        error = await failure_of(EmbeddedServer(plausible, environ=native_package(tmp_path / "p", None)))
        assert error.failure.kind == "usage"
        assert "xllamacpp" in str(error)
        assert "pip install 'norma-agent[local]'" in str(error)

    async def test_a_port_that_is_taken_is_named(self, tmp_path: Path, plausible: str):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            error = await failure_of(EmbeddedServer(plausible, port=port))
        assert error.failure.kind == "usage"
        assert f"port {port}: Address already in use" in str(error)
        assert "embedded.port" in str(error)

    async def test_a_start_that_takes_too_long_is_given_up(self, tmp_path: Path, plausible: str):
        environ = native_package(tmp_path / "p", HOLDING_THE_LOCK)
        error = await failure_of(EmbeddedServer(plausible, environ=environ, start_timeout_s=2.0))
        assert error.failure.kind == "timeout"
        assert "2 s" in str(error)

    def test_the_end_of_input_ends_it_even_while_native_code_holds_the_lock(self, tmp_path: Path):
        environ = native_package(tmp_path / "p", HOLDING_THE_LOCK)
        command = [sys.executable, "-P", "-m", "norma.adapters.embedded.child"]
        wishes = {"model": "m", "name": "m", "key": "k", "port": 0, "threads": 1, "context": 1}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ) as child:
            assert child.stdin is not None
            assert child.stderr is not None
            child.stdin.write(json.dumps(wishes).encode() + b"\n")
            child.stdin.flush()
            assert child.stderr.readline() == b"loading\n"
            child.stdin.close()
            try:
                assert child.wait(20) == -signal.SIGIO
            finally:
                child.kill()

    def test_an_input_that_ends_before_it_says_anything_ends_it_quietly(self):
        command = [sys.executable, "-P", "-m", "norma.adapters.embedded.child"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    async def test_a_start_cancelled_at_any_moment_leaves_nothing(self, tmp_path: Path, plausible: str):
        environ = native_package(tmp_path / "p", HOLDING_THE_LOCK)
        before = children()
        for passes in range(25):
            starting = asyncio.create_task(EmbeddedServer(plausible, environ=environ).start())
            for _ in range(passes):
                await asyncio.sleep(0)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
            fail_if_left(before)

    async def test_a_module_in_the_working_folder_is_not_taken_for_a_package(
        self, tmp_path: Path, plausible: str, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "json.py").write_text("raise SystemExit('code of the workspace ran')")
        monkeypatch.chdir(tmp_path)
        error = await failure_of(EmbeddedServer(plausible, environ=native_package(tmp_path / "p", CRASHING)))
        assert "code of the workspace" not in str(error)
        assert "tensor on fire" in str(error)


class TestModelFile:
    """What is wrong with a file is said before anything is started."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "it has 0 bytes"),
            (b"GGUF\x03\x00", "it has 6 bytes"),
            (b"PK\x03\x04" + bytes(100), "it begins with"),
            (b"GGUF" + (9).to_bytes(4, "little") + bytes(100), "version 9"),
            (b"GGUF" + (3).to_bytes(4, "little") + bytes(100), "0 tensors"),
            (b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 16 + bytes(100), "can't be in 124 bytes"),
        ],
    )
    async def test_a_file_that_is_no_model(self, tmp_path: Path, content: bytes, words: str):
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        error = await failure_of(EmbeddedServer(str(path)))
        assert error.failure.kind == "usage"
        assert words in str(error)
        assert str(path) in str(error)

    async def test_no_file_a_folder_and_a_pipe(self, tmp_path: Path):
        os.mkfifo(tmp_path / "pipe")
        assert "there is no model file" in str(await failure_of(EmbeddedServer(str(tmp_path / "none"))))
        assert "Is a directory" in str(await failure_of(EmbeddedServer(str(tmp_path))))
        assert "no regular file" in str(await failure_of(EmbeddedServer(str(tmp_path / "pipe"))))

    async def test_a_server_is_started_once(self, plausible: str, tmp_path: Path):
        server = EmbeddedServer(plausible, environ=native_package(tmp_path / "p", CRASHING))
        await failure_of(server)
        with pytest.raises(RuntimeError, match="started once"):
            await server.start()
        shutil.rmtree(tmp_path / "p")
