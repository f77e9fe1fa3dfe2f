"""
A model whose server starts with the first reply.

Above: whoever owns the model, and closes it. Below: `server`, and the chat adapter that *make_inner* makes
for its address.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from types import TracebackType
from typing import Self

from attrs import evolve

from norma.adapters.embedded.failures import EmbeddedFailed
from norma.adapters.embedded.server import EmbeddedServer, Endpoint
from norma.domain.model.failures import Failure
from norma.domain.model.replies import ReplyEvent
from norma.domain.model.requests import ReplyRequest
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel, Reply


class EmbeddedModel(ChatModel):
    """
    The chat wire over an embedded server.

    The file is got and the server started by the first reply that is read, once for all of them; a reply
    that is cancelled meanwhile gives the work up. A server that died is started anew by the next reply.
    `aclose` ends it, and replies after it fail.
    """

    def __init__(
        self,
        gguf: Callable[[], Awaitable[str]],
        make_inner: Callable[[Endpoint], ChatModel],
        *,
        name: str = "SmolLM2-135M, embedded",
        make_server: Callable[[str], EmbeddedServer] = EmbeddedServer,
    ) -> None:
        """*gguf* gives the path of the weights; *make_server* makes a server for it, not yet started."""
        self._gguf = gguf
        self._make_inner = make_inner
        self._name = name
        self._make_server = make_server
        self._starting = asyncio.Lock()
        self._server: EmbeddedServer | None = None
        self._inner: ChatModel | None = None
        self._closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def server(self) -> EmbeddedServer | None:
        """The server, if one was started."""
        return self._server

    def reply(self, request: ReplyRequest) -> Reply:
        return _LazyReply(self, request)

    async def inner(self) -> ChatModel:
        """
        The model behind a server that runs; starts it if there is none.

        Raises ModelError.
        """
        async with self._starting:  # the others wait; if this one is cancelled, the next one starts
            if self._closed:
                raise ModelError(Failure("internal", f"{self._name} is closed"))
            if self._inner is not None and self._server is not None and self._server.alive:
                return self._inner
            await self._end_server()
            try:
                self._server = self._make_server(await self._gguf())
                endpoint = await self._server.start()
            except EmbeddedFailed as error:
                raise ModelError(error.failure) from error
            self._inner = self._make_inner(endpoint)
            return self._inner

    async def aclose(self) -> None:
        """End the server and wait for it. A start under way fails; a fetch under way is waited for."""
        self._closed = True
        await self._end_server()
        async with self._starting:
            await self._end_server()

    async def _end_server(self) -> None:
        server, self._server, self._inner = self._server, None, None
        if server is not None:
            await server.aclose()


class _LazyReply(Reply):
    def __init__(self, model: EmbeddedModel, request: ReplyRequest) -> None:
        self._model = model
        self._request = request
        self._inner: Reply | None = None
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        if self._closed:
            raise StopAsyncIteration
        try:
            if self._inner is None:
                self._inner = (await self._model.inner()).reply(_on_a_connection_of_its_own(self._request))
            return await self._inner.__anext__()
        except ModelError as error:
            self._closed = True
            raise await _explained(error, self._model.server) from error
        except BaseException:
            self._closed = True
            raise

    def ready(self) -> Iterator[ReplyEvent]:
        return iter(()) if self._inner is None or self._closed else self._inner.ready()

    async def aclose(self) -> None:
        self._closed = True
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _on_a_connection_of_its_own(request: ReplyRequest) -> ReplyRequest:
    """
    The request, asking that its connection be closed behind it.

    llama.cpp offers to keep a connection and then closes it after each stream; the next request on it
    would race with that.
    """
    headers = {"Connection": "close", **request.options.extra_headers}
    return evolve(request, options=evolve(request.options, extra_headers=headers))


async def _explained(error: ModelError, server: EmbeddedServer | None) -> ModelError:
    """The error, with the server's end as its reason where that is what happened."""
    if server is None or error.failure.source == "local" or not await server.has_ended():
        return error
    failure = evolve(error.failure, message=f"{server.obituary()} ({error.failure.message})")
    return ModelError(failure, partial=error.partial, usage=error.usage, attempts=error.attempts)
