"""
The tool-server port: a program or a service elsewhere that offers tools, and perhaps texts.

Above: the tools that a model sees (`domain/tools/remote`). Below: the protocol, the process and the wire.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from attrs import field

from norma.domain.model.blocks import ResultBlock
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest
from norma.domain.model.values import frozen
from norma.ports.errors import PortError
from norma.ports.tool import ToolOutput


@frozen
class ToolHints:
    """What a server says of its tool. Nobody checks it: it never replaces a permission."""

    read_only: bool = False
    idempotent: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether a call whose outcome was lost may be made again."""
        return self.read_only or self.idempotent


@frozen
class ServerTool:
    """A tool under the server's own *name*; *input_schema* is of an object, as far as it could be mended."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    hints: ToolHints = ToolHints()


@frozen
class Resource:
    """A text or file that a server offers. A *template* has gaps in braces in its *uri*, to be filled in."""

    uri: str
    name: str
    description: str = ""
    media_type: str | None = None
    template: bool = False


@frozen
class PromptArgument:
    """A gap in a prompt."""

    name: str
    description: str = ""
    required: bool = False


@frozen
class Prompt:
    """A prompt that a server offers to a person."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@frozen
class ServerInfo:
    """What a connected server said of itself; *protocol* is the version that was agreed on."""

    protocol: str
    name: str = ""
    version: str = ""
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(factory=dict)


class ServerFailed(PortError):
    """
    The server could not be started or reached, has ended, or did not answer in time.

    The message names the server and shows what there is: the command, its exit status, the last lines of
    its stderr, an HTTP status. Of a call, nothing is known to have been done.
    """


class OutcomeUnknown(ServerFailed):
    """The server was lost after it got a call; whether it did what was asked is not known."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)


class ToolServer(Protocol):
    """
    One server. Its owner calls `aclose`, whatever happens; everything else may be called many times at once.

    Before `connect` has come back once, everything but `name`, `shows` and `aclose` raises ServerFailed.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that settings give it."""

    @property
    @abstractmethod
    def shows(self) -> str:
        """Exactly what `connect` will start or reach: the whole command, or the URL."""

    @property
    @abstractmethod
    def info(self) -> ServerInfo | None:
        """What the server said of itself; None while it is not connected."""

    @property
    @abstractmethod
    def tools(self) -> tuple[ServerTool, ...]:
        """The tools there are now, with distinct names; the same tuple object while nothing has changed."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What a person should know: tools left out and why, a listing that broke off. Bounded."""

    @abstractmethod
    async def connect(self) -> None:
        """
        Start or reach the server, and list its tools. Nothing to do if it is connected.

        A cancel passes through, and what was started is gone when it has passed.

        Raises:
            ServerFailed: it did not come up; nothing of it is left.
        """

    @abstractmethod
    async def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[str], None] | None = None
    ) -> ToolOutput:
        """
        Call *tool*, listed or not, under the server's own name for it. What the server answers, errors
        included, is the output.

        A call that is cancelled is told to the server, and a late answer is dropped. One whose outcome was
        lost is made again, once, if the tool's hints allow it.

        Raises:
            OutcomeUnknown: the server was lost meanwhile.
            ServerFailed: the call was never made, or was not answered in time.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """End it and everything it started, within 5 s; held back cancels are raised afterwards."""


class ServerLibrary(Protocol):
    """What a server offers besides tools. Each method raises ServerFailed as `ToolServer.call` does."""

    @abstractmethod
    async def resources(self) -> tuple[Resource, ...]:
        """Everything that can be read, templates last; empty if the server offers nothing."""

    @abstractmethod
    async def read(self, uri: str) -> tuple[ResultBlock, ...]:
        """What stands at *uri*. Kind `not_found` or `invalid_request` if it can't be read."""

    @abstractmethod
    async def prompts(self) -> tuple[Prompt, ...]:
        """The prompts; empty if the server offers none."""

    @abstractmethod
    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Message, ...]:
        """The messages of a prompt, filled in."""


class LibraryServer(ToolServer, ServerLibrary, Protocol):
    """A server with tools, and whatever else it offers."""


@frozen
class Filled:
    """A person's answer to a form: *values* by field where they accepted it."""

    action: Literal["accept", "decline", "cancel"]
    values: Mapping[str, Any] = field(factory=dict)


@frozen
class Sampled:
    """A model's answer to a server: text or another block, the model's name, and why it stopped."""

    block: ResultBlock
    model: str
    stop: str


Sample: TypeAlias = Callable[[str, ReplyRequest], Awaitable[Sampled]]
"""
Let the model answer for a server (its name first). Raises Refused if policy or person say no, and whatever
the model raises.
"""

Elicit: TypeAlias = Callable[[str, str, Mapping[str, Any]], Awaitable[Filled]]
"""Put a server's question to a person: the server's name, its message, the schema of the answer."""


@frozen
class Offers:
    """
    What a host lets servers ask of it; None is not offered, and a server that asks all the same is told so.

    *roots* are absolute folders.
    """

    roots: tuple[str, ...] | None = None
    sample: Sample | None = None
    elicit: Elicit | None = None
