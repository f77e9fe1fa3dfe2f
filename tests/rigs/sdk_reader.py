"""
What the official SDKs read of recorded answers. Run by an interpreter that has them, not by the tests' own.

Stdin: a JSON list of {"id", "wire", "stream", "url"}. Stdout: a JSON object, by id, of {"text", "calls",
"stop", "input", "output"}, or of {"error"}: the SDK's own words.
"""

import json
import sys
from typing import Any

MESSAGES = [{"role": "user", "content": "hi"}]


def main() -> None:
    cases = json.load(sys.stdin)
    json.dump({case["id"]: _read(case) for case in cases}, sys.stdout)


def _read(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return _READERS[case["wire"]](case["url"], case["stream"])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def _anthropic(url: str, stream: bool) -> dict[str, Any]:
    import anthropic  # type: ignore[import-not-found]  # in an environment of its own

    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0, timeout=20)
    if stream:
        with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as reader:
            message = reader.get_final_message()
    else:
        message = client.messages.create(model="m", max_tokens=9, messages=MESSAGES)
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0) if usage else 0
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [[block.name, block.input] for block in message.content if block.type == "tool_use"],
        "stop": message.stop_reason,
        "input": usage.input_tokens + cached if usage else None,
        "output": usage.output_tokens if usage else None,
    }


def _chat(url: str, stream: bool) -> dict[str, Any]:
    import openai  # type: ignore[import-not-found]  # in an environment of its own

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0, timeout=20)
    if stream:
        with client.chat.completions.stream(model="m", messages=MESSAGES) as reader:
            for _ in reader:
                pass
            answer = reader.get_final_completion()
    else:
        answer = client.chat.completions.create(model="m", messages=MESSAGES)
    choice = answer.choices[0]
    message = choice.message
    calls = [[call.function.name, _json(call.function.arguments)] for call in message.tool_calls or ()]
    usage = answer.usage
    return {
        "text": (message.content or "") + (message.refusal or ""),
        "calls": calls,
        "stop": choice.finish_reason,
        "input": usage.prompt_tokens if usage else None,
        "output": usage.completion_tokens if usage else None,
    }


def _responses(url: str, stream: bool) -> dict[str, Any]:
    import openai

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0, timeout=20)
    if stream:
        with client.responses.stream(model="m", input="hi") as reader:
            for _ in reader:
                pass
            answer = reader.get_final_response()
    else:
        answer = client.responses.create(model="m", input="hi")
    parts = [part for item in answer.output if item.type == "message" for part in item.content]
    calls = [item for item in answer.output if item.type == "function_call"]
    usage = answer.usage
    return {
        "text": "".join(getattr(part, "text", "") or getattr(part, "refusal", "") for part in parts),
        "calls": [[call.name, _json(call.arguments)] for call in calls],
        "stop": answer.incomplete_details.reason if answer.incomplete_details else answer.status,
        "input": usage.input_tokens if usage else None,
        "output": usage.output_tokens if usage else None,
    }


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"INVALID": text}


_READERS = {"anthropic": _anthropic, "openai-chat": _chat, "openai-responses": _responses}

if __name__ == "__main__":
    main()
