"""A neutral request as the body and headers of the Responses wire (contract R1, R3, M7, M8). Pure."""

from collections.abc import Mapping
from typing import Any

from norma.adapters.openai_responses.messages import ItemEncoder, ReasoningReplay
from norma.adapters.wires.encoded import EncodedRequest
from norma.adapters.wires.history import Memory, Wire
from norma.adapters.wires.losses import Loss
from norma.adapters.wires.names import WireNames
from norma.adapters.wires.offers import Offers
from norma.adapters.wires.posting import Posting
from norma.adapters.wires.profiles import Profile
from norma.adapters.wires.schemas import closed, is_strict
from norma.domain.model.requests import ReplyOptions, ReplyRequest
from norma.domain.model.secrets import Secret

SUFFIX = "/responses"
ENCRYPTED = "reasoning.encrypted_content"


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
        self._memories: dict[ReasoningReplay, Memory] = {}
        self._offers = Offers(_tool, inline_refs=self._profile.inline_refs)

    def encode(self, request: ReplyRequest) -> EncodedRequest:
        """The one request that is sent, and sent again."""
        options = request.options
        names = WireNames(tool.name for tool in request.tools)
        losses: list[Loss] = []
        wish = options.reasoning_replay
        replay: ReasoningReplay = "own" if (self._profile.reasons if wish is None else wish) else "never"
        body: dict[str, Any] = {"model": self._model}
        instructions = "\n\n".join(segment.text for segment in request.system if segment.text.strip())
        if instructions:
            body["instructions"] = instructions
        body["input"] = self._items(request, names, replay, losses)
        if request.tools:
            body["tools"] = self._offers.encode(request.tools, names, losses)
        body |= self._wishes(options, losses)
        body["store"] = False
        if replay == "own":
            body["include"] = [ENCRYPTED]
        body["stream"] = options.stream
        return self._posted(body, options, names, losses)

    def _items(
        self, request: ReplyRequest, names: WireNames, replay: ReasoningReplay, losses: list[Loss]
    ) -> list[Wire]:
        memory = self._memories.setdefault(replay, Memory())
        encoder = ItemEncoder(self._profile, names, own=self._own, replay=replay, memory=memory)
        items = encoder.encode(request.messages)
        losses += encoder.losses
        return items

    def _wishes(self, options: ReplyOptions, losses: list[Loss]) -> dict[str, Any]:
        """The options, as this wire says them."""
        out: dict[str, Any] = {}
        if options.max_tokens:
            out["max_output_tokens"] = options.max_tokens
        if options.temperature is not None and self._takes("temperature", losses):
            out["temperature"] = options.temperature
        if options.stop:
            losses.append(Loss("stop", "dropped", "this wire has no stop sequences"))
        if reasoning := self._reasoning(options, losses):
            out["reasoning"] = reasoning
        if options.response_schema is not None:
            schema = closed(options.response_schema)
            form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}
            out["text"] = {"format": form}
        return out

    def _reasoning(self, options: ReplyOptions, losses: list[Loss]) -> dict[str, Any]:
        """Effort as it is wished; a wish to think asks for a summary of it from a model that reasons."""
        wish, effort = options.thinking, options.reasoning_effort
        if wish is not None and not wish.enabled:
            if effort is not None:
                losses.append(Loss("reasoning_effort", "dropped", "thinking is switched off"))
            return {}
        out: dict[str, Any] = {}
        if effort is not None and self._takes("reasoning_effort", losses):
            out["effort"] = effort
        if wish is None:
            return out
        if wish.budget_tokens is not None:
            losses.append(Loss("thinking", "translated", "this wire takes an effort, no budget of tokens"))
        if self._profile.reasons:
            out["summary"] = "auto"
        elif effort is None:
            losses.append(Loss("thinking", "dropped", f"{self._profile.name} has no switch for it"))
        return out


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    # Said, because this wire takes a schema for strict where nothing is.
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": schema,
        "strict": False,
    }
