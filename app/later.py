"""
Adapters and makers that are imported when they are called, under the names that they have at home.

To mypy each name is the real class or function, so it checks the fit in the container; at run time each is a
function that imports, then calls. What every turn needs at once is not here. The stand-ins at the end are for
parts that every tool box holds and few turns use: each makes the real part when it is first asked something.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from norma.domain.model.failures import Failure
from norma.ports.commands import Command, CommandEnd, CommandRunner
from norma.ports.documents import DocumentPage, Documents
from norma.ports.errors import ModelError
from norma.ports.file_search import FileSearch, Permit, SearchQuery, SearchResult
from norma.ports.files import IgnoreList, IgnoreRules
from norma.ports.model import ChatModel
from norma.ports.page_fetch import Hop, Page, PageFetch, PageRequest
from norma.ports.web_search import DEFAULT_RESULTS, SearchAnswer, WebSearch

if TYPE_CHECKING:
    from norma.adapters.anthropic.model import AnthropicModel
    from norma.adapters.embedded.lazy import EmbeddedModel
    from norma.adapters.grep.ignoring import GitIgnore
    from norma.adapters.grep.search import GrepSearch
    from norma.adapters.openai_chat.model import OpenAIChatModel
    from norma.adapters.openai_responses.model import OpenAIResponsesModel
    from norma.adapters.pdf.documents import PdfDocuments
    from norma.adapters.process.runner import ShellRunner
    from norma.adapters.urls.parser import StandardUrls
    from norma.app.embedding import embedded_model
    from norma.app.server_offers import server_offers
    from norma.app.tool_servers import tool_servers
    from norma.app.web import web_pages, web_search
    from norma.domain.model.requests import ReplyRequest
    from norma.domain.tools.servers import ServerTools
    from norma.ports.model import Reply
    from norma.ports.urls import WebUrl
else:

    def _later(home: str, name: str) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            from importlib import import_module

            return getattr(import_module(home), name)(*args, **kwargs)

        return make

    AnthropicModel = _later("norma.adapters.anthropic.model", "AnthropicModel")
    GitIgnore = _later("norma.adapters.grep.ignoring", "GitIgnore")
    GrepSearch = _later("norma.adapters.grep.search", "GrepSearch")
    OpenAIChatModel = _later("norma.adapters.openai_chat.model", "OpenAIChatModel")
    OpenAIResponsesModel = _later("norma.adapters.openai_responses.model", "OpenAIResponsesModel")
    PdfDocuments = _later("norma.adapters.pdf.documents", "PdfDocuments")
    ShellRunner = _later("norma.adapters.process.runner", "ShellRunner")
    ServerTools = _later("norma.domain.tools.servers", "ServerTools")
    StandardUrls = _later("norma.adapters.urls.parser", "StandardUrls")
    embedded_model = _later("norma.app.embedding", "embedded_model")
    server_offers = _later("norma.app.server_offers", "server_offers")
    tool_servers = _later("norma.app.tool_servers", "tool_servers")
    web_pages = _later("norma.app.web", "web_pages")
    web_search = _later("norma.app.web", "web_search")

__all__ = [
    "AnthropicModel",
    "GitIgnore",
    "GrepSearch",
    "LaterCommands",
    "LaterDocuments",
    "LaterEmbedded",
    "LaterIgnores",
    "LaterPages",
    "LaterSearch",
    "LaterWebSearch",
    "OpenAIChatModel",
    "OpenAIResponsesModel",
    "PdfDocuments",
    "ServerTools",
    "ShellRunner",
    "StandardUrls",
    "embedded_model",
    "server_offers",
    "tool_servers",
    "web_pages",
    "web_search",
]

T = TypeVar("T")


class _Once(Generic[T]):
    """What *make* makes, made at the first `get`. Not safe for threads: parts are used on one loop."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.made: T | None = None

    def get(self) -> T:
        if self.made is None:
            self.made = self._make()
        return self.made


class LaterSearch(FileSearch):
    """The search that *make* makes, from its first query on."""

    def __init__(self, make: Callable[[], FileSearch]) -> None:
        self._part = _Once(make)

    async def search(
        self,
        query: SearchQuery,
        *,
        progress: Callable[[str], None],
        excluded: Callable[[str], bool],
        permit: Permit | None = None,
    ) -> SearchResult:
        return await self._part.get().search(query, progress=progress, excluded=excluded, permit=permit)


class LaterDocuments(Documents):
    """The documents that *make* makes, from the first one on."""

    def __init__(self, make: Callable[[], Documents]) -> None:
        self._part = _Once(make)

    async def read(self, data: bytes, page: Callable[[DocumentPage], bool], *, first: int = 1) -> None:
        await self._part.get().read(data, page, first=first)


class LaterCommands(CommandRunner):
    """The runner that *make* makes, from its first command on."""

    def __init__(self, make: Callable[[], CommandRunner]) -> None:
        self._part = _Once(make)

    async def run(self, command: Command, output: Callable[[str], None]) -> CommandEnd:
        return await self._part.get().run(command, output)


class LaterIgnores(IgnoreRules):
    """The rules that *make* makes, from the first ignore file on."""

    def __init__(self, make: Callable[[], IgnoreRules]) -> None:
        self._part = _Once(make)

    def read(self, data: bytes) -> IgnoreList:
        return self._part.get().read(data)


class LaterPages(PageFetch):
    """The pages that *make* makes, from the first URL on."""

    def __init__(self, make: Callable[[], PageFetch]) -> None:
        self._part = _Once(make)

    def target(self, text: str) -> "WebUrl":
        return self._part.get().target(text)

    async def fetch(self, request: PageRequest, *, hop: Hop) -> Page:
        return await self._part.get().fetch(request, hop=hop)


class LaterWebSearch(WebSearch):
    """The search that *make* makes, from the first word about it on."""

    def __init__(self, make: Callable[[], WebSearch]) -> None:
        self._part = _Once(make)

    @property
    def name(self) -> str:
        return self._part.get().name

    @property
    def endpoint(self) -> str:
        return self._part.get().endpoint

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        return await self._part.get().search(query, limit)


class LaterEmbedded(ChatModel):
    """
    The model that *make* makes, once it is wanted. `aclose` ends one that was made, and none is made after.

    `reply` raises ModelError then.
    """

    def __init__(self, make: "Callable[[], EmbeddedModel]") -> None:
        self._part = _Once(make)
        self._closed = False

    @property
    def name(self) -> str:
        return self._part.get().name

    def reply(self, request: "ReplyRequest") -> "Reply":
        if self._closed and self._part.made is None:
            raise ModelError(Failure("internal", "the embedded model is closed"))
        return self._part.get().reply(request)

    async def aclose(self) -> None:
        self._closed = True
        if self._part.made is not None:
            await self._part.made.aclose()
