"""
The tool-server port over MCP: one server, kept at work.

It is connected once; when it dies, the next use starts it again as far as its restart budget goes, and fails
fast beyond it. Its lists are kept, and read again when it says that they have changed: one reading at a time,
however many notices come.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from norma.adapters.mcp.channel import Channel
from norma.adapters.mcp.client import Client, Progress, RequestFailed, Unanswered, unanswered
from norma.adapters.mcp.content import messages_of, output_of, resource_block
from norma.adapters.mcp.frames import METHOD_NOT_FOUND, RpcError
from norma.adapters.mcp.listing import Pages, prompts_of, resources_of, tools_of
from norma.adapters.mcp.restarts import RestartBudget, RestartPolicy
from norma.domain.model.blocks import ResultBlock
from norma.domain.model.failures import Failure, FailureKind
from norma.domain.model.messages import Message
from norma.ports.clock import Clock
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import (
    Offers,
    OutcomeUnknown,
    Prompt,
    Resource,
    ServerFailed,
    ServerInfo,
    ServerLibrary,
    ServerTool,
    ToolServer,
)

SETTLE_S = 0.03
"""Between handshake and first list: servers that ask for roots set up their tools after the answer."""
QUIET_S = 0.25
MOST_QUIET_S = 5.0
"""Between readings of a list whose change notices don't stop; it doubles."""
REFRESH_S = 2.0
"""How long a call's result waits for a changed list, so that the next model call has the new tools."""
MOST_NOTES = 50


class McpServer(ToolServer, ServerLibrary):
    """
    *channel* makes a new way to the server for each connection; *shows* is what that starts or reaches.

    *request_s* bounds the handshake and every request but a tool's call, which *call_s* bounds; None: nothing
    does. Progress extends neither.
    """

    def __init__(
        self,
        name: str,
        shows: str,
        channel: Callable[[], Channel],
        clock: Clock,
        *,
        offers: Offers | None = None,
        protocol: str | None = None,
        request_s: float | None = 60.0,
        call_s: float | None = 600.0,
        restarts: RestartPolicy | None = None,
    ) -> None:
        self._name = name
        self._shows = shows
        self._channel = channel
        self._clock = clock
        self._offers = offers or Offers()
        self._protocol = protocol
        self._request_s = request_s
        self._call_s = call_s
        self._budget = RestartBudget(restarts or RestartPolicy())
        self._connecting = asyncio.Lock()
        self._client: Client | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._tools: tuple[ServerTool, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._was_up = False
        self._closed = False
        self._stale = False
        self._refreshing = False
        self._reading: asyncio.Future[None] | None = None
        self._info: ServerInfo | None = None
        self._last: Failure | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def shows(self) -> str:
        return self._shows

    @property
    def info(self) -> ServerInfo | None:
        return self._info

    @property
    def tools(self) -> tuple[ServerTool, ...]:
        return self._tools

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    @property
    def waiting(self) -> int:
        """How many requests wait for their answer."""
        return 0 if self._client is None else self._client.waiting

    async def connect(self) -> None:
        async with self._connecting:
            if self._closed:
                raise ServerFailed(self._failure("is closed"))
            if self._client is not None and self._client.alive:
                return
            await self._drop()
            await self._start()

    async def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Progress | None = None
    ) -> ToolOutput:
        params = {"name": tool, "arguments": arguments}
        try:
            result = await self._do("tools/call", params, self._may_repeat(tool), self._call_s, progress)
        except RequestFailed as error:
            return ToolOutput.of(_said(error.error), is_error=True)
        if self._reading is not None:
            await asyncio.wait((self._reading,), timeout=REFRESH_S)
        return output_of(result)

    async def resources(self) -> tuple[Resource, ...]:
        if not await self._offers_any("resources"):
            return ()
        plain = await self._listed("resources/list", "resources")
        templates = await self._listed("resources/templates/list", "resourceTemplates")
        return resources_of(plain.items, template=False) + resources_of(templates.items, template=True)

    async def read(self, uri: str) -> tuple[ResultBlock, ...]:
        result = await self._answer("resources/read", {"uri": uri})
        contents = result.get("contents") if isinstance(result, Mapping) else None
        if not isinstance(contents, list):
            raise ServerFailed(self._failure(f"gave no contents for {uri}", "protocol"))
        return tuple(resource_block(one) for one in contents)

    async def prompts(self) -> tuple[Prompt, ...]:
        if not await self._offers_any("prompts"):
            return ()
        return prompts_of((await self._listed("prompts/list", "prompts")).items)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Message, ...]:
        result = await self._answer("prompts/get", {"name": name, "arguments": dict(arguments)})
        try:
            return messages_of(result)
        except ValueError as error:
            raise ServerFailed(
                self._failure(f"gave a prompt that can't be read: {error}", "protocol")
            ) from error

    async def aclose(self) -> None:
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        try:
            await self._drop()
        finally:
            if tasks:
                await asyncio.wait(tasks)

    # -- its life

    async def _start(self) -> None:
        """Connect anew. Whatever goes wrong, nothing of it is left."""
        if self._was_up:
            wait = self._budget.take(self._clock.monotonic())
            if wait is None:
                raise ServerFailed(self._spent())
            if wait:
                await self._clock.sleep(wait)
        client = Client(
            self._name,
            self._channel(),
            self._offers,
            protocol=self._protocol,
            changed=self._changed,
            ended=self._ended,
        )
        self._client = client  # so that `aclose` finds it whenever it comes
        try:
            await client.open(self._request_s)
            self._info = client.info
            self._stale = False
            await self._settle(client)
            await self._list_tools(client)
        except BaseException:
            await client.aclose()
            raise
        self._was_up = True
        self._listen(client)

    def _spent(self) -> Failure:
        """Why it is not started again, and how it ended the last time."""
        limit = self._budget.policy
        how = "is not connected" if self._last is None else f"was lost before: {self._last.message}"
        allowed = f"within {limit.window_s:g} s the settings allow {limit.restarts} restarts (mcp.restarts)"
        return self._failure(f"{how}\nIt is not started again: {allowed}.")

    async def _settle(self, client: Client) -> None:
        if client.info is not None and "tools" in client.info.capabilities:
            await asyncio.sleep(SETTLE_S)
            self._stale = False

    async def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _ended(self) -> None:
        """The connection is lost: what is left of the process is ended now, not at the next use."""
        self._info = None
        client = self._client
        self._last = None if client is None else client.failure
        if client is not None and not self._closed:
            self._own(client.aclose())

    def _own(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._note([f"a fault in the background: {type(error).__name__}: {error}"])

    # -- requests

    async def _do(
        self,
        method: str,
        params: Mapping[str, Any],
        repeatable: bool,
        timeout_s: float | None,
        progress: Progress | None = None,
    ) -> Any:
        """One request; made again once if it was never made, or if it may be. Raises RequestFailed too."""
        for last in (False, True):
            client = await self._connected()
            try:
                return await client.interactive(method, params, timeout_s=timeout_s, progress=progress)
            except Unanswered as error:
                if last or (error.sent and not repeatable):
                    raise unanswered(error) from error
                try:
                    await self.connect()
                except ServerFailed as failed:
                    raise (OutcomeUnknown if error.sent else ServerFailed)(failed.failure) from error
        raise AssertionError("the second try returns or raises")

    async def _connected(self) -> Client:
        if not self._was_up:
            raise ServerFailed(self._failure("is not connected"))
        if self._client is None or not self._client.alive:
            await self.connect()
        assert self._client is not None
        return self._client

    async def _answer(self, method: str, params: Mapping[str, Any]) -> Any:
        """The result of a request that only reads."""
        try:
            return await self._do(method, params, True, self._request_s)
        except RequestFailed as error:
            kind: FailureKind = (
                "not_found" if error.error.code in (-32002, METHOD_NOT_FOUND) else "invalid_request"
            )
            failure = Failure(kind, f"the tool server {self._name} answered: {_said(error.error)}", "api")
            raise ServerFailed(failure) from error

    def _may_repeat(self, tool: str) -> bool:
        return any(one.name == tool and one.hints.repeatable for one in self._tools)

    async def _offers_any(self, what: str) -> bool:
        info = (await self._connected()).info
        return info is not None and what in info.capabilities

    async def _listed(self, method: str, key: str) -> Pages:
        pages = Pages(key)
        cursor: str | None = None
        while True:
            try:
                result = await self._answer(method, {} if cursor is None else {"cursor": cursor})
            except ServerFailed as error:
                if error.failure.kind != "not_found":
                    raise
                return pages
            cursor = pages.take(result)
            if cursor is None:
                return pages

    # -- the list of tools

    async def _list_tools(self, client: Client) -> None:
        """Read the list; what broke off is kept as far as it came, with a note."""
        pages = Pages("tools")
        if client.info is not None and "tools" in client.info.capabilities:
            cursor: str | None = None
            while True:
                params = {} if cursor is None else {"cursor": cursor}
                try:
                    result = await client.request("tools/list", params, timeout_s=self._request_s)
                except RequestFailed as error:
                    if error.error.code != METHOD_NOT_FOUND or cursor is not None:
                        pages.notes.append(f"the list of tools broke off: {_said(error.error)}")
                    break
                except Unanswered as error:
                    if not pages.items:
                        raise ServerFailed(error.failure) from error
                    pages.notes.append(f"the list of tools broke off: {error.failure.message}")
                    break
                cursor = pages.take(result)
                if cursor is None:
                    break
        tools, notes = tools_of(pages.items)
        if tools != self._tools:
            self._tools = tools
        self._notes = ()
        self._note(pages.notes + notes)

    def _note(self, notes: list[str]) -> None:
        self._notes = (*self._notes, *notes)[:MOST_NOTES]

    def _changed(self, what: str) -> None:
        if what != "tools" or self._client is None:
            return
        self._stale = True
        if self._was_up and not self._refreshing:
            self._refreshing = True
            self._reading = asyncio.get_running_loop().create_future()
            self._own(self._refresh(self._reading))

    async def _refresh(self, reading: "asyncio.Future[None]") -> None:
        quiet = QUIET_S
        try:
            while self._stale and (client := self._client) is not None and client.alive:
                self._stale = False
                await self._list_tools(client)
                self._read(reading)
                if self._stale:
                    await self._clock.sleep(quiet)
                    quiet = min(2 * quiet, MOST_QUIET_S)
        except (ServerFailed, Unanswered) as error:
            self._note([f"the changed list of tools could not be read: {error}"])
        finally:
            self._refreshing = False
            self._read(reading)

    def _read(self, reading: "asyncio.Future[None]") -> None:
        """Calls need not wait any more for the changed list."""
        self._reading = None
        if not reading.done():
            reading.set_result(None)

    def _listen(self, client: Client) -> None:
        """In the generation without a handshake, changes are told only to who asks."""
        info = client.info
        if info is None or not client.stateless:
            return
        wanted = {
            f"{what}ListChanged": True
            for what in ("tools", "resources", "prompts")
            if isinstance(offered := info.capabilities.get(what), Mapping) and offered.get("listChanged")
        }
        if wanted:
            self._own(self._subscribe(client, {"notifications": wanted}))

    async def _subscribe(self, client: Client, params: Mapping[str, Any]) -> None:
        try:
            await client.request("subscriptions/listen", params, timeout_s=None)
        except RequestFailed as error:
            self._note([f"changes of its lists will not be seen: {_said(error.error)}"])
        except Unanswered:
            return  # the connection is over, and so is this

    def _failure(self, what: str, kind: FailureKind = "server") -> Failure:
        return Failure(kind, f"the tool server {self._name} {what}")


def _said(error: RpcError) -> str:
    data = "" if error.data is None else f"\n{str(error.data)[:2_000]}"
    return f"{error}{data}"
