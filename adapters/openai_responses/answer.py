"""Answers of the Responses wire as neutral events (contract R2, M5, M9-M12). Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from norma.adapters.http.json_text import parse_exactly
from norma.adapters.openai_responses.items import Item, Items, Part
from norma.adapters.openai_responses.telling import Telling, said
from norma.adapters.wires.assembly import Assembly, LateArguments
from norma.adapters.wires.decoding import AnswerDecoding, count
from norma.adapters.wires.errors import WireError, api_failure, error_in, excerpt, protocol_error
from norma.domain.model.replies import Stop, StopReason
from norma.domain.model.usage import Usage

_INCOMPLETE: Mapping[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
}

_TERMINAL = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}

_ERRORS = ("error", "response.error")
_UNFINISHED = frozenset({"queued", "in_progress"})


class AnswerDecoder(AnswerDecoding):
    """Decodes one answer: `feed` and `finish` for a stream, `whole` for a JSON body."""

    no_end = "it gave no response.completed, nor another end"

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
        self._items = Items()
        self._stop: tuple[StopReason, str | None] = ("end_turn", None)
        self._telling = Telling(self._assembly, self._items)
        self._where: tuple[Any, Any, Any] | None = None
        self._part = Part()
        self._calls_where: tuple[Any, Any] | None = None
        self._calls_place = 0

    def _event(self, value: Any, data: bytes) -> None:
        """One event. Runs for every delta, so the common case comes first and does little."""
        if type(value) is not dict:
            self._no_object(value, data)
            return
        kind = value.get("type")
        if kind == "response.output_text.delta":
            delta = value.get("delta")
            where = value.get("item_id"), value.get("output_index"), value.get("content_index")
            if where == self._where and type(delta) is str:  # nearly always
                self._part.pieces.append(delta)
                self._assembly.text(delta)
            else:
                self._say("text", value, delta)
            return
        if kind == "response.function_call_arguments.delta":
            self._arguments(value, data)
        elif kind in _ERRORS or (kind is None and value.get("error")) or value.get("object") == "error":
            raise self._failure(value)
        elif isinstance(kind, str):
            if kind in _TERMINAL:
                response = value.get("response")
                self._terminal(response if isinstance(response, dict) else value, _TERMINAL[kind], data)
                self._end()
            else:
                self._rare(kind, value, data)
        elif value.get("object") == "response" and value.get("status") not in _UNFINISHED:
            self._body(value, data)  # a whole answer as one event
            self._end()

    def _body(self, value: dict[str, Any], data: bytes) -> None:
        if error_in(value) is not None:
            raise self._failure(value)
        status = said(value.get("status"))
        if status in _UNFINISHED:
            raise protocol_error(f"{self._host} answered with a response that is still {status}")
        if not isinstance(value.get("output"), list):
            raise protocol_error(f"the answer of {self._host} has no output: {excerpt(data)}")
        self._terminal(value, "completed", data)

    def _rare(self, kind: str, value: dict[str, Any], data: bytes) -> None:
        """Events that come once a part or an item."""
        match kind:
            case "response.output_item.added":
                self._begin(value, data)
            case "response.output_item.done":
                self._done(value, data)
            case "response.output_text.done":
                self._say("text", value, value.get("text"), whole=True)
            case "response.refusal.delta":
                self._say("refusal", value, value.get("delta"))
            case "response.refusal.done":
                self._say("refusal", value, value.get("refusal"), whole=True)
            case "response.reasoning_summary_text.delta":
                self._think("summary", value, value.get("delta"))
            case "response.reasoning_summary_text.done":
                self._think("summary", value, value.get("text"), whole=True)
            case "response.reasoning_text.delta":
                self._think("content", value, value.get("delta"))
            case "response.reasoning_text.done":
                self._think("content", value, value.get("text"), whole=True)
            case "response.function_call_arguments.done":
                self._all_arguments(value, "arguments", data)
            case "response.output_text.annotation.added":
                self._annotation(value)
            case "response.content_part.added":
                self._part_began("message", value, value.get("content_index"))
            case "response.reasoning_summary_part.added":
                self._part_began("reasoning", value, value.get("summary_index"))
            case _:  # a heartbeat, or something newer than this
                pass

    # Text and thinking, piece by piece

    def _say(self, kind: str, event: dict[str, Any], text: object, *, whole: bool = False) -> None:
        """A piece of a message's text or refusal, or all of it."""
        where = event.get("item_id"), event.get("output_index"), event.get("content_index")
        item, is_new = self._items.for_delta("message", *where[:2])
        if is_new:
            self._assembly.end_block()
        if item.is_done or not isinstance(text, str):  # a finished item beats what comes late
            return
        part = item.part(kind, where[2])
        self._telling.tell(part, part.missing(text) if whole else text)
        if kind == "refusal":
            self._telling.refused = True
        else:
            self._where, self._part = where, part

    def _think(self, kind: str, event: dict[str, Any], text: object, *, whole: bool = False) -> None:
        item, is_new = self._items.for_delta("reasoning", event.get("item_id"), event.get("output_index"))
        if is_new:
            self._assembly.end_block()
        if not item.is_done and isinstance(text, str):
            part = item.part(kind, event.get("summary_index" if kind == "summary" else "content_index"))
            self._telling.tell_thought(item, part, part.missing(text) if whole else text)

    def _annotation(self, event: dict[str, Any]) -> None:
        annotation = event.get("annotation")
        item = self._items.find("message", event.get("item_id"), event.get("output_index"))
        if isinstance(annotation, dict) and annotation and item is not None:
            item.part("text", event.get("content_index")).citations += 1
            self._assembly.citation(annotation)

    def _part_began(self, kind: str, event: dict[str, Any], index: object) -> None:
        """Counts the parts of an item, for servers that leave out their numbers."""
        item = self._items.find(kind, event.get("item_id"), event.get("output_index"))
        self._where = None
        if item is not None:
            item.begun = index if isinstance(index, int) else item.begun + 1

    # Calls

    def _call(self, event: dict[str, Any]) -> Item:
        item, is_new = self._items.for_delta("function_call", event.get("item_id"), event.get("output_index"))
        if is_new:
            self._assembly.open_call(item.place, None, None, item.index)
        return item

    def _all_arguments(self, event: dict[str, Any], name: str, data: bytes) -> None:
        """All of a call's arguments in the field *name*; as values their integers are to be exact."""
        arguments = event.get(name)
        if not isinstance(arguments, str | None):
            arguments = parse_exactly(data)[name]
        self._telling.all_arguments(self._call(event), arguments)

    def _arguments(self, event: dict[str, Any], data: bytes) -> None:
        delta = event.get("delta")
        if type(delta) is not str:
            self._all_arguments(event, "delta", data)
            return
        where = event.get("item_id"), event.get("output_index")
        if where != self._calls_where:
            self._calls_where, self._calls_place = where, self._call(event).place
        try:
            self._assembly.arguments(self._calls_place, delta)
        except LateArguments as error:
            raise protocol_error(f"the answer of {self._host} can't be put together: {error}") from None

    # Whole items

    def _begin(self, event: dict[str, Any], data: bytes) -> None:
        """An item begins, and may hold something already."""
        payload = event.get("item")
        self._calls_where = self._where = None  # what these name may be another now
        if not isinstance(payload, dict) or not isinstance(payload.get("type"), str):
            return
        kind = payload["type"]
        item, is_new = self._items.begin(kind, payload.get("id"), event.get("output_index"))
        if kind == "function_call":
            self._telling.name_call(item, payload, is_new=is_new)
            if not isinstance(arguments := payload.get("arguments"), str | None):
                arguments = parse_exactly(data)["item"]["arguments"]
            if arguments is not None:
                self._telling.initial[item.place] = arguments
        elif is_new:
            self._assembly.end_block()

    def _done(self, event: dict[str, Any], data: bytes) -> None:
        payload = event.get("item")
        self._calls_where = self._where = None
        if not isinstance(payload, dict) or not isinstance(payload.get("type"), str):
            return
        if _is_inexact(payload):
            payload = parse_exactly(data)["item"]
        kind, item_id, index = payload["type"], payload.get("id"), event.get("output_index")
        item, is_new = self._items.for_delta(kind, item_id, index)
        if item.is_done and kind == "function_call" and item.call_id != said(payload.get("call_id")):
            item, is_new = self._items.begin(kind, item_id, None)
        self._telling.finish(item, payload, is_new=is_new)

    # The end

    def _terminal(self, response: dict[str, Any], word: str, data: bytes) -> None:
        """The response as it ended; its output may repeat, or be, or lack what was streamed."""
        self._usage(response.get("usage"))
        status = response.get("status")
        word = status if isinstance(status, str) and status not in _UNFINISHED else word
        if word == "failed" or response.get("error"):
            known = any(response.get(name) for name in ("error", "code", "message"))
            raise self._failure(response if known else {"message": "it failed and did not say why"})
        self._output(response.get("output"), data)
        details = response.get("incomplete_details")
        reason = said(details.get("reason")) if isinstance(details, dict) else None
        if word == "completed" and reason is None:
            self._stop = ("end_turn", word)
        elif word in ("completed", "incomplete"):
            self._stop = (_INCOMPLETE.get(reason or "", "other"), reason or word)
        else:
            self._stop = ("other", word)

    def _output(self, output: object, data: bytes) -> None:
        """The items that the finished answer lists: what was not streamed is told now."""
        found = _items(output)
        if any(_is_inexact(payload) for payload in found):
            found = _items(_listed(parse_exactly(data)))
        for payload, known in zip(found, self._items.matched(found), strict=True):
            if known is not None:
                self._telling.finish(known, payload, is_new=False)
            else:
                item, is_new = self._items.begin(payload["type"], payload.get("id"), None)
                self._telling.finish(item, payload, is_new=is_new)

    def _usage(self, report: object) -> None:
        if isinstance(report, dict):
            usage = read_usage(report)
            if usage is not None:
                self._assembly.add_usage(usage)

    def _has_ended(self) -> bool:
        return False

    def _end(self) -> None:
        self.is_done = True
        for item in self._items:
            if item.kind == "function_call" and not item.is_done:
                self._telling.close_call(item)
        self._assembly.finish(Stop(*self._reason()))

    def _reason(self) -> tuple[StopReason, str | None]:
        reason, raw = self._stop
        if reason == "end_turn" and self._assembly.has_calls:
            return "tool_use", raw
        return ("refusal", raw) if reason == "end_turn" and self._telling.refused else (reason, raw)

    def _failure(self, value: dict[str, Any]) -> WireError:
        """An error in either form, or in both: field by field, what stands outside counts."""
        inside = value.get("error")
        fields: dict[str, Any] = dict(inside) if isinstance(inside, dict) else {}
        if isinstance(inside, str):
            fields["message"] = inside
        for name in ("code", "message", "param"):
            if value.get(name) is not None:
                fields[name] = value[name]
        return api_failure(self._host, fields, statuses=self._statuses)


def read_usage(report: Mapping[str, Any]) -> Usage | None:
    """A provider's report in neutral counts (M9); None if it counts nothing."""
    details = report.get("input_tokens_details")
    usage = Usage(
        count(report, "input_tokens"),
        count(details, "cached_tokens"),
        count(details, "cache_write_tokens"),
        count(report, "output_tokens"),
        count(report.get("output_tokens_details"), "reasoning_tokens"),
    )
    return None if usage == Usage() else usage


def _items(output: object) -> list[dict[str, Any]]:
    found = output if isinstance(output, list) else []
    return [item for item in found if isinstance(item, dict) and isinstance(item.get("type"), str)]


def _listed(value: Any) -> object:
    """The output list in a whole answer, or in the event that ends a stream."""
    response = value.get("response") if isinstance(value, dict) else None
    return response.get("output") if isinstance(response, dict) else value.get("output")


def _is_inexact(payload: dict[str, Any]) -> bool:
    """Whether an item holds numbers that count."""
    kind = payload["type"]
    if kind == "function_call":
        return not isinstance(payload.get("arguments"), str | None)
    return kind not in ("message", "reasoning")
