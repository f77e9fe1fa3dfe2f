"""A neutral request as the body and headers of the chat wire (contract C1, M7, M8). Pure."""

from collections.abc import Mapping
from typing import Any, Literal

from norma.adapters.openai_chat.messages import MessageEncoder
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.history import Memory
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.offers import Offers
from norma.adapters.wires.posting import Posting
from norma.adapters.wires.profiles import Profile, Replay
from norma.adapters.wires.schemas import closed, is_strict
from norma.domain.model.requests import ReplyOptions, ReplyRequest
from norma.domain.model.secrets import Secret

SUFFIX = "/chat/completions"
_LIMITS = ("max_tokens", "max_completion_tokens")


class RequestEncoder(Posting):
    """
    Encodes requests for one model of one provider.

    Raises ValueError, from `encode`, for a tool that the wire can't take; the message names it.
    """

    def __init__(
        self, *, url: str, model: str, api_key: Secret | None, profile: Profile, vendor: str
    ) -> None:
        super().__init__(url=url, model=model, api_key=api_key, profile=profile)
        self._vendor = vendor
        self._memories: dict[tuple[Replay, bool], Memory] = {}
        self._offers = Offers(_tool, inline_refs=self._profile.inline_refs)

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """The one request that is sent, and sent again."""
        options = request.options
        names = WireNames(tool.name for tool in request.tools)
        losses: list[Loss] = []
        body: dict[str, Any] = {"model": self._model, "messages": self._messages(request, names, losses)}
        if request.tools:
            body["tools"] = self._offers.encode(request.tools, names, losses)
        wishes = self._wishes(options, losses)
        body |= {name: value for name, value in wishes.items() if self._takes(name, losses)}
        return self._posted(body, options, names, losses)

    def _make_room(self, body: dict[str, Any], added: Mapping[str, Any]) -> None:
        ours = self._profile.token_limit_key
        if ours not in added and not added.keys().isdisjoint(_LIMITS):
            body.pop(ours, None)  # exactly one bound is taken
        if body.get("stream") is not True and "stream_options" not in added:
            body.pop("stream_options", None)

    def _messages(self, request: ReplyRequest, names: WireNames, losses: list[Loss]) -> list[dict[str, Any]]:
        wish = request.options.reasoning_replay
        replay: Replay = self._profile.reasoning_replay if wish is None else "always" if wish else "never"
        encoder = MessageEncoder(
            self._profile,
            names,
            vendor=self._vendor,
            replay=replay,
            replay_all=wish is True,
            memory=self._memories.setdefault((replay, wish is True), Memory()),
        )
        messages = encoder.encode(request.messages)
        losses += encoder.losses
        system = "\n\n".join(segment.text for segment in request.system if segment.text.strip())
        return [{"role": self._profile.system_role, "content": system}, *messages] if system else messages

    def _wishes(self, options: ReplyOptions, losses: list[Loss]) -> dict[str, Any]:
        """The options, as this provider says them."""
        profile = self._profile
        out: dict[str, Any] = {}
        if options.max_tokens:
            out[profile.token_limit_key] = options.max_tokens
        if options.temperature is not None:
            out["temperature"] = options.temperature
        if options.stop:
            most = profile.most_stops or len(options.stop)
            out["stop"] = list(options.stop[:most])
            if len(options.stop) > most:
                losses.append(Loss("stop", "dropped", f"{profile.name} takes {most} at most"))
        if options.reasoning_effort is not None:
            out["reasoning_effort"] = options.reasoning_effort
        if options.response_schema is not None:
            schema = closed(options.response_schema)
            form = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
            out["response_format"] = {"type": "json_schema", "json_schema": form}
        out |= self._thinking(options, losses)
        out["stream"] = options.stream
        if options.stream and profile.stream_usage:
            out["stream_options"] = {"include_usage": True}
        return out

    def _thinking(self, options: ReplyOptions, losses: list[Loss]) -> dict[str, Any]:
        wish, form = options.thinking, self._profile.thinking_form
        if form == "reasoning":
            return _reasoning(options)
        if wish is None:
            return {}
        if form == "type":
            return {"thinking": {"type": _on(enabled=wish.enabled)}}
        if form == "enable_thinking":
            budget = {} if wish.budget_tokens is None else {"thinking_budget": wish.budget_tokens}
            return {"enable_thinking": wish.enabled, **(budget if wish.enabled else {})}
        losses.append(Loss("thinking", "dropped", f"{self._profile.name} has no switch for it"))
        return {}


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def _on(*, enabled: bool) -> Literal["enabled", "disabled"]:
    return "enabled" if enabled else "disabled"


def _reasoning(options: ReplyOptions) -> dict[str, Any]:
    """`reasoning: {…}`: effort, or a budget, or whether at all."""
    wish = options.thinking
    if wish is not None and not wish.enabled:
        return {"reasoning": {"enabled": False}}
    if wish is not None and wish.budget_tokens is not None:
        return {"reasoning": {"max_tokens": wish.budget_tokens}}
    if options.reasoning_effort is not None:
        return {"reasoning": {"effort": options.reasoning_effort}}
    return {} if wish is None else {"reasoning": {"enabled": True}}
