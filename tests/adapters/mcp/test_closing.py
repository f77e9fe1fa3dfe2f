"""P7: nothing is left behind, whoever closes and whenever somebody loses patience."""

import asyncio
import random
import sys

import pytest

from norma.adapters.mcp.server import McpServer
from norma.domain.model.blocks import text_of
from norma.ports.tool_server import ServerFailed
from tests.rigs.mcp_servers import Servers, children, until


async def test_P7_opened_in_one_task_and_closed_in_another(servers: Servers) -> None:
    server = servers.misbehaving("ok")
    await asyncio.create_task(server.connect())
    output = await asyncio.create_task(server.call("echo", {"text": "x"}))
    assert text_of(output.blocks) == "x"
    await asyncio.create_task(server.aclose())
    assert servers.logged("stdin") == ["closed"]
    with pytest.raises(ServerFailed):
        await server.call("echo", {})


async def test_P7_closing_again_and_at_the_same_time(servers: Servers) -> None:
    server = servers.misbehaving("ok")
    await server.connect()
    await asyncio.gather(*(server.aclose() for _ in range(4)))
    await server.aclose()
    with pytest.raises(ServerFailed, match="closed"):
        await server.connect()


async def test_P7_two_cancels_while_it_closes_skip_nothing(servers: Servers) -> None:
    server = servers.misbehaving("ignores_term")
    await server.connect()
    closing = asyncio.create_task(server.aclose())
    for _ in range(2):
        await asyncio.sleep(0.05)
        closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert children() == []


async def test_P7_cancelled_in_the_handshake(servers: Servers) -> None:
    server = servers.misbehaving("never_init")
    for _ in range(3):
        connecting = asyncio.create_task(server.connect())
        await until(children, "the child")
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        assert children() == []


async def test_P7_closed_while_it_connects(servers: Servers) -> None:
    server = servers.misbehaving("never_init")
    connecting = asyncio.create_task(server.connect())
    await until(children, "the child")
    await server.aclose()
    with pytest.raises(ServerFailed):
        await connecting
    assert children() == []


async def test_P7_closed_while_calls_wait(servers: Servers) -> None:
    server = servers.misbehaving("never_reply")
    await server.connect()
    calls = [asyncio.create_task(server.call("echo", {})) for _ in range(5)]
    await asyncio.sleep(0)
    await server.aclose()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(error, ServerFailed) for error in ended)


async def test_P7_P8_many_that_die_leave_no_zombie(servers: Servers) -> None:
    for _ in range(5):
        server = servers.misbehaving("die_on_call")
        await server.connect()
        with pytest.raises(ServerFailed):
            await server.call("echo", {})
        await server.aclose()
    assert children() == []


async def test_P6_P7_200_random_cancels_leave_no_child_and_no_id(servers: Servers) -> None:
    chance = random.Random(7)
    server = servers.misbehaving("ok", restarts=1000)
    await server.connect()
    one = children()
    for number in range(180):
        task = asyncio.create_task(_use(server, number))
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert server.waiting == 0
        assert children() == one
    assert text_of((await server.call("echo", {"text": "still there"})).blocks) == "still there"
    await server.aclose()
    for number in range(20):
        fresh = servers.misbehaving(
            chance.choice(["ok", "never_init", "ignores_term" if number == 0 else "ok"])
        )
        task = asyncio.create_task(_live(fresh, number))
        for _ in range(chance.randrange(200)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        await fresh.aclose()
        assert children() == []


async def _use(server: McpServer, number: int) -> None:
    await asyncio.gather(*(server.call("size", {"n": 1 + number * 500}) for _ in range(3)))


async def _live(server: McpServer, number: int) -> None:
    try:
        await server.connect()
        await _use(server, number)
    finally:
        await server.aclose()


def test_P7_a_loop_that_shuts_down_leaves_nothing(servers_folder: Servers) -> None:
    """Ctrl-C in the middle of a call: the loop cancels every task, and the server is gone all the same."""

    async def main() -> None:
        server = servers_folder.misbehaving("never_reply")
        try:
            await server.connect()
            call = asyncio.ensure_future(server.call("echo", {}))
            await asyncio.sleep(0.01)
            raise KeyboardInterrupt
        finally:
            call.cancel()
            await server.aclose()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert children() == []


async def test_P7_what_a_server_leaves_running_is_ended_with_it(servers: Servers) -> None:
    """It ends politely itself, but had started something that does not."""
    script = f"sleep 1000 & {sys.executable} {servers.fixtures / 'misbehave.py'} ok"
    server = servers.program(["sh", "-c", script])
    await server.connect()
    await server.aclose()
    assert children() == []
