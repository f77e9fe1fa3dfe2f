"""Answers of the Messages wire as neutral events (contract A5, A6, M5, M9-M12). Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from norma.adapters.http.json_text import parse_exactly, whole_text
from norma.adapters.wires.arguments import read_arguments
from norma.adapters.wires.assembly import Assembly, LateArguments
from norma.adapters.wires.decoding import AnswerDecoding, count
from norma.adapters.wires.errors import WireError, api_failure, error_in, excerpt, protocol_error
from norma.domain.model.replies import Stop, StopReason
from norma.domain.model.usage import Usage

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context_overflow",
}

_BESIDE_A_CALL = ("caller", "toolset_name")
"""What stands beside a call and is wanted back."""

_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class AnswerDecoder(AnswerDecoding):
    """Decodes one answer: `feed` and `finish` for a stream, `whole` for a JSON body."""

    no_end = "it gave neither a stop reason nor message_stop"

    def __init__(
        self,
        *,
        host: str,
        new_id: Callable[[], str],
        vendor: str,
        tool_name: Callable[[str], str],
        statuses: frozenset[int],
    ) -> None:
        super().__init__(host, Assembly(new_id=new_id, vendor=vendor, tool_name=tool_name), statuses)
        self._stop: str | None = None
        self._counts: dict[str, int] = {}
        self._last: int | None = None
        self._kinds: dict[Any, str] = {}
        """The kind of each block that was begun, by its index."""
        self._open_calls: dict[Any, Any] = {}
        """The ids of the calls that have not ended, by their index."""
        self._inputs: dict[Any, list[str]] = {}
        """The input of provider-run tools, piece by piece."""
        self._opaque: dict[Any, dict[str, Any] | None] = {}
        """Blocks that only the provider understands; None: one that can't be put together."""

    def _event(self, value: Any, data: bytes) -> None:
        """One event. Runs for every delta, so the common case comes first and does little."""
        if type(value) is not dict:
            self._no_object(value, data)
            return
        kind = value.get("type")
        if kind == "content_block_delta":
            delta = value.get("delta")
            if type(delta) is dict:
                text = delta.get("text")
                if type(text) is str and delta.get("type") == "text_delta":
                    self._assembly.text(text)
                else:
                    self._delta(self._index(value), delta, data)
            return
        match kind:
            case "content_block_start":
                self._start(value, data)
            case "content_block_stop":
                self._stopped(self._index(value))
            case "message_start":
                message = value.get("message")
                self._usage(message.get("usage") if isinstance(message, dict) else value.get("usage"))
            case "message_delta":
                self._message_delta(value)
            case "message_stop":
                self._usage(value.get("usage"))
                self._end()
            case "message" if isinstance(value.get("content"), list):  # a whole answer as one event
                self._body(parse_exactly(data), data)
                self._end()
            case "error":
                raise self._failure(value)
            case None if value.get("error"):
                raise self._failure(value)
            case _ if value.get("object") == "error":
                raise self._failure(value)
            case _:  # a ping, or something newer than this
                pass

    def _body(self, value: dict[str, Any], data: bytes) -> None:
        if error_in(value) is not None:
            raise self._failure(value)
        content = value.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if content is None and value.get("stop_reason"):
            content = []
        if not isinstance(content, list):
            raise protocol_error(f"the answer of {self._host} has no content: {excerpt(data)}")
        for index, block in enumerate(content):
            if isinstance(block, dict):
                self._begin(index, block)
                self._stopped(index)
        self._message_delta({"delta": value, "usage": value.get("usage")})

    def _start(self, value: dict[str, Any], data: bytes) -> None:
        index, block = value.get("index"), value.get("content_block")
        if not isinstance(index, int):
            index = len(self._kinds)
        if isinstance(block, dict):
            if block.get("input") or block.get("content"):  # values that matter: integers exact
                block = parse_exactly(data)["content_block"]
            self._begin_anew(index, block)

    def _begin_anew(self, index: int, block: dict[str, Any]) -> None:
        """A block begins, unless the event is there twice."""
        call_id = block.get("id")
        if call_id and block.get("type") == "tool_use" and self._open_calls.get(index) == call_id:
            return
        self._begin(index, block)

    def _index(self, value: dict[str, Any]) -> int | None:
        """Which block an event is about; without a word of it, the one that began last."""
        index = value.get("index")
        return index if isinstance(index, int) else self._last

    def _begin(self, index: Any, block: dict[str, Any]) -> None:
        """A block, and what of it is there already; a whole message's blocks are all there."""
        assembly = self._assembly
        kind = block.get("type")
        self._last = index
        self._kinds[index] = kind if isinstance(kind, str) else ""
        match kind:
            case "text":
                assembly.end_block()
                assembly.text(_text(block.get("text")))
                citations = block.get("citations")
                for citation in citations if isinstance(citations, list) else ():
                    self._citation(citation)
            case "thinking":
                assembly.end_block()
                assembly.thinking(_text(block.get("thinking")))
                if signature := _text(block.get("signature")):
                    assembly.signature(signature)
            case "redacted_thinking":
                assembly.end_block()
                if redacted := _text(block.get("data")):
                    assembly.redacted(redacted)
            case "tool_use":
                self._open_calls[index] = block.get("id")
                assembly.open_call(index, _text(block.get("id")), _text(block.get("name")))
                if (given := block.get("input")) not in ({}, ""):  # what stands there until the pieces come
                    assembly.set_arguments(index, given)
                if extra := {name: block[name] for name in _BESIDE_A_CALL if block.get(name)}:
                    assembly.call_extra(index, extra)
            case _:
                assembly.end_block()
                self._opaque[index] = block
        self._inputs[index] = []

    def _delta(self, index: Any, delta: dict[str, Any], data: bytes) -> None:
        assembly = self._assembly
        match delta.get("type"):
            case "input_json_delta":
                piece = delta.get("partial_json")
                if isinstance(piece, dict) and self._kinds.get(index) == "tool_use":  # all of it, as a value
                    assembly.set_arguments(index, parse_exactly(data)["delta"]["partial_json"])
                else:
                    self._input(index, _text(piece))
            case "thinking_delta":
                assembly.thinking(_text(delta.get("thinking")))
            case "signature_delta":
                assembly.signature(_text(delta.get("signature")))
            case "citations_delta":
                self._citation(delta.get("citation"))
            case _ if index in self._opaque:
                self._opaque[index] = None  # without this piece it would be another block
            case _:
                pass

    def _input(self, index: Any, piece: str) -> None:
        """A piece of a tool's input. Pieces replace what the block began with."""
        pieces = self._inputs.get(index)
        if pieces is None:
            why = f"input came for the block {index}, which was never begun"
            raise protocol_error(f"the answer of {self._host} can't be put together: {why}")
        if self._kinds[index] != "tool_use":
            pieces.append(piece)
            return
        try:
            if piece and not pieces:
                pieces.append("")
                self._assembly.set_arguments(index, "")
            self._assembly.arguments(index, piece)
        except LateArguments as error:
            raise protocol_error(f"the answer of {self._host} can't be put together: {error}") from None

    def _citation(self, citation: object) -> None:
        if isinstance(citation, dict) and citation:
            self._assembly.citation(citation)

    def _stopped(self, index: Any) -> None:
        if self._kinds.get(index) == "tool_use":
            self._open_calls.pop(index, None)
            self._assembly.end_call(index)
        elif index in self._opaque:
            self._end_opaque(index)
        else:
            self._assembly.end_block()

    def _end_opaque(self, index: Any) -> None:
        """Keep a block that only its provider understands, if all of it came."""
        payload = self._opaque.pop(index)
        raw = "".join(self._inputs[index])
        if payload is None or not payload.get("type"):
            return
        if raw.strip():
            given = read_arguments(raw)
            if given is None:
                return
            payload = {**payload, "input": given}
        self._assembly.opaque(payload)

    def _message_delta(self, value: dict[str, Any]) -> None:
        delta = value.get("delta")
        if isinstance(delta, dict):
            word = delta.get("stop_reason")
            if word and isinstance(word, str):
                self._stop = word
        self._usage(value.get("usage"))

    def _usage(self, report: object) -> None:
        """A cumulative report; those of one reply fold by the maximum of each count (M9)."""
        counts = self._counts
        for name in _COUNTS:
            if (found := count(report, name)) is not None:
                counts[name] = max(found, counts.get(name, 0))
        written = report.get("cache_creation") if isinstance(report, dict) else None
        if isinstance(written, dict) and (parts := [count(written, name) or 0 for name in written]):
            name = "cache_creation_input_tokens"
            counts[name] = max(sum(parts), counts.get(name, 0))
        details = report.get("output_tokens_details") if isinstance(report, dict) else None
        if (found := count(details, "thinking_tokens")) is not None:
            counts["thinking_tokens"] = max(found, counts.get("thinking_tokens", 0))
        if counts:
            self._assembly.add_usage(read_usage(counts))

    def _has_ended(self) -> bool:
        return self._stop is not None

    def _done_mark(self) -> None:
        """Some gateways send it in place of message_stop."""
        if self._has_ended():
            self._end()

    def _end(self) -> None:
        self.is_done = True
        self._assembly.finish(Stop(self._reason(), self._stop))

    def _reason(self) -> StopReason:
        reason: StopReason = "end_turn" if self._stop is None else _STOPS.get(self._stop, "other")
        if reason in ("end_turn", "tool_use") and self._assembly.has_calls:
            return "tool_use"
        return "other" if reason == "tool_use" else reason  # it says so, but there is no call

    def _failure(self, value: dict[str, Any]) -> WireError:
        error = api_failure(self._host, value.get("error") or value, statuses=self._statuses)
        request_id = value.get("request_id")
        if isinstance(request_id, str):
            words = evolve(error.failure.provider, request_id=whole_text(request_id))
            return WireError(evolve(error.failure, provider=words), may_retry=error.may_retry)
        return error


def read_usage(counts: Mapping[str, int]) -> Usage:
    """A provider's counts as neutral ones: its input count leaves out what the cache read or wrote."""
    fresh = counts.get("input_tokens")
    read, written = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(total, read, written, counts.get("output_tokens"), counts.get("thinking_tokens"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
