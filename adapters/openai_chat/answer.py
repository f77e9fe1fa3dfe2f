"""Answers of the chat wire as neutral events (contract C4-C7, M5, M9-M12). Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from norma.adapters.http.json_text import parse_exactly
from norma.adapters.openai_chat.calls import Calls, holds_objects
from norma.adapters.wires.assembly import Assembly, LateArguments
from norma.adapters.wires.decoding import AnswerDecoding, count
from norma.adapters.wires.errors import (
    WireError,
    api_failure,
    error_in,
    excerpt,
    number_in,
    protocol_error,
)
from norma.domain.model.failures import Failure, ProviderWords
from norma.domain.model.replies import Stop, StopReason
from norma.domain.model.usage import Usage

_STOPS: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "end_turn": "end_turn",
    "eos": "end_turn",
    "tool_calls": "tool_use",
    "tool_use": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_overflow",
}

_CALLS = frozenset({"tool_calls", "function_call"})
_IN_ERRORS = frozenset({"error", "base_resp", "x_groq", "type"})
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")

_MINIMAX: Mapping[int, tuple[str, bool]] = {
    1000: ("server", True),
    1001: ("timeout", False),
    1002: ("rate_limited", True),
    1004: ("authentication", False),
    1008: ("permission", False),
    1013: ("server", True),
    1024: ("server", True),
    1033: ("server", True),
    1039: ("rate_limited", True),
    2049: ("authentication", False),
}
"""`base_resp.status_code` of MiniMax: the kind of failure, and whether trying again may help."""


class AnswerDecoder(AnswerDecoding):
    """Decodes one answer: `feed` and `finish` for a stream, `whole` for a JSON body."""

    no_end = "it gave neither a finish reason nor [DONE]"

    def __init__(
        self,
        *,
        host: str,
        new_id: Callable[[], str],
        vendor: str,
        tool_name: Callable[[str], str],
        statuses: frozenset[int],
    ) -> None:
        assembly = Assembly(new_id=new_id, vendor=vendor, tool_name=tool_name, calls_overlap=True)
        super().__init__(host, assembly, statuses)
        self._calls = Calls(assembly)
        self._finish_word: str | None = None
        self._refused = False

    def _body(self, value: dict[str, Any], data: bytes) -> None:
        self._raise_error(value)
        choice = _first_choice(value)
        if choice is None:
            raise protocol_error(f"the answer of {self._host} has no choices: {excerpt(data)}")
        message = choice.get("message") or choice.get("delta")  # some gateways send one whole delta
        self._choice(choice, message if isinstance(message, dict) else {}, is_whole=True)
        self._usage(value.get("usage"))

    def _has_ended(self) -> bool:
        return self._finish_word is not None

    def _done_mark(self) -> None:
        self._end()

    def _event(self, value: Any, data: bytes) -> None:
        """One event's JSON. Runs for every delta, so the common case comes first and does little."""
        if type(value) is not dict:
            self._no_object(value, data)
            return
        if self._goes_on(value):
            return
        if not _IN_ERRORS.isdisjoint(value) or value.get("object") == "error":
            self._raise_error(value)
        choices = value.get("choices")
        if choices:
            choice = _first_choice(value)
            if choice is not None:
                delta = choice.get("delta")
                if delta is None:
                    delta = choice.get("message")  # some gateways send one whole message
                if type(delta) is not dict:
                    delta = {}
                elif not _CALLS.isdisjoint(delta) and holds_objects(delta):  # their integers count
                    choice = _first_choice(parse_exactly(data)) or choice
                    delta = choice.get("delta") or delta
                self._choice(choice, delta, is_whole=False)
        usage = value.get("usage")
        if usage is not None:
            self._usage(usage)
        elif isinstance(beside := value.get("x_groq"), dict):
            self._usage(beside.get("usage"))

    def _goes_on(self, chunk: dict[str, Any]) -> bool:
        """Nearly always: one more piece of text, or of a call's arguments, and nothing else."""
        choices = chunk.get("choices")
        if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
            return False
        choice = choices[0]
        delta = choice.get("delta")
        if type(delta) is not dict or len(delta) != 1 or choice.get("finish_reason") or choice.get("index"):
            return False
        if chunk.get("usage") is not None or choice.get("usage") is not None:
            return False
        if "error" in chunk or "error" in choice or "base_resp" in chunk:
            return False
        content = delta.get("content")
        if type(content) is str:
            self._assembly.text(content)
            return True
        try:
            return self._calls.goes_on(delta.get("tool_calls"))
        except LateArguments as error:
            raise self._late(error) from None

    def _choice(self, choice: dict[str, Any], delta: dict[str, Any], *, is_whole: bool) -> None:
        self._delta(delta, is_whole=is_whole)
        word = choice.get("finish_reason")
        if word and isinstance(word, str):
            self._finish_word = word
        error = choice.get("error") or ({"code": 500} if word == "error" else None)
        if error:
            raise api_failure(self._host, error, statuses=self._statuses)
        if choice.get("usage") is not None:
            self._usage(choice["usage"])

    def _delta(self, delta: dict[str, Any], *, is_whole: bool) -> None:
        """A delta, or a whole message."""
        assembly = self._assembly
        content = delta.get("content")
        for name in _REASONING:
            thought = delta.get(name)
            if thought and isinstance(thought, str):
                assembly.thinking(thought)
                break
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refused = True
            assembly.text(refusal)
        if content:
            if isinstance(content, str):
                assembly.text(content)
            else:
                self._parts(content)
        if not _CALLS.isdisjoint(delta):
            try:
                self._calls.take(delta, is_whole=is_whole)
            except LateArguments as error:
                raise self._late(error) from None

    def _late(self, error: LateArguments) -> WireError:
        return protocol_error(f"the answer of {self._host} can't be put together: {error}")

    def _parts(self, content: object) -> None:
        """Content as a list of parts, some of them thinking."""
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, str):
                self._assembly.text(part)
            elif isinstance(part, dict):
                self._part(part)

    def _part(self, part: dict[str, Any]) -> None:
        match part.get("type"):
            case "thinking" | "reasoning":
                thinking = part.get("thinking") or part.get("reasoning") or part.get("text")
                for piece in thinking if isinstance(thinking, list) else (thinking,):
                    text = piece.get("text") if isinstance(piece, dict) else piece
                    if isinstance(text, str):
                        self._assembly.thinking(text)
            case "refusal":
                self._refused = True
                self._assembly.text(str(part.get("refusal") or ""))
            case _:
                text = part.get("text")
                if isinstance(text, str):
                    self._assembly.text(text)

    def _usage(self, report: object) -> None:
        if isinstance(report, dict):
            usage = read_usage(report)
            if usage is not None:
                self._assembly.add_usage(usage)

    def _end(self) -> None:
        self.is_done = True
        self._assembly.finish(Stop(self._reason(), self._finish_word))

    def _reason(self) -> StopReason:
        word = self._finish_word
        reason: StopReason = "end_turn" if word is None else _STOPS.get(word.lower(), "other")
        if reason in ("end_turn", "tool_use") and self._assembly.has_calls:
            return "tool_use"
        if reason == "tool_use":
            return "other"  # it says so, but there is no call
        return "refusal" if reason == "end_turn" and self._refused else reason

    def _raise_error(self, value: dict[str, Any]) -> None:
        """Raises WireError for what reports an error; words beside it are told, if others were before."""
        error = error_in(value)
        if error is None and isinstance(beside := value.get("x_groq"), dict):
            error = beside.get("error") or None
        base = value.get("base_resp")
        code = number_in(base, "status_code")
        if error is None and not code:
            return
        if self._assembly.has_content and (choice := _first_choice(value)) is not None:
            delta = choice.get("delta")
            self._delta(delta if isinstance(delta, dict) else {}, is_whole=False)
        self._usage(value.get("usage"))
        if error is not None:
            raise api_failure(self._host, error, statuses=self._statuses)
        assert isinstance(base, dict)
        raise self._minimax(code or 0, str(base.get("status_msg") or ""))

    def _minimax(self, code: int, said: str) -> WireError:
        kind, may_retry = _MINIMAX.get(code, ("invalid_request", False))
        message = f"{self._host} reported an error: {said} (code {code})"
        words = ProviderWords(code=str(code), message=said or None)
        failure = Failure(kind, message, "api", provider=words)  # type: ignore[arg-type]  # the table's words
        return WireError(failure, may_retry=may_retry)


def _first_choice(value: dict[str, Any]) -> dict[str, Any] | None:
    """The choice of index 0; further ones were not asked for."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (None, 0, "0", ""):
            return choice
    return None


def read_usage(report: Mapping[str, Any]) -> Usage | None:
    """A provider's report in neutral counts (M9); None if it counts nothing."""
    details = report.get("prompt_tokens_details")
    asked, answered = count(report, "prompt_tokens"), count(report, "completion_tokens")
    reasoning = count(report.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning and answered is not None and asked is not None:
        # Some providers leave reasoning out of their answer's count; their total says so.
        beside = count(report, "total_tokens") == asked + answered + reasoning
        answered += reasoning if beside else 0
    usage = Usage(
        asked,
        _first((details, "cached_tokens"), *((report, name) for name in _CACHE_READS)),
        _first((details, "cache_write_tokens"), (report, "cache_creation_input_tokens")),
        answered,
        reasoning,
    )
    return None if usage == Usage() else usage


_CACHE_READS = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")


def _first(*places: tuple[object, str]) -> int | None:
    """The first of several counts that is reported."""
    return next((found for report, name in places if (found := count(report, name)) is not None), None)
