"""A server in a thread that gives every request one answer, for commands that run as processes."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Answering:
    """Answers *status* and *body* to whatever is asked, CONNECT included; keeps the bodies it got."""

    def __init__(
        self,
        status: int,
        body: str,
        kind: str = "application/json",
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.bodies: list[bytes] = []
        bodies, data = self.bodies, body.encode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_CONNECT = do_GET = answer  # noqa: N815 - the names that the library calls

            def log_message(self, *_: object) -> None:
                """Nothing: the command's own words are what is looked at."""

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients here go away in the middle, which is what some tests are about."""


@contextmanager
def silent() -> Iterator[str]:
    """The URL of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def html(title: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body></body></html>"
