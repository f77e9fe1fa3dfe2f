"""A server of the official SDK, sound included. Run by an environment that has `mcp`."""

import base64
import sys

from mcp.server import MCPServer  # type: ignore[import-not-found,unused-ignore]
from mcp_types import AudioContent, ImageContent, TextContent  # type: ignore[import-not-found,unused-ignore]

server = MCPServer("with-mcp")
DATA = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVE").decode()


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def mixed() -> list[TextContent | AudioContent | ImageContent]:
    """Text, sound, picture."""
    return [
        TextContent(type="text", text="before"),
        AudioContent(type="audio", data=DATA, mime_type="audio/wav"),
        ImageContent(type="image", data=DATA, mime_type="image/png"),
    ]


@server.tool()
def fails() -> str:
    """Always fails."""
    raise ValueError("on purpose")


@server.resource("note://one")
def note() -> str:
    """A note."""
    return "the note"


@server.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review this: {code}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
