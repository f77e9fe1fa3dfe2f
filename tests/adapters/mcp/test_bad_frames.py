"""P4: 10,000 random bad frames between good calls; every good call is answered, and the reader lives."""

import json
import random
import sys
from typing import Any

import pytest

from norma.domain.model.blocks import text_of
from tests.rigs.mcp_servers import Servers

SERVER = """
import base64, json, sys
out = sys.stdout.buffer
bad = [base64.b64decode(line) for line in open(sys.argv[1])]
at, each = 0, int(sys.argv[2])
for line in sys.stdin.buffer:
    frame = json.loads(line)
    number, method = frame.get("id"), frame.get("method")
    if method is None or number is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
    elif method == "tools/list":
        result = {"tools": []}
    else:
        result = {"content": [{"type": "text", "text": frame["params"]["arguments"]["text"]}]}
        out.write(b"".join(bad[at:at + each]))
        at += each
    out.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\\n")
    out.flush()
"""

ODD: list[Any] = [None, True, False, 0, 1, -1, 3, 2**63, 1e300, "", "x", "3", [], {}, [1], {"a": {}}]
METHODS = ["ping", "", "roots/list", "sampling/createMessage", "x" * 300]
METHODS += [f"notifications/{name}" for name in ("progress", "tools/list_changed", "cancelled", "message")]


def bad_frame(chance: random.Random, number: int) -> bytes:
    """One line that must not hurt. It never answers the call that is waiting, which has the id *number*."""

    def odd() -> Any:
        return chance.choice([value for value in ODD if value is not number and value != number])

    def some(*keys: str) -> dict[str, Any]:
        return {key: odd() for key in keys if chance.random() < 0.7}

    good = json.dumps({"jsonrpc": "2.0", "id": 10**9, "result": {"content": []}})
    match chance.randrange(9):
        case 0:
            return chance.randbytes(chance.randrange(60)).replace(b"\n", b"?") + b"\n"
        case 1:
            return good[: chance.randrange(len(good))].encode() + b"\n"
        case 2:
            return json.dumps(some("jsonrpc", "id", "result", "error")).encode() + b"\n"
        case 3:
            frame = {"jsonrpc": "2.0", **some("id", "params"), "method": chance.choice(METHODS)}
            return json.dumps(frame).encode() + b"\n"
        case 4:
            params = some("progressToken", "progress", "requestId", "level", "data", "total", "message")
            frame = {"method": chance.choice(METHODS), "params": params}
            return json.dumps(frame).encode() + b"\n"
        case 5:
            frames = [some("id", "result", "method", "error", "params") for _ in range(chance.randrange(4))]
            return json.dumps(chance.choice([frames, [frames], [odd(), *frames]])).encode() + b"\n"
        case 6:
            depth = chance.choice([10, 1_000, 60_000])
            return b"[" * depth + b"]" * chance.choice([0, depth]) + b"\n"
        case 7:
            return chance.choice(
                [b"\r\n", b"\n\n", b"   \n", b"\xef\xbb\xbf{}\n", b"null\n", b"NaN\n", b'"\\ud800"\n']
            )
        case _:
            return json.dumps({"id": str(number), "result": {}}).encode() + b"\n"


@pytest.mark.parametrize("seed", [1, 2])
async def test_P4_every_good_call_is_answered(servers: Servers, tmp_path: Any, seed: int) -> None:
    import base64

    calls, each = 500, 10  # two seeds: 10,000 frames
    chance = random.Random(seed)
    bad = tmp_path / "bad"
    with bad.open("wb") as file:
        for number in range(calls * each):
            # Ids of calls begin at 3; the frame comes before the answer to this one.
            file.write(base64.b64encode(bad_frame(chance, 3 + number // each)) + b"\n")
    server = servers.program([sys.executable, "-c", SERVER, str(bad), str(each)])
    await server.connect()
    for number in range(calls):
        output = await server.call("echo", {"text": str(number)})
        assert text_of(output.blocks) == str(number)
        assert not output.is_error
    assert server.waiting == 0
