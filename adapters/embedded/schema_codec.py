"""
Tool calls by JSON schema: for models that write valid JSON under a grammar, but no native tool calls. Pure.

The model is told of the tools in words, and each of its replies is one JSON object: a call,
`{"tool": "Grep", "arguments": {…}}`, or the answer, `{"tool": "answer", "arguments": {"text": "…"}}`.
Calls and results of the past are told in the same form.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from norma.domain.model.blocks import Block, Text, ToolCall, ToolResult, text_of
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest, SystemSegment, ToolSpec
from norma.domain.model.values import frozen

ANSWER = "answer"
_ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class BrokenStep(ValueError):
    """What the model wrote is no step; the message says why."""


@frozen
class Called:
    """The model wants *name* to run; *arguments* are what it wrote, whatever the schema says of them."""

    name: str
    arguments: Mapping[str, Any]


@frozen
class Answered:
    """The model answers with *text*."""

    text: str


def plain_request(request: ReplyRequest) -> ReplyRequest:
    """*request* without tools, in the words and with the response format that make the model write steps."""
    names = {
        block.id: block.name
        for message in request.messages
        for block in message.blocks
        if isinstance(block, ToolCall)
    }
    messages = tuple(_plain_message(message, names) for message in request.messages)
    body = {"response_format": _response_format(request.tools), **request.options.extra_body}
    return evolve(
        request,
        messages=messages,
        system=(*request.system, SystemSegment(_instructions(request.tools))),
        tools=(),
        options=evolve(request.options, extra_body=body),
    )


def step_of(written: str) -> Called | Answered:
    """
    What the whole reply means.

    Raises BrokenStep: it is no JSON (cut, say) or has not the shape that was asked for.
    """
    try:
        step = _encodable(json.loads(written, strict=False))
    except ValueError as error:
        raise BrokenStep(f"it is no JSON: {error}") from error
    match step:
        case {"tool": "answer", "arguments": {"text": str(text)}}:
            return Answered(text)
        case {"tool": str(name), "arguments": dict(arguments)} if name != ANSWER:
            return Called(name, arguments)
        case _:
            raise BrokenStep('it has no "tool" and "arguments"')


class AnswerScanner:
    """
    Finds the text of an answer while its JSON still comes, so that it can be shown.

    `feed` gives what a piece adds to the text: nothing for a call. Constant work per character.
    """

    _START = re.compile(r'\s*\{\s*"tool"\s*:\s*"answer"\s*,\s*"arguments"\s*:\s*\{\s*"text"\s*:\s*"')
    _LONGEST_START = 120

    def __init__(self) -> None:
        self._head = ""
        self._tail: str | None = None  # what can't be decoded yet, once inside the text
        self._over = False

    def feed(self, piece: str) -> str:
        """The text that *piece* completes."""
        if self._over:
            return ""
        if self._tail is None:
            self._head += piece
            start = self._START.match(self._head)
            if start is None:
                self._over = len(self._head) > self._LONGEST_START
                return ""
            self._tail, piece = "", self._head[start.end() :]
        raw = self._tail + piece
        end = self._end_of_complete(raw)
        self._tail = raw[end:]
        return str(_encodable(json.loads(f'"{raw[:end]}"', strict=False)))

    def _end_of_complete(self, raw: str) -> int:
        """How much of *raw* is whole characters of the string; notices its end."""
        at = 0
        while at < len(raw):
            if raw[at] == '"':
                self._over = True
                return at
            size = self._size_at(raw, at)
            if at + size > len(raw):
                return at
            at += size
        return at

    @staticmethod
    def _size_at(raw: str, at: int) -> int:
        """How many characters one character of the text takes; a surrogate pair is one."""
        if raw[at] != "\\":
            return 1
        if raw[at + 1 : at + 2] != "u":
            return 2
        high = re.match(r"[dD][89abAB]", raw[at + 2 : at + 4])
        return 12 if high and "\\u".startswith(raw[at + 6 : at + 8]) else 6


def _encodable(value: Any) -> Any:
    """A JSON value whose strings can be written as UTF-8: halves of surrogate pairs and NUL replaced."""
    match value:
        case str():
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return whole.replace("\0", "\ufffd")
        case list():
            return [_encodable(item) for item in value]
        case dict():
            return {_encodable(key): _encodable(item) for key, item in value.items()}
        case _:
            return value


def _response_format(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    steps = [_step_schema(tool.name, tool.input_schema) for tool in tools]
    steps.append(_step_schema(ANSWER, _ANSWER_SCHEMA))
    return {
        "type": "json_schema",
        "json_schema": {"name": "step", "strict": True, "schema": {"anyOf": steps}},
    }


def _step_schema(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": {"const": name}, "arguments": dict(arguments)},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _instructions(tools: Sequence[ToolSpec]) -> str:
    lines = ["Reply with one JSON object: a call of a tool, or the answer when you know it. The tools:"]
    for tool in tools:
        example = {"tool": tool.name, "arguments": _example(tool.input_schema)}
        lines += [f"- {tool.name}: {tool.description.strip()}", f"  {_written(example)}"]
    lines += ["- answer: tell the person what you found.", f"  {_written(_answer('The answer in words.'))}"]
    return "\n".join(lines)


def _example(schema: Mapping[str, Any]) -> dict[str, str]:
    """The required arguments, each with its type or description in place of a value."""
    properties = schema.get("properties", {})
    return {name: f"<{properties.get(name, {}).get('type', 'value')}>" for name in schema.get("required", ())}


def _plain_message(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "tool":
        return Message("user", tuple(_plain_result(block, names) for block in message.blocks))
    if message.role == "assistant":
        return evolve(message, blocks=_plain_steps(message.blocks))
    return message


def _plain_result(block: Block, names: Mapping[str, str]) -> Block:
    if not isinstance(block, ToolResult):
        return block
    what = "Error of" if block.is_error else "Result of"
    return Text(f"{what} {names.get(block.id, 'a tool')}:\n{text_of(block.blocks)}\n")


def _plain_steps(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """An assistant's message as the model would have written it: the call, or else the answer."""
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    if calls:
        steps = [{"tool": call.name, "arguments": call.arguments} for call in calls]
        return (Text("\n".join(map(_written, steps))),)
    return (Text(_written(_answer(text_of(blocks)))),)


def _answer(text: str) -> dict[str, Any]:
    return {"tool": ANSWER, "arguments": {"text": text}}


def _written(step: Mapping[str, Any]) -> str:
    return json.dumps(step, ensure_ascii=False)
