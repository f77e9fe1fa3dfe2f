"""
The official SDKs with the same loop by hand: openai's for chat and responses, anthropic's for messages.

Streams raw events, without the SDKs' own accumulation, which costs them more.
"""

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

from tests.benchmarks import meter
from tests.benchmarks.floor_peer import Answer, exchanged, request

SDKS = {
    "chat": ("openai", "AsyncOpenAI"),
    "messages": ("anthropic", "AsyncAnthropic"),
    "responses": ("openai", "AsyncOpenAI"),
}


class Sdk:
    """The SDK of a wire's vendor."""

    def __init__(self, arguments: Any) -> None:
        self._wire: str = arguments.wire
        self._clients: dict[str, Any] = {}

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()

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
        take = {"chat": _chat, "messages": _messages, "responses": _responses}[self._wire]
        async for event in await self._ask(url, history):
            if (piece := take(event, answer)) is not None:
                answer.text.append(piece)
                yield piece

    async def _ask(self, url: str, history: list[dict[str, Any]]) -> Any:
        client = self._client(url)
        body = request(self._wire, history)
        match self._wire:
            case "chat":
                return await client.chat.completions.create(**body)
            case "messages":
                return await client.messages.create(**body)
            case _:
                return await client.responses.create(**body)

    def _client(self, url: str) -> Any:
        if url not in self._clients:
            vendor, name = SDKS[self._wire]
            make = getattr(import_module(vendor), name)
            self._clients[url] = make(base_url=url, api_key="x", max_retries=0)
        return self._clients[url]


def _chat(event: Any, answer: Answer) -> str | None:
    for choice in event.choices:
        delta = choice.delta
        if delta.content:
            return str(delta.content)
        for call in delta.tool_calls or ():
            if call.id:
                answer.calls.append((call.id, call.function.name, []))
            answer.calls[call.index][2].append(call.function.arguments or "")
    return None


def _messages(event: Any, answer: Answer) -> str | None:
    if event.type == "content_block_delta":
        if event.delta.type == "text_delta":
            return str(event.delta.text)
        answer.calls[-1][2].append(event.delta.partial_json)
    elif event.type == "content_block_start" and event.content_block.type == "tool_use":
        answer.calls.append((event.content_block.id, event.content_block.name, []))
    return None


def _responses(event: Any, answer: Answer) -> str | None:
    if event.type == "response.output_text.delta":
        return str(event.delta)
    if event.type == "response.function_call_arguments.delta":
        answer.calls[-1][2].append(event.delta)
    elif event.type == "response.output_item.added" and event.item.type == "function_call":
        answer.calls.append((event.item.call_id, event.item.name, []))
    return None


if __name__ == "__main__":
    meter.main("sdk", Sdk)
