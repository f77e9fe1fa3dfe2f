"""
The floor: what no client can go below. aiohttp, one split a read, one JSON parse an event, a loop with tools.

It checks nothing, asks nobody, retries nothing and makes no events. A limit, not a competitor.
"""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson

from tests.benchmarks import meter

PATHS = {"chat": "/chat/completions", "messages": "/v1/messages", "responses": "/responses"}


class Answer:
    """One answer being read: its text, its calls as id, name and pieces of arguments."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.calls: list[tuple[str, str, list[str]]] = []

    def chat(self, event: dict[str, Any]) -> str | None:
        for choice in event["choices"]:
            delta = choice["delta"]
            if piece := delta.get("content"):
                self.text.append(piece)
                return str(piece)
            for call in delta.get("tool_calls") or ():
                function = call["function"]
                if "id" in call:
                    self.calls.append((call["id"], function["name"], []))
                self.calls[call["index"]][2].append(function["arguments"])
        return None

    def messages(self, event: dict[str, Any]) -> str | None:
        kind = event["type"]
        if kind == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "text_delta":
                piece: str = delta["text"]
                self.text.append(piece)
                return piece
            self.calls[-1][2].append(delta["partial_json"])
        elif kind == "content_block_start":
            block = event["content_block"]
            if block["type"] == "tool_use":
                self.calls.append((block["id"], block["name"], []))
        return None

    def responses(self, event: dict[str, Any]) -> str | None:
        kind = event["type"]
        if kind == "response.output_text.delta":
            piece: str = event["delta"]
            self.text.append(piece)
            return piece
        if kind == "response.function_call_arguments.delta":
            self.calls[-1][2].append(event["delta"])
        elif kind == "response.output_item.added" and event["item"]["type"] == "function_call":
            self.calls.append((event["item"]["call_id"], event["item"]["name"], []))
        return None


class Floor:
    """The floor on one wire."""

    def __init__(self, arguments: Any) -> None:
        self._wire: str = arguments.wire

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(), auto_decompress=False
        )

    async def close(self) -> None:
        await self._session.close()

    async def text(self, url: str, n: int) -> int:
        return await self._conversation(url)

    async def tool(self, url: str, size: int) -> int:
        return await self._conversation(url)

    async def agent(self, url: str, turns: int) -> int:
        return await self._conversation(url)

    async def first(self, url: str) -> float:
        async for _ in self._pieces(url, [{"role": "user", "content": meter.PROMPT}], Answer()):
            return meter.first_token()
        return 0.0

    async def _conversation(self, url: str) -> int:
        history: list[dict[str, Any]] = [{"role": "user", "content": meter.PROMPT}]
        events = 0
        while True:
            answer = Answer()
            async for _ in self._pieces(url, history, answer):
                events += 1
            if not answer.calls:
                return events
            history += exchanged(self._wire, answer)
            events += len(answer.calls)

    async def _pieces(self, url: str, history: list[dict[str, Any]], answer: Answer) -> AsyncIterator[str]:
        take = getattr(answer, self._wire)
        headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}
        body = orjson.dumps(request(self._wire, history))
        async with self._session.post(url + PATHS[self._wire], data=body, headers=headers) as response:
            response.raise_for_status()
            rest = b""
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    found = event[event.find(b"data: ") + 6 :]
                    if found != b"[DONE]" and (piece := take(orjson.loads(found))) is not None:
                        yield piece


def request(wire: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of a request."""
    tools = [offered(wire, *tool) for tool in meter.TOOLS]
    match wire:
        case "chat":
            usage = {"include_usage": True}
            return {
                "model": "m",
                "messages": history,
                "tools": tools,
                "stream": True,
                "stream_options": usage,
            }
        case "messages":
            return {"model": "m", "max_tokens": 8192, "messages": history, "tools": tools, "stream": True}
        case _:
            return {"model": "m", "input": history, "tools": tools, "stream": True, "store": False}


def offered(wire: str, name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A tool as the wire offers it."""
    match wire:
        case "chat":
            function = {"name": name, "description": description, "parameters": schema}
            return {"type": "function", "function": function}
        case "messages":
            return {"name": name, "description": description, "input_schema": schema}
        case _:
            return {"type": "function", "name": name, "description": description, "parameters": schema}


def exchanged(wire: str, answer: Answer) -> list[dict[str, Any]]:
    """An answer with calls and the results of these, as they enter the history."""
    text = "".join(answer.text)
    calls = [(id_, name, "".join(pieces)) for id_, name, pieces in answer.calls]
    results = [(id_, meter.run_tool(name, orjson.loads(arguments))) for id_, name, arguments in calls]
    match wire:
        case "chat":
            made = [
                {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id_, name, arguments in calls
            ]
            told = [{"role": "tool", "tool_call_id": id_, "content": result} for id_, result in results]
            return [{"role": "assistant", "content": text, "tool_calls": made}, *told]
        case "messages":
            blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
            blocks += [
                {"type": "tool_use", "id": id_, "name": name, "input": orjson.loads(arguments)}
                for id_, name, arguments in calls
            ]
            told = [{"type": "tool_result", "tool_use_id": id_, "content": result} for id_, result in results]
            return [{"role": "assistant", "content": blocks}, {"role": "user", "content": told}]
        case _:
            items: list[dict[str, Any]] = [{"role": "assistant", "content": text}] if text else []
            items += [
                {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}
                for id_, name, arguments in calls
            ]
            told = [
                {"type": "function_call_output", "call_id": id_, "output": result} for id_, result in results
            ]
            return items + told


if __name__ == "__main__":
    meter.main("floor", Floor)
