"""N8: nothing in adapters opens a connection but the transport below the egress."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parents[3] / "adapters"
THE_ONE = ADAPTERS / "http" / "transport.py"
FORBIDDEN_MODULES = {
    "aiohttp",
    "socket",
    "urllib.request",
    "http.client",
    "requests",
    "httpx",
    "urllib3",
    "websockets",
}
NO_CALLERS = {
    "embedded/child.py": ["socket"],
    "http/lookups.py": ["socket"],
    "http/aiohttp_errors.py": ["socket", "aiohttp"],
}
"""
The local model's server, in a process of its own, sees whether its port is free. The look-ups make sockets
for the transport's connector, each after the guard has judged its address. What reads exceptions knows their
classes. None calls anybody.
"""

FORBIDDEN_CALLS = {
    "open_connection",
    "create_connection",
    "open_unix_connection",
    "create_unix_connection",
    "create_datagram_endpoint",
    "sock_connect",
    "ClientSession",
    "TCPConnector",
    "urlopen",
}


def offences(source: str) -> list[str]:
    """What of *source* opens connections, or could: calls, and imports other than for type checkers."""
    tree = ast.parse(source)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        match node:
            case ast.Import():
                found += [name.name for name in node.names if _is_forbidden(name.name)]
            case ast.ImportFrom(module=str(module)):
                found += [module] if _is_forbidden(module) else []
                found += [name.name for name in node.names if _is_forbidden(f"{module}.{name.name}")]
            case ast.Attribute(attr=attr) if attr in FORBIDDEN_CALLS:
                found.append(attr)
            case ast.Name(id=name) if name in FORBIDDEN_CALLS:
                found.append(name)
    return found


def _is_forbidden(module: str) -> bool:
    return any(module == known or module.startswith(f"{known}.") for known in FORBIDDEN_MODULES)


def test_N8_no_adapter_opens_a_session_or_socket_outside_the_egress() -> None:
    sources = [path for path in ADAPTERS.rglob("*.py") if path != THE_ONE]
    assert len(sources) > 20
    found = {str(path.relative_to(ADAPTERS)): offences(path.read_text("utf-8")) for path in sources}
    assert {path: names for path, names in found.items() if names and NO_CALLERS.get(path) != names} == {}


def test_N8_the_egress_is_where_a_session_is_opened() -> None:
    assert {"aiohttp", "TCPConnector", "ClientSession"} <= set(offences(THE_ONE.read_text("utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "import aiohttp",
        "def f():\n    from aiohttp import ClientSession",
        "import socket",
        "from urllib import request",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "loop.create_connection(f, 'h', 1)",
    ],
)
def test_N8_the_check_finds_each_way_out(source: str) -> None:
    assert offences(source)


def test_importing_a_model_adapter_loads_no_network_library() -> None:
    code = (
        "import sys, norma.adapters.openai_chat.model, norma.adapters.http.egress;"
        "print([name for name in ('aiohttp', 'orjson', 'email') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
