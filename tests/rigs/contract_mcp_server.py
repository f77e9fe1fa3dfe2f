"""The server of the tool-server contract as a program: `python contract_mcp_server.py NOTES`."""

import json
import os
import sys
from pathlib import Path

NOTES = Path(sys.argv[1])
FLAG = NOTES.with_suffix(".changed")
TOOLS: list[dict[str, object]] = [
    {"name": name, "description": "x", "inputSchema": {"type": "object"}}
    for name in ("echo", "fails", "endless", "dies")
]
TOOLS.append({"name": "reads", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}})


def note(what: str) -> None:
    with NOTES.open("a") as file:
        file.write(what + "\n")


def send(frame: object) -> None:
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def call(number: object, name: str, arguments: dict[str, str]) -> None:
    note(f"call {name}")
    if name == "dies" or (name == "reads" and NOTES.read_text().count("call reads") == 1):
        os._exit(7)
    if name == "endless":
        return
    if name == "echo" and FLAG.exists() and "announced" not in NOTES.read_text():
        note("announced")
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    text = {"type": "text", "text": arguments.get("text", "done")}
    result = {"content": [text], "isError": name == "fails"}
    send({"jsonrpc": "2.0", "id": number, "result": result})


note("started")
for line in sys.stdin:
    frame = json.loads(line)
    number, method, params = frame.get("id"), frame.get("method"), frame.get("params") or {}
    if method == "initialize":
        body = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "c"}}
        send({"jsonrpc": "2.0", "id": number, "result": body})
    elif method == "tools/list":
        later = [{"name": "later", "inputSchema": {"type": "object"}}] if FLAG.exists() else []
        send({"jsonrpc": "2.0", "id": number, "result": {"tools": TOOLS + later}})
    elif method == "tools/call":
        call(number, params["name"], params["arguments"])
