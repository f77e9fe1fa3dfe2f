"""
The child process that holds llama.cpp: `python -P -m norma.adapters.embedded.child`.

It reads one JSON line on standard input: `model` (path), `name`, `key`, `port` (0: any), `threads`
(null: one a core, 8 at most), `context`. It writes one JSON line on standard output:
`{"address": "http://127.0.0.1:…"}`, or `{"fault": …, "message": …}` with a fault of "package", "port" or
"start". Then it serves until standard input ends, and ends with it: whoever started it holds the other
end, so it can't outlive its parent, however that one dies.

The key comes on standard input because a command line can be read by others.
"""

import fcntl
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from typing import Any

HOST = "127.0.0.1"
_MOST_THREADS = 8
"""More only wait for each other on models of this size."""


def main() -> None:
    reports = _take_standard_output()
    line = sys.stdin.buffer.readline()
    if not line:
        return
    wishes = json.loads(line)
    _end_with_parent(during_native_calls=True)
    watch = threading.Thread(target=_wait_for_end_of_input, daemon=True)
    watch.start()
    try:
        server = _serve(wishes)
    except _Fault as fault:
        reports.write(json.dumps({"fault": fault.word, "message": fault.message}) + "\n")
        reports.flush()
        os._exit(1)
    _end_with_parent(during_native_calls=False)
    reports.write(json.dumps({"address": server.listening_address}) + "\n")
    reports.flush()
    watch.join()


class _Fault(Exception):
    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word
        self.message = message


def _take_standard_output() -> Any:
    """Keep standard output for our lines; what native code prints there goes to standard error."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _end_with_parent(*, during_native_calls: bool) -> None:
    """
    Let the kernel end this process when its input ends, or stop doing so.

    llama.cpp holds the interpreter's lock while it loads a model, so no thread of ours could act then.
    A signal whose default action is to terminate can. Where the system has no such signal (its default
    is to be ignored) the process ends when the loading does.
    """
    flags = fcntl.fcntl(0, fcntl.F_GETFL)
    if during_native_calls:
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:  # it ended before the signal was asked for
            os._exit(0)
    else:
        fcntl.fcntl(0, fcntl.F_SETFL, flags & ~os.O_ASYNC)


def _wait_for_end_of_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)  # at once: nothing here needs saving, and native threads may be in the middle of a reply


def _serve(wishes: dict[str, Any]) -> Any:
    """The running server. Raises _Fault."""
    _check_port(wishes["port"])
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the import: waiting threads spin else
    try:
        native: Any = importlib.import_module("xllamacpp")  # it has no types
    except ImportError as error:
        raise _Fault("package", str(error)) from error
    try:
        return native.Server(_parameters(native, wishes))
    except RuntimeError as error:
        raise _Fault("start", str(error)) from error


def _check_port(port: int) -> None:
    """Find out with the system's own words whether *port* can be had; llama.cpp doesn't say why not."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as error:
            raise _Fault("port", error.strerror or str(error)) from error


def _cores() -> int:
    """How many this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parameters(native: Any, wishes: dict[str, Any]) -> Any:
    params = native.CommonParams()
    params.model.path = wishes["model"]
    params.model_alias = {wishes["name"]}
    params.hostnames = [HOST]
    params.port = wishes["port"]
    params.api_keys = [wishes["key"]]
    params.n_ctx = wishes["context"]
    threads = wishes["threads"] or min(_cores(), _MOST_THREADS)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_parallel = 1
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.cache_ram_mib = 0  # else finished prompts may fill 8 GiB
    params.verbosity = 1  # errors
    return params


if __name__ == "__main__":
    main()
