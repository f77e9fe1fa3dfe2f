"""
The fixtures of tests/fixtures/model-wires (its README is their grammar): how one is run, and judged.

Shared by the wires: a wire's test gives a factory of models.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from norma.adapters.memory.clock import ManualClock
from norma.domain.model.blocks import Block, Image, Text, Thinking, ToolCall, ToolResult, text_of
from norma.domain.model.messages import Message
from norma.domain.model.replies import ReplyFinished, ReplyWhole, fold_reply
from norma.domain.model.requests import (
    ReplyOptions,
    ReplyRequest,
    SystemSegment,
    ThinkingWish,
    ToolSpec,
)
from norma.domain.model.usage import Usage
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel
from tests.rigs.wire_models import events_of
from tests.rigs.wire_server import Seen, WireServer, scripted

FOLDER = "model-wires"
_FIXTURE_KINDS = {"stream_dropped", "protocol", "network", "proxy", "timeout"}


def fixtures_in(
    folder: Path, *, wire: str, kinds: Sequence[str], may_be_none: bool = False
) -> list[dict[str, Any]]:
    """The fixtures of one wire, in the order of their numbers; none is a fault, unless it may be so."""
    files = sorted(
        folder.glob("*.json"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.stem)]
    )
    found = [json.loads(path.read_text("utf-8")) for path in files]
    rows = [row for row in found if row["wire"] == wire and row["kind"] in kinds]
    assert rows or may_be_none, f"{folder} has no fixtures for {wire} of the kinds {', '.join(kinds)}"
    return rows


@frozen
class Outcome:
    """How a logical request went."""

    blocks: tuple[Block, ...]
    finished: ReplyFinished | None
    error: ModelError | None


def request_for(fixture: Mapping[str, Any]) -> ReplyRequest:
    """What the README says a fixture's answer is for: "hi", and every tool that the answer names."""
    text = json.dumps(fixture.get("expect", {}))
    names = dict.fromkeys(re.findall(r'"name": "([^"]+)"', text))
    schema = {"type": "object", "properties": {}}
    return ReplyRequest(
        (Message("user", (Text("hi"),)),),
        tools=tuple(ToolSpec(name, "d", schema) for name in names),
        options=ReplyOptions(stream=fixture["kind"] != "json"),
    )


async def outcome_of(model: ChatModel, request: ReplyRequest) -> Outcome:
    try:
        whole: ReplyWhole = fold_reply(await events_of(model, request))
    except ModelError as error:
        return Outcome(error.partial, None, error)
    return Outcome(whole.blocks, whole.finished, None)


def script_of(fixture: Mapping[str, Any]) -> list[Any]:
    return [scripted(answer) for answer in fixture.get("script", [fixture])]


def check_answer(
    expect: Mapping[str, Any], outcome: Outcome, server: WireServer, clock: ManualClock | None = None
) -> None:
    """Every field of *expect* that concerns an answer."""
    if "any_of_results" in expect:
        _check_any(expect["any_of_results"], outcome, server, clock)
        return
    for key in expect:
        assert key in _ANSWER_CHECKS or key in _OTHER_KEYS, f"no check for {key}"
    for key, check in _ANSWER_CHECKS.items():
        if key in expect:
            check(expect[key], outcome)
    assert_fits(expect.get("attempts", 1), len(server.requests), "attempts")
    if expect.get("same_body"):
        assert len({seen.body for seen in server.requests}) == 1
    if "delays_s" in expect:
        assert clock is not None
        assert len(clock.sleeps) == len(expect["delays_s"])
        for want, slept in zip(expect["delays_s"], clock.sleeps, strict=True):
            assert_fits(want, slept, "delay")
    for text in expect.get("forbid", ()):
        assert text not in repr(outcome)
    json.dumps(repr(outcome), ensure_ascii=False).encode("utf-8")


def _check_any(
    choices: Sequence[Mapping[str, Any]], outcome: Outcome, server: WireServer, clock: ManualClock | None
) -> None:
    """One of several results; if none, why each was not."""
    why: list[AssertionError] = []
    for choice in choices:
        try:
            check_answer(choice, outcome, server, clock)
        except AssertionError as error:
            why.append(error)
        else:
            return
    raise AssertionError("; ".join(map(str, why)))


def _outcome(want: str, got: Outcome) -> None:
    assert want in ("ok", "error")
    if want == "ok":
        assert got.error is None, got.error
    else:
        assert got.error is not None


def _text(want: Any, got: Outcome) -> None:
    assert_fits(want, text_of(got.blocks), "text")


def _thinking(want: Any, got: Outcome) -> None:
    said = "".join(block.text for block in got.blocks if isinstance(block, Thinking))
    assert_fits(want, said, "thinking")


def _thinking_blocks(want: Sequence[Mapping[str, Any]], got: Outcome) -> None:
    blocks = [block for block in got.blocks if isinstance(block, Thinking)]
    assert len(blocks) == len(want)
    for row, block in zip(want, blocks, strict=True):
        if "redacted" in row:
            assert block.redacted == row["redacted"]
        else:
            assert (block.text, block.signature) == (row["text"], row["signature"])


def _tool_calls(want: Sequence[Mapping[str, Any]], got: Outcome) -> None:
    calls = [block for block in got.blocks if isinstance(block, ToolCall)]
    assert len(calls) == len(want), calls
    for row, call in zip(want, calls, strict=True):
        assert call.invalid is row.get("invalid", False)
        for key, value in row.items():
            if key != "invalid":
                assert_fits(value, getattr(call, key), key)


def _distinct_ids(want: bool, got: Outcome) -> None:
    ids = [block.id for block in got.blocks if isinstance(block, ToolCall)]
    assert len(ids) == len(set(ids)) > 1 or not want


def _stop(want: Any, got: Outcome) -> None:
    assert got.finished is not None
    assert_fits(want, got.finished.stop.reason, "stop")


def _usage(want: Mapping[str, Any], got: Outcome) -> None:
    assert got.finished is not None
    usage: Usage = got.finished.usage
    assert usage.provenance == "reported"
    ours = {
        "input_total": usage.input_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "output_total": usage.output_tokens,
        "reasoning": usage.reasoning_tokens,
    }
    for key, value in want.items():
        assert_fits(value, ours[key], key)


def _error(want: Mapping[str, Any], got: Outcome) -> None:
    assert got.error is not None
    failure = got.error.failure
    kind = want.get("kind")
    if kind in _FIXTURE_KINDS:
        assert failure.kind == kind
    elif kind is not None:
        assert failure.source == kind
    for text in want.get("message_contains", ()):
        assert text in failure.message
    if "status" in want:
        assert_fits(want["status"], failure.status, "status")
    for key in ("code", "type"):
        if key in want:
            assert_fits(want[key], getattr(failure.provider, key), key)


def _partial(want: Mapping[str, Any], got: Outcome) -> None:
    for key, value in want.items():
        {"text": _text, "thinking": _thinking, "tool_calls": _tool_calls}[key](value, got)


_ANSWER_CHECKS: Mapping[str, Any] = {
    "outcome": _outcome,
    "text": _text,
    "thinking": _thinking,
    "thinking_blocks": _thinking_blocks,
    "tool_calls": _tool_calls,
    "distinct_ids": _distinct_ids,
    "stop": _stop,
    "usage": _usage,
    "error": _error,
    "partial": _partial,
}
_OTHER_KEYS = {
    "attempts",
    "same_body",
    "delays_s",
    "forbid",
    "encodable",
    "limiter_acquires",
    "no_warnings",
    "within_s",
}


def assert_fits(want: Any, got: Any, what: str) -> None:
    """A value of `expect`, or one of its matchers."""
    if isinstance(want, dict) and want.keys() <= _MATCHERS.keys():
        assert all(_MATCHERS[name](value, got) for name, value in want.items()), (
            f"{what}: {got!r}, not {want}"
        )
    else:
        assert got == want, f"{what}: {got!r}, not {want!r}"


_MATCHERS: Mapping[str, Any] = {
    "any_of": lambda want, got: got in want,
    "nonempty": lambda want, got: bool(got) is want,
    "matches": lambda want, got: re.search(want, got) is not None,
    "length": lambda want, got: len(got) == want,
    "min": lambda want, got: got >= want,
    "max": lambda want, got: got <= want,
    "not_contains": lambda want, got: got is not None and not any(part in got for part in want),
}


def request_of(fixture: Mapping[str, Any]) -> ReplyRequest:
    """The neutral request that a `request` fixture describes."""
    given = fixture["input"]
    config = given["config"]
    thinking = config.get("thinking")
    return ReplyRequest(
        tuple(
            Message(row["role"], tuple(_block(block) for block in row["blocks"])) for row in given["messages"]
        ),
        tuple(SystemSegment(row["text"], row.get("cache", False)) for row in given.get("system", ())),
        tuple(ToolSpec(row["name"], row["description"], row["schema"]) for row in given.get("tools", ())),
        ReplyOptions(
            max_tokens=config.get("max_tokens"),
            temperature=config.get("temperature"),
            thinking=None if thinking is None else ThinkingWish(**thinking),
            reasoning_effort=config.get("reasoning_effort"),
            reasoning_replay=True if config.get("reasoning_replay") else None,
            stream=config.get("stream", True),
            extra_headers=config.get("extra_headers", {}),
        ),
    )


def _block(row: Mapping[str, Any]) -> Block:
    fields = {key: value for key, value in row.items() if key != "type"}
    match row["type"]:
        case "tool_result":
            blocks = tuple(_block(block) for block in row["blocks"])
            return ToolResult(row["id"], blocks, row.get("is_error", False))  # type: ignore[arg-type]  # as given
        case "thinking":
            return Thinking(row["text"], row.get("signature") or None)
        case "tool_call":
            return ToolCall(**fields)
        case "text":
            return Text(**fields)
        case "image":
            return Image(**fields)
        case other:
            raise AssertionError(f"no block of the type {other}")


def check_request(expect: Mapping[str, Any], seen: Seen) -> None:
    """`expect.request`: rules, checks and headers of what was sent."""
    body = strict_json(seen.body)
    for rule in expect.get("rules", ()):
        name, _, argument = rule.partition(":")
        _RULES[name](body, argument)
    for check in expect.get("checks", ()):
        _check(check, body)
    for name, want in expect.get("headers", {}).items():
        values = [value for known, value in seen.headers if known.lower() == name]
        if "count" in want:
            assert len(values) == want["count"], (name, values)
            if "value" in want:
                assert values[0] == want["value"]
        else:
            assert_fits(want, values[0], name)


def strict_json(body: bytes) -> Any:
    """Strict UTF-8, strict JSON."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is no JSON")

    value = json.loads(body.decode("utf-8"), parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # no lone surrogates
    return value


def _check(check: Mapping[str, Any], body: Any) -> None:
    found: Any = _at(check["path"], body)
    value: Any = check.get("value")
    match check["op"]:
        case "equals":
            assert found == value, (check, found)
        case "absent":
            assert found is _NOTHING, (check, found)
        case "present":
            assert found is not _NOTHING, check
        case "absent_or_equals":
            assert found is _NOTHING or found == value, (check, found)
        case "matches":
            assert re.search(value, found), (check, found)
        case "no_where":
            assert not [row for row in found if row.get(value["field"]) == value["value"]]
        case "count_where":
            rows = [row for row in found if row.get(value["field"]) == value["value"]]
            assert len(rows) == value["n"]
        case "contains_type":
            assert any(part.get("type") == value for part in found), (check, found)
        case "not_contains_type":
            parts = found if isinstance(found, list) else []
            assert not any(part.get("type") == value for part in parts), (check, found)
        case "not_contains_text":
            assert value not in json.dumps(found, ensure_ascii=False)
        case other:
            raise AssertionError(f"no check for {other}")


_NOTHING = object()


def _at(path: str, value: Any) -> Any:
    for part in path.split("/")[1:]:
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError):
            return _NOTHING
    return value


def chat_pairs(body: Any, _: str) -> None:
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, f"{waiting} have no result"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert len(waiting) == len(set(waiting))
    assert not waiting


def _one_token_key(body: Any, _: str) -> None:
    assert len({"max_tokens", "max_completion_tokens"} & body.keys()) == 1


def _arguments_are_objects(body: Any, _: str) -> None:
    calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
    assert calls
    for call in calls:
        assert isinstance(strict_json(call["function"]["arguments"].encode()), dict)


def anthropic_pairs(body: Any, _: str) -> None:
    """Every call has exactly one result in the next message, results first there, and ids are distinct."""
    waiting: list[str] = []
    every: list[str] = []
    for message in body["messages"]:
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), (results, waiting)
        kinds = [block["type"] == "tool_result" for block in message["content"]]
        assert kinds == sorted(kinds, reverse=True), "results come first"
        waiting = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        assert not waiting or message["role"] == "assistant"
        every += waiting
    assert not waiting
    assert len(every) == len(set(every))


def roles_alternate(body: Any, _: str) -> None:
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))]
    assert all(message["content"] for message in body["messages"])


def responses_pairs(body: Any, _: str) -> None:
    calls: set[str] = set()
    answered: set[str] = set()
    for item in body["input"]:
        if item.get("type") == "function_call":
            assert item["call_id"] not in calls
            calls.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            assert item["call_id"] in calls - answered
            answered.add(item["call_id"])
    assert calls == answered


def no_empty_text(body: Any, _: str) -> None:
    for message in body["messages"]:
        content = message["content"]
        assert not isinstance(content, str) or content.strip()
    for block in _every_object([body.get("system"), body["messages"]]):
        if block.get("type") == "text" and "media_type" not in block:
            assert block["text"].strip()
        if block.get("type") == "tool_result":
            assert block["content"] != ""


def cache_marks(body: Any, _: str) -> None:
    marked = [block for block in _every_object(body) if "cache_control" in block]
    assert len(marked) <= 4
    assert all(block.get("type") not in ("thinking", "redacted_thinking") for block in marked)
    assert all(block.get("text", "x").strip() for block in marked)


def _max_tokens_above_budget(body: Any, _: str) -> None:
    assert body["max_tokens"] > body["thinking"]["budget_tokens"] >= 1024


def _results_match_calls(body: Any, texts: str) -> None:
    found = [block for message in body["messages"] for block in message["content"]]
    calls = [block["id"] for block in found if block["type"] == "tool_use"]
    said = {
        block["tool_use_id"]: block["content"][0]["text"] for block in found if block["type"] == "tool_result"
    }
    assert [said[call] for call in calls] == texts.split(",")


def tool_names_legal_distinct(body: Any, _: str) -> None:
    names = [tool["name"] for tool in body["tools"]]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert len(set(names)) == len(names)


def _history_names_in_tools(body: Any, _: str) -> None:
    used = {block["name"] for block in _every_object(body["messages"]) if block.get("type") == "tool_use"}
    assert used
    assert used <= {tool["name"] for tool in body["tools"]}


def no_server_item_ids(body: Any, _: str) -> None:
    for item in _every_object(body["input"]):
        assert not str(item.get("id")).startswith(("rs_", "msg_", "fc_"))
        assert item.get("type") != "item_reference"


def _every_object(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _every_object(item)


_RULES: Mapping[str, Any] = {
    "valid_json_utf8": lambda body, _: None,  # read strictly already
    "anthropic_pairs": anthropic_pairs,
    "arguments_are_json_objects": _arguments_are_objects,
    "cache_breakpoints_max_4": cache_marks,
    "chat_pairs": chat_pairs,
    "history_names_in_tools": _history_names_in_tools,
    "max_tokens_above_budget": _max_tokens_above_budget,
    "no_empty_text": no_empty_text,
    "no_server_item_ids": no_server_item_ids,
    "one_token_key": _one_token_key,
    "responses_pairs": responses_pairs,
    "results_match_calls": _results_match_calls,
    "roles_alternate": roles_alternate,
    "tool_names_legal_distinct": tool_names_legal_distinct,
}


def without_finish(outcome: Outcome) -> Outcome:
    """For comparing streams of one answer: attempts are not part of it."""
    finished = outcome.finished
    return (
        outcome if finished is None else attrs.evolve(outcome, finished=attrs.evolve(finished, attempts=()))
    )
