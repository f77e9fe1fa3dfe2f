"""`norma reply` and `norma probe` against servers that go wrong: one line that says what, and what to try."""

import json
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from tests.rigs.answering import Answering, html, silent
from tests.rigs.command import Bench, Done

WIRES = ("anthropic", "openai-chat", "openai-responses")
KEY = "sk-canary-77"


def reply(bench: Bench, url: str, *words: str, wire: str = "openai-chat", **environ: str) -> Done:
    options = ("--wire", wire, "--base-url", url, "--model", "m", "--api-key-env", "KEY")
    return bench.run("reply", *options, *words, "hi", environ={"KEY": KEY, **environ})


def told(done: Done) -> str:
    """The one line of a failed command."""
    assert done.status == 1, done
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert "Traceback" not in line
    assert KEY not in line
    return line


@pytest.mark.parametrize("wire", WIRES)
def test_a_wrong_key(bench: Bench, wire: str) -> None:
    body = {"error": {"type": "authentication_error", "message": f"bad key\n{KEY}"}}
    with Answering(401, json.dumps(body)) as server:
        line = told(reply(bench, server.url, wire=wire))
    for words in ("401", "bad key", "api_key_env"):
        assert words in line


def test_a_wrong_url(bench: Bench) -> None:
    with Answering(404, "<html>nothing here</html>", "text/html") as server:
        line = told(reply(bench, server.url))
    for words in ("404", "nothing here", "base URL"):
        assert words in line


def test_a_page_instead_of_an_answer(bench: Bench) -> None:
    with Answering(200, html("Sign in"), "text/html") as server:
        line = told(reply(bench, server.url))
    for words in ("text/html", "Sign in", "leads to an API"):
        assert words in line


def test_a_proxy_that_wants_a_password(bench: Bench) -> None:
    with Answering(407, "who are you") as proxy:
        for url in ("http://model.test/v1", "https://model.test/v1"):
            line = told(reply(bench, url, "--set", f'network.proxy="{proxy.url}"'))
            for words in ("the proxy", "407", "network.proxy", "password"):
                assert words in line


@contextmanager
def untrusted() -> Iterator[str]:
    """A TLS server whose authority nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Answering(200, "{}", tls=context) as server:
        yield server.url


def test_a_certificate_that_nobody_trusts(bench: Bench) -> None:
    with untrusted() as url:
        line = told(reply(bench, url))
    assert "certificate" in line
    assert "network.ca_file" in line


def test_a_server_that_never_answers(bench: Bench) -> None:
    with silent() as url:
        line = told(reply(bench, url, "--set", "network.idle_timeout_s=0.2"))
    assert "network.idle_timeout_s" in line


def test_nobody_listens_there(bench: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        line = told(reply(bench, f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert "no connection" in line
    assert "check the address" in line


def test_json_output_has_the_same_words_and_every_key(bench: Bench) -> None:
    with Answering(401, json.dumps({"error": {"message": "bad key"}})) as server:
        done = reply(bench, server.url, "--json")
    assert done.status == 1
    assert (done.last["kind"], done.last["source"], done.last["status"]) == ("authentication", "http", 401)
    assert "api_key_env" in done.last["message"]


ANSWERS = {
    "anthropic": {
        "content": [
            {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "t", "name": "ready", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 2},
    },
    "openai-chat": {
        "choices": [{"message": {"reasoning": "hm", "content": "ok"}, "finish_reason": "stop"}],
    },
    "openai-responses": {
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [], "encrypted_content": "E"},
            {"type": "function_call", "call_id": "c", "name": "ready", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 2},
    },
}
SEEN = {
    "anthropic": ("calls tools", "reports usage"),
    "openai-chat": ("thinks", "called no tool", "reports no usage"),
    "openai-responses": ("thinks", "calls tools", "reasons = true"),
}


@pytest.mark.parametrize("wire", WIRES)
def test_probe_makes_one_call_and_says_what_it_saw(bench: Bench, wire: str) -> None:
    with Answering(200, json.dumps(ANSWERS[wire])) as server:
        options = ("--wire", wire, "--base-url", server.url, "--model", "m", "--api-key-env", "KEY")
        done = bench.run("probe", "--json", "model", *options, environ={"KEY": KEY})
    assert done.status == 0, done
    (report,) = done.lines
    assert (report["type"], report["ok"]) == ("report", True)
    (check,) = report["checks"]
    said = f"{check['detail']} {check['remedy']}"
    for words in SEEN[wire]:
        assert words in said
    assert re.search(r"\d s", said)
    assert len(server.bodies) == 1


def test_probe_asks_each_model_of_the_settings(bench: Bench) -> None:
    with Answering(200, json.dumps(ANSWERS["openai-chat"])) as good, Answering(401, "{}") as bad:
        bench.settings(
            f'[models.one]\nwire = "openai-chat"\nbase_url = "{good.url}"\nmodel = "m"\n'
            f'[models.two]\nwire = "anthropic"\nbase_url = "{bad.url}"\nmodel = "m"\n'
        )
        done = bench.run("probe", "--json", "model")
        one = bench.run("probe", "model", "one")
    assert done.status == 1
    checks = done.last["checks"]
    assert [(check["name"], check["ok"]) for check in checks] == [("model one", True), ("model two", False)]
    assert "api_key_env" in checks[1]["remedy"]
    assert one.status == 0, one
    assert "model one" in one.out


def test_probe_names_the_field_of_the_profile_that_a_refusal_is_about(bench: Bench) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with Answering(400, json.dumps({"error": {"message": message}})) as server:
        options = ("--wire", "openai-chat", "--base-url", server.url, "--model", "m")
        done = bench.run("probe", "--json", "model", *options)
    assert done.status == 1
    assert 'token_limit_key = "max_completion_tokens"' in done.last["checks"][0]["remedy"]


def test_a_model_of_the_settings_takes_overrides(bench: Bench) -> None:
    bench.settings(
        '[models.main]\nwire = "openai-chat"\nbase_url = "http://h.test"\nmodel = "m"\n'
        '[models.main.overrides]\ntoken_limit_key = "max_completion_tokens"\nextra_headers = {X-A = "1"}\n'
    )
    Path(bench.workspace / "request.json").write_text('{"options": {"max_tokens": 5}}')
    done = bench.run("reply", "--json", "--request", "request.json", "--print-request", "hi")
    assert done.status == 0, done
    assert done.last["body"]["max_completion_tokens"] == 5
    assert done.last["headers"]["X-A"] == "1"
    wrong = bench.run("reply", "--json", "--set", "models.main.overrides.colour=1", "hi")
    assert wrong.status == 2
    assert "colour" in wrong.last["message"]
