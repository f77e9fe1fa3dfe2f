"""JSON-RPC frames: what each one is, and how ours are made. Pure."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from norma.domain.model.values import frozen

Frame: TypeAlias = dict[str, Any]
Id: TypeAlias = int | float | str
Kind: TypeAlias = Literal["result", "error", "request", "notification", "junk"]

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


@frozen
class RpcError:
    """An error answer, whatever its shape was: *code* and *data* are as they came."""

    code: Any
    message: str
    data: Any = None

    def __str__(self) -> str:
        return self.message if self.code is None else f"{self.message} (code {self.code})"


def kind_of(frame: Any) -> Kind:
    """What *frame* is. One that has a method is never an answer, whatever its id (contract P4)."""
    if not isinstance(frame, dict):
        return "junk"
    if "method" in frame:
        if not isinstance(frame["method"], str):
            return "junk"
        return "request" if _is_id(frame.get("id")) else "notification"
    if not _is_id(frame.get("id")):
        return "junk"
    if frame.get("error") is not None:
        return "error"
    if "result" in frame:
        return "result"
    return "error" if "error" in frame else "junk"


def _is_id(value: Any) -> bool:
    return type(value) in (int, str, float)


def error_of(frame: Frame) -> RpcError:
    """The error in an error answer."""
    error = frame["error"]
    if isinstance(error, Mapping):
        message = error.get("message")
        said = message if isinstance(message, str) and message else _shown(message)
        return RpcError(error.get("code"), said or "the server gave no message", error.get("data"))
    return RpcError(None, _shown(error) or "the server gave an error without any content")


def _shown(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return ""
    return value if isinstance(value, str) else repr(value)


def request(number: int, method: str, params: Mapping[str, Any] | None) -> Frame:
    """A request of ours."""
    frame: Frame = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        frame["params"] = params
    return frame


def notification(method: str, params: Mapping[str, Any] | None = None) -> Frame:
    """A notification of ours."""
    frame: Frame = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        frame["params"] = params
    return frame


def answer(number: Id, result: Any) -> Frame:
    """Our answer to a server's request."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refusal(number: Id, code: int, message: str) -> Frame:
    """Our error answer to a server's request."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
