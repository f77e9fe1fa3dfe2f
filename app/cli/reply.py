"""`norma reply`: one bare call of a model. No tool runs, no permission is asked, nothing is kept."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve

from norma.app.cli.arguments import UsageError
from norma.app.cli.command import Command, run_async
from norma.app.cli.output import Output
from norma.app.cli.screen import cost
from norma.app.running import models_of, open_parts
from norma.app.settings import ModelSettings
from norma.domain.model import MalformedJson, from_json, to_json
from norma.domain.model.blocks import Block, Text, ToolCall
from norma.domain.model.events import ToolCalled
from norma.domain.model.messages import Message
from norma.domain.model.replies import BlockEnded, ReplyFinished, TextDelta, ThinkingDelta, fold_reply
from norma.domain.model.requests import ReplyRequest, ToolSpec
from norma.ports.model import ChatModel

T = TypeVar("T")


def run(command: Command) -> int:
    """Ask the model once and print what it says; with --print-request only what would be asked."""
    return run_async(_reply(command, _request(command.options)))


async def _reply(command: Command, request: ReplyRequest) -> int:
    async with open_parts(command.settings, environ=command.environ) as container:
        model, lines = await model_of(command, container)
        if command.options.print_request:
            _print_request(model, request, command.output)
            return 0
        for line in lines:
            command.output.note(line)
        await _show(model, request, command.output)
    return 0


async def model_of(command: Command, container: Any) -> tuple[ChatModel, tuple[str, ...]]:
    """The model that the options name, else the one that `norma ask` would take."""
    options, models = command.options, models_of(container)
    if options.wire is None:
        if options.base_url or options.api_key_env or options.profile:
            raise UsageError("--base-url, --api-key-env and --profile belong to --wire; name the wire, too")
        choice = await models.choose(options.model)
        return choice.model, choice.lines
    if options.model is None:
        raise UsageError("--wire needs --model: the provider's id of the model")
    settings = ModelSettings(
        options.wire, options.base_url, options.model, options.api_key_env, None, options.profile
    )
    return models.make(settings, "--wire"), ()


def _print_request(model: ChatModel, request: ReplyRequest, output: Output) -> None:
    """What would be sent, with secrets as ***. Raises UsageError for what can't be sent, or by no wire."""
    encode: Callable[[ReplyRequest], Any] | None = getattr(model, "encode", None)
    if encode is None:
        raise UsageError(f"{model.name} sends nothing that could be shown before it runs; name a --wire")
    try:
        shown = encode(request).shown()
    except ValueError as error:
        raise UsageError(str(error)) from error
    output.record(shown, json.dumps(shown, indent=2))


async def _show(model: ChatModel, request: ReplyRequest, output: Output) -> None:
    events = []
    async with model.reply(request) as reply:
        async for event in reply:
            events.append(event)
            match event:
                case TextDelta() | ThinkingDelta():
                    output.event(event)
                case BlockEnded(ToolCall() as call):
                    output.event(ToolCalled.of("", call))
                case _:
                    pass
    whole = fold_reply(events)
    output.record(_record(whole.blocks, whole.finished), "")
    output.note(f"{whole.finished.stop.reason}, {cost(whole.finished.usage, 0)}")


def _record(blocks: tuple[Block, ...], finished: ReplyFinished) -> dict[str, Any]:
    return {
        "type": "reply",
        "blocks": to_json(blocks),
        "stop": to_json(finished.stop),
        "empty": finished.empty,
        "usage": to_json(finished.usage),
        "attempts": len(finished.attempts) or 1,
        "attempt_usage": to_json(finished.attempts),
    }


def _request(options: Namespace) -> ReplyRequest:
    """What to ask, from --request, --tools, PROMPT and --no-stream. Raises UsageError."""
    request = ReplyRequest(())
    if options.request:
        given = _json(options.request, "--request")
        if not isinstance(given, dict):
            raise UsageError(f"--request {options.request}: expected a JSON object")
        request = _value({"messages": [], **given}, ReplyRequest, "--request", options.request)
    if options.tools:
        tools = _json(options.tools, "--tools")
        if not isinstance(tools, list):
            raise UsageError(f"--tools {options.tools}: expected a JSON list")
        specs = tuple(_value(tool, ToolSpec, "--tools", options.tools) for tool in tools)
        request = evolve(request, tools=request.tools + specs)
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    if prompt is not None:
        request = evolve(request, messages=(*request.messages, Message("user", (Text(prompt),))))
    if not request.messages:
        raise UsageError("norma reply needs a PROMPT, or --request with messages")
    if options.no_stream:
        request = evolve(request, options=evolve(request.options, stream=False))
    return request


def _json(path: str, option: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{option} {path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{option} {path}: not JSON: {error}") from error


def _value(data: Any, kind: type[T], option: str, path: str) -> T:
    try:
        return from_json(data, kind)
    except MalformedJson as error:
        raise UsageError(f"{option} {path}: {error}") from error
