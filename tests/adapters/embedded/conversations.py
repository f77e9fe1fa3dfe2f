"""Conversations as the engine would have them, by hand."""

from collections.abc import Callable, Sequence

from norma.adapters.embedded.planner import Report, Talk, UseTools, next_step
from norma.domain.model.blocks import Text, ToolCall, ToolResult
from norma.domain.model.messages import Message
from norma.domain.model.requests import ReplyRequest, ToolSpec

GREP = ToolSpec("Grep", "Search.", {"type": "object"})
READ = ToolSpec("Read", "Read.", {"type": "object"})
BOTH = (GREP, READ)

Runs = Callable[[ToolCall], tuple[str, bool]]
"""Plays the tools: the text of the result, and whether it is an error."""


def asked(prompt: str, tools: Sequence[ToolSpec] = BOTH, before: Sequence[Message] = ()) -> ReplyRequest:
    return ReplyRequest((*before, Message("user", (Text(prompt),))), tools=tuple(tools))


def answered(request: ReplyRequest, calls: Sequence[ToolCall], runs: Runs) -> ReplyRequest:
    """The request after *calls* were run."""
    results = tuple(
        ToolResult(call.id, (Text(text),), error) for call in calls for text, error in [runs(call)]
    )
    messages = (*request.messages, Message("assistant", tuple(calls)), Message("tool", results))
    return ReplyRequest(messages, tools=request.tools)


def to_the_end(request: ReplyRequest, runs: Runs) -> tuple[list[tuple[ToolCall, ...]], Talk | Report]:
    """All rounds of calls that the plan makes, and what it ends with."""
    rounds: list[tuple[ToolCall, ...]] = []
    while isinstance(step := next_step(request), UseTools):
        rounds.append(step.calls)
        request = answered(request, step.calls, runs)
        assert len(rounds) < 6, "the plan does not end"
    return rounds, step


def files(tree: dict[str, str]) -> Runs:
    """Tools over a small tree, in the words of the real ones."""

    def run(call: ToolCall) -> tuple[str, bool]:
        if call.name == "Grep":
            return _grep(tree, str(call.arguments["pattern"])), False
        path = str(call.arguments["file_path"])
        if path not in tree:
            return f"{path}: no such file", True
        first, limit = int(call.arguments.get("offset", 1)), int(call.arguments["limit"])
        lines = tree[path].splitlines()[first - 1 : first - 1 + limit]
        return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first)), False

    return run


def _grep(tree: dict[str, str], pattern: str) -> str:
    import re

    found = [
        f"{path}:{number}:{line}"
        for path, text in sorted(tree.items())
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line, re.IGNORECASE)
    ]
    return "\n".join(found) or "[No matches found]"
