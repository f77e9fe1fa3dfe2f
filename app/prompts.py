"""
The system prompt of the command line. A host that embeds Norma writes its own.

Short on purpose: small models lose sight of a question behind long instructions.
"""

from collections.abc import Sequence

from norma.domain.model.requests import SystemSegment

_WHO = """\
You are Norma, an assistant that works in a person's terminal.
The workspace is {workspace}. Relative paths start there."""

_WITH_TOOLS = """
Tools: {tools}. Look things up in the files before you answer; don't guess what a tool can tell you.
Name the file and line that an answer rests on. Change only what you were asked to change.
When a call is denied, don't try the same thing another way: say what you would need.
"""

_ENDING = """\
Be brief and exact. Say so when you don't know."""


def system_prompt(roots: Sequence[str], tools: Sequence[str]) -> tuple[SystemSegment, ...]:
    """Who is speaking, where it works, and how."""
    workspace = " and ".join(roots)
    middle = _WITH_TOOLS.format(tools=", ".join(tools)) if tools else "\n"
    return (SystemSegment(_WHO.format(workspace=workspace) + middle + _ENDING, cache=True),)
