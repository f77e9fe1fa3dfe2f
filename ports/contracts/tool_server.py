"""The promises of the tool-server port."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from norma.domain.model.blocks import text_of
from norma.domain.model.values import frozen
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import ended, raises, start, until, within
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import LibraryServer, OutcomeUnknown, ServerFailed, ServerTool, ToolHints

ANY_OBJECT = {"type": "object", "properties": {}}
ECHO, FAILS, ENDLESS, DIES, READS, HIDDEN = "echo", "fails", "endless", "dies", "reads", "hidden"
LISTED = (
    ServerTool(ECHO, "Says its text.", ANY_OBJECT),
    ServerTool(FAILS, "Gives an error.", ANY_OBJECT),
    ServerTool(ENDLESS, "Never answers.", ANY_OBJECT),
    ServerTool(DIES, "Ends the server when it gets a call.", ANY_OBJECT),
    ServerTool(READS, "Ends the server at its first call, answers the second.", ANY_OBJECT, ToolHints(True)),
)
"""The tools that a rig's server lists. It answers *hidden*, too, as it does echo, and does not list it."""
LATER = ServerTool("later", "Was not there before.", ANY_OBJECT)


@frozen
class ToolServerRig:
    """
    A server with the tools in `LISTED`, not connected.

    *calls* says which tools were called so far, as the other side saw it. *change* lets it list `LATER`, too,
    and returns when its notice is on the way. *starts* is how often it was started. *left* says what is still
    about after it was closed, empty if nothing is.
    """

    server: LibraryServer
    calls: Callable[[], Sequence[str]]
    change: Callable[[], Awaitable[None]]
    starts: Callable[[], int]
    left: Callable[[], str] = lambda: ""


async def check_nothing_before_connect(rig: ToolServerRig) -> None:
    """Before it is connected nothing is started, and it has a name and something to show."""
    server = rig.server
    assert server.name, "a server has a name"
    assert server.shows.strip(), "a server shows what connecting will start or reach"
    assert server.tools == (), "a server that is not connected has no tools"
    assert server.info is None, "a server that is not connected said nothing of itself"
    await raises(ServerFailed, server.call(ECHO, {"text": "x"}), "a call before connecting fails")
    assert rig.starts() == 0, "nothing is started before connect"


async def check_p1_connect_lists_the_tools(rig: ToolServerRig) -> None:
    """Connected, the tools are there, each name once, the same tuple each time."""
    server = rig.server
    await within(server.connect(), "connecting comes to its end")
    assert server.info is not None, "a connected server said something of itself"
    assert server.info.protocol, "a connection has a version"
    assert [tool.name for tool in server.tools] == [tool.name for tool in LISTED], (
        "every tool is listed, in order"
    )
    assert server.tools is server.tools, "while nothing changes the tuple is the same object"
    hints = {tool.name: tool.hints.repeatable for tool in server.tools}
    assert hints == {tool.name: tool.hints.repeatable for tool in LISTED}, "hints are kept"


async def check_connect_again_starts_nothing(rig: ToolServerRig) -> None:
    """Connecting what is connected does nothing, also many times at once."""
    tasks = [start(rig.server.connect()) for _ in range(3)]
    for task in tasks:
        await ended(task, "connecting comes to its end")
        task.result()
    await within(rig.server.connect(), "connecting again comes to its end")
    assert rig.starts() == 1, f"it is started once, not {rig.starts()} times"


async def check_p3_output_is_what_the_server_said(rig: ToolServerRig) -> None:
    """Results and errors of the server are outputs, of tools that are not listed too."""
    await rig.server.connect()
    assert await _echo(rig, "grüße") == "grüße", "the output is what the server said"
    failed = await within(rig.server.call(FAILS, {}), "a call comes to its end")
    assert isinstance(failed, ToolOutput), "a call gives a ToolOutput"
    assert failed.is_error, "the server's error is an error output"
    hidden = await within(rig.server.call(HIDDEN, {"text": "x"}), "a call comes to its end")
    assert text_of(hidden.blocks) == "x", "a tool that is not listed is called all the same"


async def check_p3_many_calls_at_once(rig: ToolServerRig) -> None:
    """Each of many calls gets its own answer."""
    await rig.server.connect()
    tasks = [start(_echo(rig, str(number))) for number in range(20)]
    for number, task in enumerate(tasks):
        await ended(task, "a call comes to its end")
        assert task.result() == str(number), "each call gets its own answer"


async def check_p2_changed_tools_are_seen(rig: ToolServerRig) -> None:
    """A changed list is another tuple, and calls go on meanwhile."""
    await rig.server.connect()
    before = rig.server.tools
    await rig.change()
    await _echo(rig, "x")
    await until(lambda: rig.server.tools is not before, "a change of the list is seen", seconds=4)
    assert LATER.name in {tool.name for tool in rig.server.tools}, "what is new is listed"


async def check_p8_lost_outcome_is_unknown_and_not_repeated(rig: ToolServerRig) -> None:
    """A call that the server took with it is unknown, and was made once."""
    await rig.server.connect()
    await raises(OutcomeUnknown, rig.server.call(DIES, {}), "the outcome of a lost call is unknown")
    assert rig.calls().count(DIES) == 1, "a call that may have had an effect is not repeated"


async def check_p8_what_only_reads_is_repeated_once(rig: ToolServerRig) -> None:
    """A lost call of a tool that only reads is made again, and the server is started again for it."""
    await rig.server.connect()
    output = await within(rig.server.call(READS, {}), "a repeated call comes to its end")
    assert not output.is_error, "the second time it is answered"
    assert rig.calls().count(READS) == 2, f"it is made twice, not {rig.calls().count(READS)} times"
    assert rig.starts() == 2, f"it is started twice, not {rig.starts()} times"


async def check_p6_cancel_everywhere_in_a_call(rig: ToolServerRig) -> None:
    """Cancelled at any await, a call lets the cancellation through, and the next one works."""
    await rig.server.connect()
    seen = 0

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        nonlocal seen
        seen = len(rig.calls())
        yield Scenario(rig.server.call(ENDLESS, {}), lambda: len(rig.calls()) > seen, after)

    async def after() -> None:
        assert await _echo(rig, "next") == "next", "after a cancelled call the next one works"

    await cancel_everywhere(make, "cancellation passes through a call", most=20)


async def check_p7_closed_for_good(rig: ToolServerRig) -> None:
    """Closing ends it and what waits; again it does nothing; later uses fail and start nothing."""
    await rig.server.connect()
    waiting = start(rig.server.call(ENDLESS, {}))
    await until(lambda: ENDLESS in rig.calls(), "the call arrives")
    closing = [start(rig.server.aclose()) for _ in range(2)]
    for task in closing:
        await ended(task, "closing comes to its end")
        task.result()
    assert not rig.left(), f"nothing is left behind: {rig.left()}"
    if waiting.done():
        assert isinstance(waiting.exception(), ServerFailed), "a call that waits fails when it is closed"
    waiting.cancel()
    await ended(waiting, "a call that waits ends")
    await raises(ServerFailed, rig.server.connect(), "what is closed is not connected again")
    await raises(ServerFailed, rig.server.call(ECHO, {"text": "x"}), "what is closed is not called")
    assert rig.starts() == 1, "what is closed is not started again"


async def check_p7_closed_before_it_was_connected(rig: ToolServerRig) -> None:
    """Closing what never was connected is fine."""
    await within(rig.server.aclose(), "closing comes to its end")
    assert rig.starts() == 0, "closing starts nothing"


async def _echo(rig: ToolServerRig, text: str) -> str:
    output = await within(rig.server.call(ECHO, {"text": text}), "a call comes to its end")
    assert not output.is_error, f"echo is no error: {output}"
    return text_of(output.blocks)


CHECKS = (
    check_nothing_before_connect,
    check_p1_connect_lists_the_tools,
    check_connect_again_starts_nothing,
    check_p3_output_is_what_the_server_said,
    check_p3_many_calls_at_once,
    check_p2_changed_tools_are_seen,
    check_p8_lost_outcome_is_unknown_and_not_repeated,
    check_p8_what_only_reads_is_repeated_once,
    check_p6_cancel_everywhere_in_a_call,
    check_p7_closed_for_good,
    check_p7_closed_before_it_was_connected,
)
