"""A server of fastmcp that asks its client for things. Run by an environment that has `fastmcp`."""

from fastmcp import Context, FastMCP  # type: ignore[import-not-found,unused-ignore]

server = FastMCP("with-fastmcp")


@server.tool()
def greet(name: str) -> dict[str, str]:
    """Greet somebody."""
    return {"greeting": f"Hello, {name}!"}


@server.tool()
async def count(context: Context, most: int) -> str:
    """Count and tell how far."""
    for number in range(most):
        await context.report_progress(number + 1, most)
    return "counted"


if __name__ == "__main__":
    server.run(show_banner=False)
