"""`norma probe model`: one cheap call of each model, and what can be learned from it."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from norma.app.cli.advice import advised
from norma.app.cli.command import Command
from norma.app.cli.doctor import Check, report
from norma.app.cli.reply import model_of
from norma.app.running import models_of, open_parts
from norma.app.settings import SettingsError
from norma.domain.model.blocks import Text, Thinking, ToolCall
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, TextDelta
from norma.domain.model.requests import ReplyOptions, ReplyRequest, ToolSpec
from norma.domain.model.values import frozen
from norma.ports.clock import Clock
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel

READY = ToolSpec("ready", "Say that you are ready.", {"type": "object", "properties": {}})
REQUEST = ReplyRequest(
    (Message("user", (Text("Call the tool ready. If you can't, say: ready."),)),),
    tools=(READY,),
    options=ReplyOptions(max_tokens=1024),
)

_FIELDS = (
    (r"max_completion_tokens.{0,9} instead", 'token_limit_key = "max_completion_tokens"'),
    (r"max_completion_tokens", 'token_limit_key = "max_tokens"'),
    (r"stream_options", "stream_usage = false"),
    (r"reasoning.{0,3}encrypted_content|[Ee]ncrypted content", "reasons = false"),
    (r"\$ref|\$defs", "inline_refs = true"),
)
"""Words of a refusal, and the field of the profile that it is about: advice, which decides nothing."""


async def probe_models(command: Command) -> int:
    """Probe the model that the options name, or each one of the settings; status 0 if all work."""
    async with open_parts(command.settings, environ=command.environ) as parts:
        clock: Clock = parts.clock()
        checks = [
            model if isinstance(model, Check) else await probed(name, model, clock)
            async for name, model in _models(command, parts)
        ]
    return report(command.output, checks)


async def _models(command: Command, parts: Any) -> AsyncIterator[tuple[str, ChatModel | Check]]:
    """Each model to probe under its name; a check where one can't even be made."""
    options, named = command.options, command.settings.models
    wanted = options.query or options.model
    if options.wire is None and named and (wanted is None or wanted in named):
        for name in (wanted,) if wanted else named:
            try:
                yield f"model {name}", models_of(parts).configured(name)
            except SettingsError as error:
                yield "", Check(f"model {name}", False, str(error), "mend models.<name> in norma.toml")
        return
    if options.query and options.wire is None:
        options.model = options.query
    model, lines = await model_of(command, parts)
    for line in lines:
        command.output.note(line)
    yield f"model {model.name}", model


@frozen
class Seen:
    """What one call showed; times are in seconds since it was made."""

    first_s: float
    whole_s: float
    pieces: int
    thinks: bool
    calls: bool
    finished: ReplyFinished


async def probed(name: str, model: ChatModel, clock: Clock) -> Check:
    """Ask *model* once, and say how it went and what its profile should say."""
    try:
        seen = await _ask(model, clock)
    except ModelError as error:
        return Check(name, False, error.failure.message, _remedy(error.failure))
    return Check(name, True, _told(seen), _wanted(seen))


async def _ask(model: ChatModel, clock: Clock) -> Seen:
    start = clock.monotonic()
    first: float | None = None
    events: list[ReplyEvent] = []
    async with model.reply(REQUEST) as reply:
        async for event in reply:
            first = clock.monotonic() - start if first is None else first
            events.append(event)
    blocks = [event.block for event in events if isinstance(event, BlockEnded)]
    finished = events[-1]
    assert isinstance(finished, ReplyFinished)
    return Seen(
        first or 0.0,
        clock.monotonic() - start,
        sum(isinstance(event, TextDelta) for event in events),
        any(isinstance(block, Thinking) for block in blocks) or bool(finished.usage.reasoning_tokens),
        any(isinstance(block, ToolCall) for block in blocks),
        finished,
    )


def _told(seen: Seen) -> str:
    usage = seen.finished.usage
    facts = [
        f"first event after {seen.first_s:.2f} s, whole after {seen.whole_s:.2f} s",
        "calls tools" if seen.calls else "called no tool",
        *(["thinks"] if seen.thinks else []),
        *([f"text in {seen.pieces} pieces"] if seen.pieces else []),
        "reports no usage"
        if usage.provenance != "reported"
        else f"reports usage ({usage.input_tokens} in, {usage.output_tokens} out)",
        f"stopped as {seen.finished.stop.reason}",
    ]
    return ", ".join(facts)


def _wanted(seen: Seen) -> str | None:
    """What the profile should say."""
    fields: Sequence[str] = ["reasons = true"] if seen.thinks else []
    return f"in models.<name>.overrides: {', '.join(fields)} (unless its profile says so)" if fields else None


def _remedy(failure: Failure) -> str:
    said = failure.provider.message or failure.message
    found = next((field for words, field in _FIELDS if re.search(words, said)), None)
    if failure.kind == "invalid_request" and found is not None:
        return f"in models.<name>.overrides: {found}"
    return advised(failure).message.removeprefix(" ".join(failure.message.split())).removeprefix("; ")
