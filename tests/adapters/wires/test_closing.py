"""N6: whoever loses interest in a reply closes its connection at once, in every place."""

import asyncio
import gc

import pytest

from norma.adapters.memory.clock import ManualClock
from norma.domain.model.replies import ReplyFinished, TextDelta
from tests.adapters.wires.answers import BEGUN, DELTA, FINE, events, message_start, unnamed
from tests.rigs.wire_models import WIRES, a_request, an_egress, model_against
from tests.rigs.wire_server import JSON, Scripted, WireServer, wire_server

WITHIN_S = 1.0


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def endless(wire: str) -> Scripted:
    """Begins an answer and goes on for ever."""
    return Scripted([BEGUN[wire], DELTA[wire]], end="hold_open", repeat=DELTA[wire])


def silent(wire: str) -> Scripted:
    """Begins an answer and says no more."""
    return Scripted([BEGUN[wire], DELTA[wire]], end="hold_open")


async def closed(server: WireServer) -> None:
    """The server sees the close within a second, without a collection of garbage."""
    async with asyncio.timeout(WITHIN_S):
        await server.client_closed.wait()


@pytest.fixture(autouse=True)
def no_garbage_collection() -> object:
    gc.disable()
    yield
    gc.enable()


async def test_N6_cancel_while_waiting_for_a_chunk(wire: str) -> None:
    async with model_against(wire, silent(wire)) as (model, server):
        reply = model.reply(a_request())
        assert await anext(reply) == TextDelta("x")
        reading = asyncio.ensure_future(anext(reply))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await closed(server)
        with pytest.raises(StopAsyncIteration):
            await anext(reply)
        assert len(server.requests) == 1


async def test_N6_cancel_while_the_headers_are_waited_for(wire: str) -> None:
    async with model_against(wire, Scripted(end="hold_open")) as (model, server):
        reply = model.reply(a_request())
        reading = asyncio.ensure_future(anext(reply))
        await server.asked.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await closed(server)


async def test_N6_the_readers_task_is_cancelled_between_two_events(wire: str) -> None:
    """Somebody else still holds the reply."""
    async with model_against(wire, endless(wire)) as (model, server):
        reply = model.reply(a_request())
        got_one = asyncio.Event()

        async def read() -> None:
            async for _ in reply:
                got_one.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(read())
        await got_one.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await closed(server)
        with pytest.raises(StopAsyncIteration):
            await anext(reply)


async def test_N6_the_readers_task_ends_with_an_error(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        reply = model.reply(a_request())

        async def read() -> None:
            async for _ in reply:
                raise LookupError("the host's own")

        with pytest.raises(LookupError):
            await asyncio.create_task(read())
        await closed(server)


async def test_N6_the_task_counts_that_read_last_also_when_it_took_what_was_there(wire: str) -> None:
    two = Scripted([BEGUN[wire] + DELTA[wire] * 2], end="hold_open")
    async with model_against(wire, two) as (model, server):
        reply = model.reply(a_request())
        assert await anext(reply) == TextDelta("x")

        async def read() -> None:
            assert await anext(reply) == TextDelta("x")
            raise LookupError("the host's own")

        with pytest.raises(LookupError):
            await asyncio.create_task(read())
        await closed(server)


async def test_N6_an_error_of_the_reader_is_still_reported_by_its_task(wire: str) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    async with model_against(wire, silent(wire)) as (model, server):
        reply = model.reply(a_request())

        async def read() -> None:
            await anext(reply)
            raise LookupError("nobody asks for it")

        task = asyncio.create_task(read())
        await closed(server)
        del task
    assert [type(error) for error in reported] == [LookupError]


async def test_N6_a_reader_that_ends_well_closes_nothing(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        reply = model.reply(a_request())
        for _ in range(3):  # each in a task of its own, as wait_for did before 3.12
            assert await asyncio.ensure_future(anext(reply)) == TextDelta("x")
        assert not server.client_closed.is_set()
        await reply.aclose()
        await closed(server)


async def test_N6_dropping_the_last_reference(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        async for _ in model.reply(a_request()):
            break
        await closed(server)


async def test_N6_dropping_it_in_a_task_that_goes_on(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        over = asyncio.Event()

        async def read_one() -> None:
            async for _ in model.reply(a_request()):
                break
            await over.wait()

        task = asyncio.create_task(read_one())
        await closed(server)
        over.set()
        await task


async def test_N6_leaving_the_context_and_closing_twice(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        async with model.reply(a_request()) as reply:
            await anext(reply)
        await closed(server)
        await reply.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(reply)


async def test_N6_cancel_during_a_wait_before_a_retry_sends_nothing_more(wire: str) -> None:
    clock = ManualClock()
    async with wire_server(Scripted([b"{}"], 503, JSON)) as server, an_egress() as egress:
        model = WIRES[wire](egress, clock, base_url=server.url, model="m", api_key=None)
        reading = asyncio.ensure_future(anext(model.reply(a_request())))
        await clock.sleeping()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        clock.advance(100)
        await asyncio.sleep(0)
        assert len(server.requests) == 1


async def test_N6_nothing_is_sent_before_the_first_read(wire: str) -> None:
    async with model_against(wire, endless(wire)) as (model, server):
        async with model.reply(a_request()):
            pass
        reply = model.reply(a_request())
        await reply.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(reply)
        assert server.connections == 0


async def test_N6_a_reply_has_one_reader_at_a_time(wire: str) -> None:
    async with model_against(wire, silent(wire)) as (model, _):
        reply = model.reply(a_request())
        await anext(reply)
        reading = asyncio.ensure_future(anext(reply))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="one reader"):
            await anext(reply)
        assert not reading.done()
        await reply.aclose()
        with pytest.raises(StopAsyncIteration):
            await reading


async def test_N6_the_watch_on_the_reader_goes_with_the_reply(wire: str) -> None:
    """A task that reads many replies is not burdened with them."""
    async with model_against(wire, FINE[wire]) as (model, _):
        task = asyncio.current_task()
        before = len(getattr(task, "_callbacks", None) or ())
        for _ in range(5):
            async for event in model.reply(a_request()):
                if isinstance(event, ReplyFinished):
                    break
            async for _ in model.reply(a_request()):
                break
        assert len(getattr(task, "_callbacks", None) or ()) == before


async def test_a_finished_replys_connection_serves_the_next(wire: str) -> None:
    async with model_against(wire, FINE[wire]) as (model, server):
        for _ in range(3):
            async for _ in model.reply(a_request()):
                pass
        assert len(server.requests) == 3
        assert server.connections == 1


async def test_a_server_that_goes_on_after_the_end_mark_delays_nothing_and_is_left(wire: str) -> None:
    goes_on = Scripted(FINE[wire].chunks, end="hold_open")
    async with model_against(wire, goes_on) as (model, server):
        async with asyncio.timeout(5):
            events = [event async for event in model.reply(a_request())]
        assert isinstance(events[-1], ReplyFinished)
        await closed(server)


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
async def test_M9_a_cancelled_reply_is_metered_as_such(wire: str) -> None:
    usage = {
        "anthropic": events(message_start(input_tokens=7, output_tokens=1)),
        "openai-chat": unnamed({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}),
    }
    async with model_against(wire, Scripted([usage[wire] + DELTA[wire]], end="hold_open")) as (model, _):
        reply = model.reply(a_request())
        await anext(reply)
        await reply.aclose()
        (attempt,) = reply.attempts  # type: ignore[attr-defined]  # beyond the port
        assert (attempt.outcome, attempt.usage.input_tokens) == ("cancelled", 7)
        assert attempt.usage.provenance == "partial"
