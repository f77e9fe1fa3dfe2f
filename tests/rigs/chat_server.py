"""
A model's server on loopback for tests that start real processes: OpenAI-style, scripted, in a thread.

Each chat request takes the next script; one too many is answered with status 500 and a clear word.
"""

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

BOUND_S = 30

Write = Callable[[dict[str, Any]], None]
Script = Callable[[Write], None]


def says(*pieces: str) -> Script:
    """An answer of words, piece by piece."""

    def script(write: Write) -> None:
        for piece in pieces:
            write(_delta({"content": piece}))
        write(_finish("stop"))

    return script


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "", prefix: str = "call") -> Script:
    """An answer that calls tools, by name and arguments, after some words."""

    def script(write: Write) -> None:
        if text:
            write(_delta({"content": text}))
        for index, (name, arguments) in enumerate(wanted):
            function = {"name": name, "arguments": json.dumps(arguments)}
            write(_delta({"tool_calls": [{"index": index, "id": f"{prefix}_{index}", "function": function}]}))
        write(_finish("tool_calls"))

    return script


def holds(text: str, gate: threading.Event) -> Script:
    """Some words, and then silence until *gate* is set; the stream then breaks off."""

    def script(write: Write) -> None:
        write(_delta({"content": text}))
        gate.wait(BOUND_S)

    return script


def refuses(status: int, message: str) -> Script:
    """No answer but an error."""

    def script(write: Write) -> None:
        raise _Refusal(status, message)

    return script


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def _finish(reason: str) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


class ChatServer:
    """Listens from `with` to its end. `bodies` has every chat request that came, `headers` theirs."""

    def __init__(self, *scripts: Script, models: Sequence[str] = ("test-model",)) -> None:
        self._scripts = list(scripts)
        self._lock = threading.Condition()
        self.models = models
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def add(self, *scripts: Script) -> None:
        """Further answers."""
        with self._lock:
            self._scripts += scripts

    def wait_for(self, requests: int) -> None:
        """Return when that many chat requests have come. Bounded."""
        with self._lock:
            came = self._lock.wait_for(lambda: len(self.bodies) >= requests, BOUND_S)
        assert came, f"{len(self.bodies)} of {requests} requests came"

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Script:
        """The script for a request."""
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self._lock.notify_all()
            return self._scripts.pop(0) if self._scripts else refuses(500, "the test has no more answers")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(BOUND_S)


def _handler(chat: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            """Silence."""

        def do_GET(self) -> None:
            self._json(200, {"object": "list", "data": [{"id": model} for model in chat.models]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script = chat.take(body, dict(self.headers.items()))
            self._started = False
            try:
                script(self._write)
            except _Refusal as refusal:
                self._json(refusal.status, {"error": {"message": str(refusal), "type": "test"}})
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has gone, as some tests want

        def _write(self, event: dict[str, Any]) -> None:
            if not self._started:
                self._started = True
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.flush()

        def _json(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def tool_messages(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The results in a request: id and text of each."""
    return [
        (message["tool_call_id"], str(message["content"]))
        for message in body["messages"]
        if message["role"] == "tool"
    ]


def call_ids(body: dict[str, Any]) -> list[str]:
    """The ids of all calls in a request."""
    return [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
