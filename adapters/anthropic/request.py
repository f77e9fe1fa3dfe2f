"""A neutral request as the body and headers of the Messages wire (contract A1, A2, A7, M7, M8). Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from norma.adapters.anthropic.messages import MessageEncoder, ThinkingReplay
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.history import Memory, Wire
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.offers import Offers
from norma.adapters.wires.posting import Posting
from norma.adapters.wires.profiles import Profile
from norma.adapters.wires.schemas import closed
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment, ThinkingWish
from norma.domain.model.secrets import Secret

VERSION_PART = "/v1"
SUFFIX = f"{VERSION_PART}/messages"
API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 8192
LEAST_BUDGET = 1024
MOST_MARKS = 4

_EPHEMERAL = {"type": "ephemeral"}
_MARKABLE = frozenset({"text", "image", "document", "tool_use", "tool_result"})
_EFFORTS = {"minimal": "low"}
"""Efforts that this wire calls otherwise."""


class RequestEncoder(Posting):
    """
    Encodes requests for one model of one provider; *own* are the vendors whose proofs it takes back.

    Raises ValueError, from `encode`, for a tool that the wire can't take; the message names it.
    """

    def __init__(
        self, *, url: str, model: str, api_key: Secret | None, profile: Profile, own: frozenset[str]
    ) -> None:
        super().__init__(url=url, model=model, api_key=api_key, profile=profile)
        self._own = own
        self._memories: dict[ThinkingReplay, Memory] = {}
        self._offers = Offers(_tool, inline_refs=self._profile.inline_refs)

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """The one request that is sent, and sent again."""
        options = request.options
        names = WireNames(tool.name for tool in request.tools)
        losses: list[Loss] = []
        messages = self._messages(request, names, losses)
        body: dict[str, Any] = {"model": self._model}
        system = _system(request.system)
        tools = list(self._offers.encode(request.tools, names, losses)) if request.tools else []
        if any("cache_control" in segment for segment in system):
            _mark_caches(system, tools, messages)
        if system:
            body["system"] = system
        body["messages"] = messages
        if tools:
            body["tools"] = tools
        body |= self._wishes(options, messages, losses)
        return self._posted(body, options, names, losses)

    def _own_headers(self) -> Mapping[str, str | Secret]:
        key: dict[str, str | Secret] = {} if self._api_key is None else {"x-api-key": self._api_key}
        return {"anthropic-version": API_VERSION, **key}

    def _messages(self, request: ReplyRequest, names: WireNames, losses: list[Loss]) -> list[Wire]:
        options = request.options
        is_off = options.thinking is not None and not options.thinking.enabled
        replay: ThinkingReplay = "never" if is_off or options.reasoning_replay is False else "own"
        memory = self._memories.setdefault(replay, Memory())
        encoder = MessageEncoder(names, own=self._own, replay=replay, memory=memory)
        messages = encoder.encode(request.messages)
        losses += encoder.losses
        return messages

    def _wishes(self, options: ReplyOptions, messages: list[Wire], losses: list[Loss]) -> dict[str, Any]:
        """The options, as this wire says them."""
        out: dict[str, Any] = {"max_tokens": options.max_tokens or DEFAULT_MAX_TOKENS}
        if options.thinking is not None:
            out |= self._thinking(options.thinking, options.max_tokens, messages, losses)
        thinks = out.get("thinking", {}).get("type") in ("enabled", "adaptive")
        if options.temperature is not None and self._takes("temperature", losses):
            if thinks:
                losses.append(Loss("temperature", "dropped", "it can't be set while the model thinks"))
            else:
                out["temperature"] = min(options.temperature, 1)
                if options.temperature > 1:
                    losses.append(Loss("temperature", "translated", "1 is the highest on this wire"))
        if options.stop and self._takes("stop", losses):
            stops = [stop for stop in options.stop if stop.strip()]
            if len(stops) < len(options.stop):
                losses.append(Loss("stop", "dropped", "a stop sequence of blanks is refused on this wire"))
            if stops:
                out["stop_sequences"] = stops
        if config := self._output_config(options, losses):
            out["output_config"] = config
        out["stream"] = options.stream
        return out

    def _output_config(self, options: ReplyOptions, losses: list[Loss]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        effort = options.reasoning_effort
        if effort is not None and self._takes("reasoning_effort", losses):
            if effort == "none" or not self._profile.messages_effort:
                losses.append(Loss("reasoning_effort", "dropped", f"{effort!r} can't be said to this model"))
            else:
                out["effort"] = _EFFORTS.get(effort, effort)
        if options.response_schema is not None:
            out["format"] = {"type": "json_schema", "schema": closed(options.response_schema)}
        return out

    def _thinking(
        self, wish: ThinkingWish, most: int | None, messages: list[Wire], losses: list[Loss]
    ) -> dict[str, Any]:
        """The wish to think, and the bound on tokens that fits it: thinking counts towards it."""
        if not wish.enabled:
            return {"thinking": {"type": "disabled"}}
        if _is_amid_unthought_calls(messages):
            losses.append(Loss("thinking", "dropped", "the calls that are being answered came without any"))
            return {}
        budget = wish.budget_tokens
        if self._profile.messages_thinking == "adaptive":
            if budget is not None:
                losses.append(Loss("thinking", "translated", "this model decides itself how much to think"))
            return {"thinking": {"type": "adaptive"}}
        if budget is None:
            budget = max(LEAST_BUDGET, (most or DEFAULT_MAX_TOKENS) // 2)
        fits = max(LEAST_BUDGET, budget)
        if most:
            fits = max(LEAST_BUDGET, min(fits, most - 1))
        if fits != budget:
            losses.append(Loss("thinking", "translated", f"its budget has to be {fits} tokens here"))
        limit = most or max(DEFAULT_MAX_TOKENS, fits + DEFAULT_MAX_TOKENS // 2)
        if limit <= fits:
            losses.append(Loss("max_tokens", "translated", "thinking counts towards it, and needs 1024"))
            limit += fits
        return {"thinking": {"type": "enabled", "budget_tokens": fits}, "max_tokens": limit}


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": schema}


def _system(segments: Sequence[SystemSegment]) -> list[Wire]:
    """The segments with words; the mark of one without stands on what is before it."""
    out: list[Wire] = []
    for segment in segments:
        if segment.text.strip():
            out.append({"type": "text", "text": segment.text})
        if segment.cache and out:
            out[-1]["cache_control"] = _EPHEMERAL
    return out


def _mark_caches(system: list[Wire], tools: list[Wire], messages: list[Wire]) -> None:
    """
    Where the system prompt asks to be kept, keep the tools before it and the conversation after it too.

    At most four marks can be sent; each covers all before it, so the last four stay.
    """
    if tools:
        tools[-1] = {**tools[-1], "cache_control": _EPHEMERAL}
    tail = _mark_tail(messages)
    marked = [part for part in (*tools, *system) if "cache_control" in part]
    for part in marked[: max(0, len(marked) + tail - MOST_MARKS)]:
        del part["cache_control"]


def _mark_tail(messages: list[Wire]) -> int:
    """Mark the end of the conversation; how many marks that took."""
    content = list(messages[-1]["content"])
    for at in range(len(content) - 1, -1, -1):
        if content[at]["type"] in _MARKABLE:
            content[at] = {**content[at], "cache_control": _EPHEMERAL}
            messages[-1] = {**messages[-1], "content": content}
            return 1
    return 0


def _is_amid_unthought_calls(messages: list[Wire]) -> bool:
    """Whether results are sent of calls without thinking before them; the API then refuses to think."""
    if not messages or messages[-1]["content"][0]["type"] != "tool_result":
        return False
    for message in reversed(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] == "assistant":
            if kinds[0] in ("thinking", "redacted_thinking"):
                return False
        elif "tool_result" not in kinds:
            break
    return True
