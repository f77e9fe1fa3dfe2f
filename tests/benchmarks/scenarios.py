"""
What the server of the benchmarks says, wire by wire: pure functions from a scenario to rendered events.

text     n pieces of text.
tool     one call of `write` whose arguments, *size* bytes of JSON, come in n pieces; then a few words.
agent    n calls of `echo`, one an answer, each after a few words; then a few words.
"""

import json
from typing import Any, TypeAlias

from attrs import frozen

MARK = "call_step_"
"""What every call's id begins with; five digits follow, from which a request's place is read."""

_PIECES = (" and", " the", " stream", " goes", " on,", " façade", " „so“", "\n", " f(x)", ' "y";')
_USAGE_IN, _USAGE_OUT = 13, 5


@frozen
class Called:
    """A call in an answer; *pieces* are its arguments as they stream."""

    id: str
    name: str
    pieces: tuple[str, ...]


Said: TypeAlias = tuple[tuple[str, ...], Called | None]


def said(kind: str, n: int, size: int, done: int) -> Said:
    """The answer of a scenario after *done* results."""
    if kind == "text":
        return tuple(_PIECES[at % len(_PIECES)] for at in range(n)), None
    if kind == "tool" and done == 0:
        return (), Called(f"{MARK}{1:05}", "write", cut(big_arguments(size), n))
    if kind == "agent" and done < n:
        arguments = _compact({"text": f"number {done + 1}"})
        return ("I", " take", " the", " next", " step"), Called(
            f"{MARK}{done + 1:05}", "echo", cut(arguments, 4)
        )
    return ("That", " was", " the", " last", " one"), None


def big_arguments(size: int) -> str:
    """Arguments of about *size* bytes: a source file, with what must be escaped in one."""
    line = 'if name == "norma":\n\tprint("it is \\\\ %d" % n)\n'
    count = max(1, size // (len(json.dumps(line)) - 2))
    return _compact({"path": "/tmp/written.py", "content": line * count})


def cut(text: str, n: int) -> tuple[str, ...]:
    """*text* in *n* pieces, or fewer."""
    step = max(1, -(-len(text) // n))
    return tuple(text[at : at + step] for at in range(0, len(text), step))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def chat(what: Said) -> list[str]:
    """The events of the Chat Completions wire, with all the fields that OpenAI sends."""
    pieces, call = what
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1750000000, "model": "bench"}
    head |= {"service_tier": "default", "system_fingerprint": "fp_1"}

    def event(choices: list[Any], usage: dict[str, int] | None = None) -> str:
        return f"data: {_compact({**head, 'choices': choices, 'usage': usage})}\n\n"

    def choice(delta: dict[str, Any], finish: str | None = None) -> list[Any]:
        return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]

    events = [event(choice({"role": "assistant", "content": "", "refusal": None}))]
    events += [event(choice({"content": piece})) for piece in pieces]
    if call is not None:
        function = {"name": call.name, "arguments": ""}
        opened = {"index": 0, "id": call.id, "type": "function", "function": function}
        events.append(event(choice({"tool_calls": [opened]})))
        events += [
            event(choice({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}))
            for piece in call.pieces
        ]
    events.append(event(choice({}, "stop" if call is None else "tool_calls")))
    counts = {"prompt_tokens": _USAGE_IN, "completion_tokens": _USAGE_OUT}
    events.append(event([], {**counts, "total_tokens": _USAGE_IN + _USAGE_OUT}))
    return [*events, "data: [DONE]\n\n"]


def messages(what: Said) -> list[str]:
    """The events of the Anthropic Messages wire."""
    pieces, call = what
    events: list[str] = []

    def tell(kind: str, **fields: Any) -> None:
        events.append(f"event: {kind}\ndata: {_compact({'type': kind, **fields})}\n\n")

    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": []}
    usage = {"input_tokens": _USAGE_IN, "output_tokens": 1}
    tell("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    at = 0
    if pieces:
        tell("content_block_start", index=at, content_block={"type": "text", "text": ""})
        tell("ping")
        for piece in pieces:
            tell("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
        tell("content_block_stop", index=at)
        at += 1
    if call is not None:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        tell("content_block_start", index=at, content_block=block)
        for piece in call.pieces:
            tell("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": piece})
        tell("content_block_stop", index=at)
    reason = "end_turn" if call is None else "tool_use"
    delta = {"stop_reason": reason, "stop_sequence": None}
    tell("message_delta", delta=delta, usage={"output_tokens": _USAGE_OUT})
    tell("message_stop")
    return events


def responses(what: Said) -> list[str]:
    """The events of the OpenAI Responses wire."""
    pieces, call = what
    events: list[str] = []

    def tell(kind: str, **fields: Any) -> None:
        value = {"type": kind, **fields, "sequence_number": len(events)}
        events.append(f"event: {kind}\ndata: {_compact(value)}\n\n")

    items: list[dict[str, Any]] = []
    tell("response.created", response=_response("in_progress", []))
    tell("response.in_progress", response=_response("in_progress", []))
    if pieces:
        items.append(_message_item("".join(pieces)))
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        at: dict[str, Any] = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        begun = {**items[0], "status": "in_progress", "content": []}
        tell("response.output_item.added", output_index=0, item=begun)
        tell("response.content_part.added", **at, part=part)
        for piece in pieces:
            tell("response.output_text.delta", **at, delta=piece, logprobs=[])
        tell("response.output_text.done", **at, text="".join(pieces), logprobs=[])
        tell("response.content_part.done", **at, part=items[0]["content"][0])
        tell("response.output_item.done", output_index=0, item=items[0])
    if call is not None:
        item = _call_item(call)
        at = {"item_id": item["id"], "output_index": len(items)}
        begun = {**item, "status": "in_progress", "arguments": ""}
        tell("response.output_item.added", output_index=len(items), item=begun)
        for piece in call.pieces:
            tell("response.function_call_arguments.delta", **at, delta=piece)
        tell("response.function_call_arguments.done", **at, name=call.name, arguments=item["arguments"])
        tell("response.output_item.done", output_index=len(items), item=item)
        items.append(item)
    tell("response.completed", response=_response("completed", items))
    return events


def _message_item(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}


def _call_item(call: Called) -> dict[str, Any]:
    item = {"id": f"fc_{call.id[-5:]}", "type": "function_call", "status": "completed", "call_id": call.id}
    return {**item, "name": call.name, "arguments": "".join(call.pieces)}


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {
        "input_tokens": _USAGE_IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": _USAGE_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": _USAGE_IN + _USAGE_OUT,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1750000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "bench",
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None if status == "in_progress" else usage,
    }


RENDERED = {"chat": chat, "messages": messages, "responses": responses}
