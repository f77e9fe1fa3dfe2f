"""What servers ask of a host, in the protocol's words and back: roots, sampling, elicitation."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from norma.adapters.mcp.content import blocks_of
from norma.adapters.mcp.frames import INTERNAL_ERROR, INVALID_PARAMS
from norma.domain.model.blocks import Audio, Image, Text
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment
from norma.ports.errors import PortError, Refused
from norma.ports.tool_server import Offers, Sampled

REJECTED = -1
"""What the protocol's own examples answer when a person says no."""

_STOPS = {"end_turn": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}


class CantAnswer(Exception):
    """A request that gets an error answer, with its *code*."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def capabilities_of(offers: Offers) -> dict[str, Any]:
    """What the client says that it offers."""
    offered = {
        "roots": offers.roots is not None,
        "sampling": offers.sample is not None,
        "elicitation": offers.elicit is not None,
    }
    return {name: {} for name, is_offered in offered.items() if is_offered}


def roots_of(offers: Offers) -> list[dict[str, str]] | None:
    """The answer to `roots/list`."""
    if offers.roots is None:
        return None
    return [
        {"uri": f"file://{quote(root)}", "name": PurePosixPath(root).name or root} for root in offers.roots
    ]


async def answer_to(method: str, params: Mapping[str, Any], offers: Offers, server: str) -> dict[str, Any]:
    """
    The result of a server's request.

    Raises CantAnswer.
    """
    try:
        if method == "roots/list" and (roots := roots_of(offers)) is not None:
            return {"roots": roots}
        if method == "sampling/createMessage" and offers.sample is not None:
            return _sampled(await offers.sample(server, _request(params)))
        if method == "elicitation/create" and offers.elicit is not None:
            if params.get("mode", "form") != "form":
                raise CantAnswer(INVALID_PARAMS, "only questions with a form are answered here")
            schema = params.get("requestedSchema")
            filled = await offers.elicit(
                server, _word(params.get("message")), schema if isinstance(schema, Mapping) else {}
            )
            content = {"content": dict(filled.values)} if filled.action == "accept" else {}
            return {"action": filled.action, **content}
    except Refused as error:
        raise CantAnswer(REJECTED, f"the user rejected it: {error}") from error
    except PortError as error:
        raise CantAnswer(INTERNAL_ERROR, str(error)) from error
    raise CantAnswer(INVALID_PARAMS, f"{method} is not offered")


def _request(params: Mapping[str, Any]) -> ReplyRequest:
    items = params.get("messages")
    if not isinstance(items, list):
        raise CantAnswer(INVALID_PARAMS, "messages must be a list")
    messages = []
    for item in items:
        if not isinstance(item, Mapping) or item.get("role") not in ("user", "assistant"):
            raise CantAnswer(INVALID_PARAMS, "each message needs the role user or assistant")
        messages.append(Message(item["role"], tuple(blocks_of(item.get("content")))))
    system = _word(params.get("systemPrompt"))
    most, heat, stops = (params.get(key) for key in ("maxTokens", "temperature", "stopSequences"))
    options = ReplyOptions(
        max_tokens=most if type(most) is int and most > 0 else None,
        temperature=float(heat) if isinstance(heat, int | float) else None,
        stop=tuple(stop for stop in stops if isinstance(stop, str)) if isinstance(stops, list) else (),
    )
    return ReplyRequest(tuple(messages), (SystemSegment(system),) if system else (), options=options)


def _sampled(sampled: Sampled) -> dict[str, Any]:
    match sampled.block:
        case Text(text):
            content: dict[str, Any] = {"type": "text", "text": text}
        case Image(media_type, data) | Audio(media_type, data) if data is not None:
            kind = "image" if isinstance(sampled.block, Image) else "audio"
            content = {"type": kind, "data": data, "mimeType": media_type}
        case _:
            raise CantAnswer(INTERNAL_ERROR, "the model gave neither text, image nor sound")
    stop = _STOPS.get(sampled.stop, sampled.stop)
    return {"role": "assistant", "content": content, "model": sampled.model, "stopReason": stop}


def _last_part(path: str) -> str:
    return PurePosixPath(path).name or path


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
