"""A tool server that does what a script says."""

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, TypeAlias

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.domain.model.blocks import ResultBlock
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.ports.tool import ToolOutput
from norma.ports.tool_server import (
    LibraryServer,
    OutcomeUnknown,
    Prompt,
    Resource,
    ServerFailed,
    ServerInfo,
    ServerTool,
)

Answer: TypeAlias = ToolOutput | str | Exception | Gate
"""What a call comes to: a text or an output, an exception, or a gate that is opened with one of them."""


class ServerDied(Exception):
    """As the answer to a call: the server is gone once it has got it. The next use starts it again."""


class ScriptedServer(LibraryServer):
    """
    A server called *name* with *tools*; *answers* gives a call's answer by tool and arguments.

    A call that nobody scripted is an AssertionError. *start* fails the connection, or holds it at a gate.
    """

    def __init__(
        self,
        name: str,
        *,
        tools: Sequence[ServerTool] = (),
        answers: Callable[[str, Mapping[str, Any]], Answer] | None = None,
        start: Failure | Gate | None = None,
        resources: Mapping[Resource, tuple[ResultBlock, ...]] | None = None,
        prompts: Mapping[Prompt, tuple[Message, ...]] | None = None,
    ) -> None:
        self._name = name
        self._tools = tuple(tools)
        self._answers = answers
        self._start = start
        self._resources = dict(resources or {})
        self._prompts = dict(prompts or {})
        self._up = False
        self._was_up = False
        self._closed = False
        self._called = Counter()
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        """Every call that reached the server, in order."""
        self.starts = 0
        """How often it was started."""
        self.running = 0
        """How many calls have begun and not ended in any way."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def shows(self) -> str:
        return f"scripted {self._name}"

    @property
    def info(self) -> ServerInfo | None:
        if not self._up:
            return None
        offered: dict[str, Any] = {"tools": {}, **({"resources": {}} if self._resources else {})}
        return ServerInfo("2025-11-25", self._name, "1", capabilities=offered)

    @property
    def tools(self) -> tuple[ServerTool, ...]:
        return self._tools if self._was_up else ()

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def change(self, *tools: ServerTool) -> None:
        """The server has other tools from now on."""
        self._tools = tools

    async def called(self, calls: int = 1) -> None:
        """Return as soon as that many calls have come."""
        await self._called.reached(calls)

    async def connect(self) -> None:
        if self._closed:
            raise self._failed("is closed")
        if self._up:
            return
        self.starts += 1
        if isinstance(self._start, Gate):
            await self._start
        elif self._start is not None:
            raise ServerFailed(self._start)
        self._up = self._was_up = True

    async def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[str], None] | None = None
    ) -> ToolOutput:
        repeatable = any(one.name == tool and one.hints.repeatable for one in self._tools)
        for last in (False, True):
            await self._use()
            try:
                return await self._answer(tool, arguments)
            except ServerDied as error:
                self._up = False
                if last or not repeatable:
                    message = f"the tool server {self._name} died; the outcome of this call is unknown"
                    raise OutcomeUnknown(Failure("server", message)) from error
        raise AssertionError("the second try returns or raises")

    async def resources(self) -> tuple[Resource, ...]:
        await self._use()
        return tuple(self._resources)

    async def read(self, uri: str) -> tuple[ResultBlock, ...]:
        await self._use()
        for resource, blocks in self._resources.items():
            if resource.uri == uri:
                return blocks
        raise ServerFailed(Failure("not_found", f"the tool server {self._name} has no {uri}"))

    async def prompts(self) -> tuple[Prompt, ...]:
        await self._use()
        return tuple(self._prompts)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Message, ...]:
        await self._use()
        for prompt, messages in self._prompts.items():
            if prompt.name == name:
                return messages
        raise ServerFailed(Failure("invalid_request", f"the tool server {self._name} has no prompt {name}"))

    async def aclose(self) -> None:
        self._closed = True
        self._up = False

    async def _use(self) -> None:
        if not self._was_up:
            raise self._failed("is not connected")
        await self.connect()

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        self.calls.append((tool, arguments))
        self._called.add()
        if self._answers is None:
            raise AssertionError(f"nobody scripted this call of {tool}: {dict(arguments)!r}")
        self.running += 1
        try:
            answer: Any = self._answers(tool, arguments)
            if isawaitable(answer):
                answer = await answer
        finally:
            self.running -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ToolOutput) else ToolOutput.of(answer)

    def _failed(self, what: str) -> ServerFailed:
        return ServerFailed(Failure("server", f"the tool server {self._name} {what}"))
