"""`norma reply`: one bare call, told as documented."""

import json
import os
from typing import Any

from tests.rigs.chat_server import ChatServer, calls, refuses, says
from tests.rigs.command import Bench, Done

TOOLS = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}]


def reply(bench: Bench, url: str, *words: str, **more: Any) -> Done:
    return bench.run(
        "reply", "--json", "--wire", "openai-chat", "--base-url", url, "--model", "m", *words, **more
    )


def test_events_and_then_the_reply(bench: Bench) -> None:
    with ChatServer(says("Hel", "lo")) as chat:
        done = reply(bench, chat.url, "hi")
    assert done.status == 0, done
    assert [line["type"] for line in done.lines] == ["text_delta", "text_delta", "reply"]
    last = done.last
    assert last["blocks"] == [{"type": "text", "text": "Hello"}]
    assert last["stop"] == {"reason": "end_turn", "raw": "stop"}
    assert last["empty"] is False
    assert last["usage"]["input_tokens"] == 100
    assert last["usage"]["cache_read_tokens"] is None
    assert last["attempts"] == 1
    assert [entry["outcome"] for entry in last["attempt_usage"]] == ["ok"]
    assert set(last) == {"type", "blocks", "stop", "empty", "usage", "attempts", "attempt_usage"}


def test_a_tool_call_is_told_and_not_run(bench: Bench) -> None:
    (bench.workspace / "tools.json").write_text(json.dumps(TOOLS))
    with ChatServer(calls(("look", {"at": "x"}))) as chat:
        done = reply(bench, chat.url, "--tools", "tools.json", "hi")
    assert done.status == 0, done
    call = next(line for line in done.lines if line["type"] == "tool_call")
    assert (call["name"], call["arguments"]) == ("look", {"at": "x"})
    assert done.last["stop"]["reason"] == "tool_use"
    assert chat.bodies[0]["tools"][0]["function"]["name"] == "look"
    assert not bench.journal.exists()


def test_an_error_has_every_key_and_status_1(bench: Bench) -> None:
    with ChatServer(refuses(401, "who are you?")) as chat:
        done = reply(bench, chat.url, "hi")
    assert done.status == 1
    error = done.last
    assert error["type"] == "error"
    assert (error["kind"], error["source"], error["status"]) == ("authentication", "http", 401)
    assert error["provider"]["message"] == "who are you?"
    assert error["partial"] == {"blocks": []}
    assert error["attempts"] == 1
    assert {"message", "retry_after_s", "usage", "attempt_usage"} <= set(error)


def test_a_request_file_is_sent_as_it_says(bench: Bench) -> None:
    (bench.workspace / "request.json").write_text(
        json.dumps(
            {
                "system": [{"text": "Be brief.", "cache": True}],
                "messages": [{"role": "user", "blocks": [{"type": "text", "text": "one"}]}],
                "tools": TOOLS,
                "options": {"max_tokens": 7, "temperature": 0.5, "extra_headers": {"X-Ours": "1"}},
            }
        )
    )
    with ChatServer(says("ok")) as chat:
        done = reply(bench, chat.url, "--request", "request.json")
    assert done.status == 0, done
    body = chat.bodies[0]
    assert [message["content"] for message in body["messages"]] == ["Be brief.", "one"]
    assert body["temperature"] == 0.5
    assert 7 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert chat.headers[0]["X-Ours"] == "1"


def test_a_request_file_that_is_wrong_says_where(bench: Bench) -> None:
    file = bench.workspace / "request.json"
    for content, says_ in (
        ("[", "not JSON"),
        ("[]", "JSON object"),
        ('{"mesages": []}', "mesages"),
        ('{"messages": [{"role": "robot", "blocks": []}]}', "messages[0].role"),
        ("{}", "PROMPT"),
    ):
        file.write_text(content)
        done = reply(bench, "http://127.0.0.1:1", "--request", "request.json")
        assert done.status == 2, done
        assert done.last["kind"] == "usage"
        assert says_ in done.last["message"]


def test_N5_print_request_sends_nothing_and_hides_the_key(bench: Bench) -> None:
    with ChatServer() as chat:
        done = reply(
            bench, chat.url, "--api-key-env", "KEY", "--print-request", "hi", environ={"KEY": "canary"}
        )
    assert done.status == 0, done
    assert chat.bodies == []
    (request,) = done.lines
    assert set(request) == {"type", "method", "url", "headers", "body", "losses"}
    assert request["type"] == "request"
    assert request["url"] == f"{chat.url}/chat/completions"
    assert "canary" not in done.out
    assert "***" in json.dumps(request["headers"])


def test_no_stream_asks_for_one_piece(bench: Bench) -> None:
    with ChatServer() as chat:
        done = reply(bench, chat.url, "--no-stream", "--print-request", "hi")
    assert not done.last["body"].get("stream", False)


def test_without_a_wire_the_settings_model_answers(bench: Bench) -> None:
    with ChatServer(says("from the settings")) as chat:
        bench.model(chat.url)
        done = bench.run("reply", "hi")
    assert done.status == 0, done
    assert done.out == "from the settings\n"
    assert os.listdir(bench.workspace) == []
