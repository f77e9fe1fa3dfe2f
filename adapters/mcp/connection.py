"""
The life of a connection, as a pure state machine.

    new ──open──▶ initializing ──result──▶ ready ──end──▶ ended
                       │  ╲
                       │   error that lists 2026-07-28
                       │    ╲
                       │     ▶ discovering ──result──▶ ready (stateless)
                       ╰── any other answer ──▶ ended

Whoever drives it writes each `Send` in order, completes the tokens of `Answered` and `Failed`, and hands over
every frame that comes. It holds the requests that wait: an id is forgotten with its answer, with `forget`,
or with `end`, and an answer to an id that does not wait changes nothing. Frames with a method are never
answers. Every request of the server is answered, in every state but ended.

No clock, no bytes, no tasks. `tests/adapters/mcp/test_connection.py` has the table of states and frames.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from norma.adapters.mcp.frames import (
    METHOD_NOT_FOUND,
    Frame,
    Id,
    RpcError,
    answer,
    error_of,
    kind_of,
    notification,
    refusal,
    request,
)
from norma.adapters.mcp.versions import CLIENT, HANDSHAKE, STATELESS, spoken
from norma.domain.model.values import frozen
from norma.ports.tool_server import ServerInfo

State: TypeAlias = Literal["new", "initializing", "discovering", "ready", "ended"]

_META = "io.modelcontextprotocol/"
_OFFERED = ("sampling/createMessage", "elicitation/create")


@frozen
class Send:
    """Write this frame."""

    frame: Frame


@frozen
class Answered:
    """The request behind *token* has its result."""

    token: Any
    result: Any


@frozen
class Failed:
    """The request behind *token* has an error answer."""

    token: Any
    error: RpcError


@frozen
class Ready:
    """Requests may be made."""


@frozen
class Refused:
    """There will be no connection, and *why*. The state is ended; *error* is the server's, if it gave one."""

    why: str
    error: RpcError | None = None


@frozen
class Asked:
    """The server asks for something that was offered; the driver answers with `answered` or `refused`."""

    id: Id
    method: str
    params: Mapping[str, Any]


@frozen
class Notified:
    """A notification that may matter to the driver."""

    method: str
    params: Mapping[str, Any]


@frozen
class Progressed:
    """Progress of the request behind *token*."""

    token: Any
    params: Mapping[str, Any]


@frozen
class Skipped:
    """A frame that means nothing here, and *why*."""

    why: str


Event: TypeAlias = Send | Answered | Failed | Ready | Refused | Asked | Notified | Progressed | Skipped


class Connection:
    """
    One connection's life.

    *capabilities* are what the host offers, by the protocol's names; *roots* is the answer to `roots/list`.
    *protocol* is the version that settings want: a handshake version is offered in place of the newest, the
    stateless one is spoken without trying a handshake first.
    """

    def __init__(
        self,
        capabilities: Mapping[str, Any] | None = None,
        *,
        roots: list[dict[str, str]] | None = None,
        protocol: str | None = None,
    ) -> None:
        self.state: State = "new"
        self.info: ServerInfo | None = None
        self._capabilities = dict(capabilities or {})
        self._roots = roots
        self._offered = protocol or HANDSHAKE[0]
        self._number = 0
        self._waiting: dict[int, Any] = {}
        self._opening = 0
        self._first_error: RpcError | None = None

    @property
    def stateless(self) -> bool:
        """Whether the generation without a handshake is spoken."""
        return self.info is not None and self.info.protocol == STATELESS

    @property
    def waiting(self) -> int:
        """How many requests wait for their answer."""
        return len(self._waiting)

    def open(self) -> Send:
        """Begin. Once, in the state new."""
        assert self.state == "new"
        return self._discover() if self._offered == STATELESS else self._initialize()

    def request(
        self, method: str, params: Mapping[str, Any] | None, token: Any, *, progress: bool = False
    ) -> tuple[int, Frame]:
        """A request in the state ready, and its id, which is also its progress token. *token* comes back."""
        assert self.state == "ready"
        self._number = number = self._number + 1
        self._waiting[number] = token
        if progress or self.stateless:
            meta = self._meta() if self.stateless else {}
            if progress:
                meta["progressToken"] = number
            params = {**(params or {}), "_meta": meta}
        return number, request(number, method, params)

    def forget(self, number: int, reason: str) -> Frame | None:
        """Stop waiting; the notice to be sent, None if nothing waits under this id any more."""
        if self._waiting.pop(number, None) is None:
            return None
        return notification("notifications/cancelled", {"requestId": number, "reason": reason})

    def token_of(self, number: int) -> Any:
        """What waits under an id; it does not any more after this. None if nothing does."""
        return self._waiting.pop(number, None)

    def waits_for(self, number: int) -> bool:
        """Whether a request of ours has no answer yet, that of the handshake included."""
        opening = self.state in ("initializing", "discovering") and number == self._opening
        return opening or number in self._waiting

    def numbers(self) -> tuple[int, ...]:
        """The ids that wait."""
        return tuple(self._waiting)

    def end(self) -> list[Any]:
        """It is over; the tokens of the requests that will have no answer."""
        self.state = "ended"
        lost = list(self._waiting.values())
        self._waiting.clear()
        return lost

    def receive(self, value: Any) -> list[Event]:
        """Take what came in one line: a frame, or a list of frames."""
        if isinstance(value, list):
            return [event for frame in value for event in self._receive(frame)]
        return self._receive(value)

    def _receive(self, frame: Any) -> list[Event]:
        if self.state == "ended":
            return []
        kind = kind_of(frame)
        if kind == "result" or kind == "error":
            number = frame["id"]
            if type(number) is int:
                if number == self._opening and self.state in ("initializing", "discovering"):
                    return self._opened(frame, kind)
                token = self._waiting.pop(number, None)
                if token is not None:
                    if kind == "result":
                        return [Answered(token, frame["result"])]
                    return [Failed(token, error_of(frame))]
            return [Skipped(f"an answer to the id {number!r}, which does not wait")]
        if kind == "request":
            return [self._asked(frame)]
        if kind == "notification":
            return [self._notified(frame)]
        return [Skipped("JSON that is no frame of JSON-RPC")]

    # -- opening

    def _initialize(self) -> Send:
        self.state = "initializing"
        self._number = self._opening = self._number + 1
        params = {
            "protocolVersion": self._offered,
            "capabilities": self._capabilities,
            "clientInfo": CLIENT,
        }
        return Send(request(self._opening, "initialize", params))

    def _discover(self) -> Send:
        self.state = "discovering"
        self._number = self._opening = self._number + 1
        return Send(request(self._opening, "server/discover", {"_meta": self._meta()}))

    def _meta(self) -> dict[str, Any]:
        return {
            f"{_META}protocolVersion": STATELESS,
            f"{_META}clientInfo": CLIENT,
            f"{_META}clientCapabilities": self._capabilities,
        }

    def _opened(self, frame: Frame, kind: str) -> list[Event]:
        error = error_of(frame) if kind == "error" else None
        if self.state == "discovering":
            return self._discovered(frame, error)
        if error is not None:
            if STATELESS in _supported(error):
                self._first_error = error
                return [self._discover()]
            return [self._refuse(f"the server refused to initialize: {error}{_data(error)}", error)]
        return self._initialized(frame["result"])

    def _initialized(self, result: Any) -> list[Event]:
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if version not in HANDSHAKE:
            said = "names no protocol version" if version is None else f"speaks the protocol {version!r}"
            why = f"the server {said}, which this client does not know; it offered {self._offered}"
            return [self._refuse(f"{why} and speaks {spoken()}")]
        self._establish(result, version, result.get("serverInfo"))
        return [Send(notification("notifications/initialized")), Ready()]

    def _discovered(self, frame: Frame, error: RpcError | None) -> list[Event]:
        if error is None:
            result = frame["result"]
            versions = result.get("supportedVersions") if isinstance(result, dict) else None
            if isinstance(versions, list) and STATELESS in versions:
                meta = result.get("_meta")
                info = meta.get(f"{_META}serverInfo") if isinstance(meta, dict) else None
                self._establish(result, STATELESS, info)
                return [Ready()]
            why = f"the server supports {versions!r}, this client asked for {STATELESS}"
        else:
            why = f"the server refused server/discover: {error}{_data(error)}"
        if self._first_error is not None:
            first = self._first_error
            return [self._refuse(f"the server refused to initialize: {first}{_data(first)}", first)]
        return [self._refuse(why, error)]

    def _establish(self, result: Mapping[str, Any], version: str, info: Any) -> None:
        capabilities = result.get("capabilities")
        info = info if isinstance(info, dict) else {}
        self.info = ServerInfo(
            version,
            str(info.get("name") or ""),
            str(info.get("version") or ""),
            _text(result.get("instructions")),
            capabilities if isinstance(capabilities, dict) else {},
        )
        self.state = "ready"

    def _refuse(self, why: str, error: RpcError | None = None) -> Refused:
        self.state = "ended"
        return Refused(why, error)

    # -- what the server sends of its own accord

    def _asked(self, frame: Frame) -> Event:
        number, method, params = frame["id"], frame["method"], frame.get("params")
        if method == "ping":
            return Send(answer(number, {}))
        if method == "roots/list" and self._roots is not None:
            return Send(answer(number, {"roots": self._roots}))
        if method in _OFFERED and method.partition("/")[0] in self._capabilities:
            return Asked(number, method, params if isinstance(params, dict) else {})
        return Send(refusal(number, METHOD_NOT_FOUND, f"Method not found: {method[:200]}"))

    def _notified(self, frame: Frame) -> Event:
        params = frame.get("params")
        params = params if isinstance(params, dict) else {}
        method = frame["method"]
        if method == "notifications/progress":
            number = params.get("progressToken")
            token = self._waiting.get(number) if type(number) is int else None
            return Skipped("progress of nothing that waits") if token is None else Progressed(token, params)
        return Notified(method, params)


def _supported(error: RpcError) -> list[Any]:
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    return supported if isinstance(supported, list) else []


def _data(error: RpcError) -> str:
    """What an error says besides its message: the versions that a server speaks, above all."""
    supported = _supported(error)
    if supported:
        return f"; it supports {', '.join(map(str, supported))}; this client speaks {spoken()}"
    return "" if error.data is None else f"; {str(error.data)[:500]}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
