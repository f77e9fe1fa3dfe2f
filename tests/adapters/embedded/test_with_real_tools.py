"""The plan over the built-in tools: it understands what the real Grep and Read answer."""

from pathlib import Path

import pytest

from norma.adapters.embedded.model import GuidedModel
from norma.adapters.files.workspace import DiskWorkspace
from norma.adapters.grep.search import GrepSearch
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.model import ScriptedModel, end, say
from norma.adapters.process.runner import ShellRunner
from norma.adapters.schemas.checks import SchemaChecks
from norma.domain.model.blocks import Text, ToolCall, ToolResult, thaw
from norma.domain.model.messages import Message
from norma.domain.model.replies import fold_reply
from norma.domain.model.requests import ReplyRequest
from norma.domain.policy.policy import CurrentPolicy, Policy
from norma.domain.tools.catalogue import builtin_tools
from norma.ports.errors import ToolFailed
from norma.ports.tool import Tool, ToolRun
from tests.adapters.embedded.test_planner import TREE


@pytest.fixture(params=["ripgrep", "python"])
async def tools(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tool, ...]:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environ = {"NORMA_RIPGREP_NO_INSTALL": "1"}
    if request.param == "python":
        environ["NORMA_DISABLE_RIPGREP"] = "1"
    policy = CurrentPolicy(Policy.of("default", ()))
    return builtin_tools(DiskWorkspace([str(tmp_path)]), GrepSearch(environ=environ), ShellRunner(), policy)


async def run(tools: tuple[Tool, ...], call: ToolCall) -> ToolResult:
    [tool] = [tool for tool in tools if tool.spec.name == call.name]
    assert SchemaChecks().compile(tool.spec.input_schema)(call.arguments) is None
    arguments = thaw(call.arguments)
    try:
        output = await tool.run(ToolRun(arguments, tool.examine(arguments), lambda _: None))
    except ToolFailed as error:
        return ToolResult(call.id, (Text(str(error)),), is_error=True)
    return ToolResult(call.id, output.blocks, output.is_error)


async def answer_to(prompt: str, tools: tuple[Tool, ...]) -> tuple[str, list[list[str]]]:
    """The text of the answer, and the tools of each round before it."""
    inner = ScriptedModel(lambda _: (say("So it is."), end()))
    model = GuidedModel(inner, clock=ManualClock())
    messages: tuple[Message, ...] = (Message("user", (Text(prompt),)),)
    rounds: list[list[str]] = []
    while True:
        request = ReplyRequest(messages, tools=tuple(tool.spec for tool in tools))
        whole = fold_reply([event async for event in model.reply(request)])
        calls = [block for block in whole.blocks if isinstance(block, ToolCall)]
        if not calls:
            return "".join(block.text for block in whole.blocks if isinstance(block, Text)), rounds
        rounds.append([call.name for call in calls])
        results = [await run(tools, call) for call in calls]
        messages = (*messages, Message("assistant", whole.blocks), Message("tool", tuple(results)))


async def test_a_phrase_is_found_read_and_quoted(tools: tuple[Tool, ...]):
    text, rounds = await answer_to("Where is the turn machine defined and what does it do?", tools)
    assert rounds == [["Grep"], ["Read", "Read"]]
    assert 'domain/engine/turn.py:1\n```python\n"""\nThe turn machine: a pure step' in text
    assert text.endswith("So it is.")


async def test_a_file_that_is_named_is_quoted(tools: tuple[Tool, ...]):
    text, rounds = await answer_to("explain docs/notes.md", tools)
    assert rounds == [["Read", "Grep"]]
    assert "docs/notes.md:1\n```markdown\n# Notes" in text


async def test_a_file_that_is_not_there_is_said(tools: tuple[Tool, ...]):
    text, _ = await answer_to("explain docs/none.md", tools)
    assert "Read gave no answer: " in text
    assert "none.md" in text


async def test_what_is_nowhere_is_said(tools: tuple[Tool, ...]):
    text, rounds = await answer_to("where is the xyzzyplugh?", tools)
    assert rounds == [["Grep"]]
    assert "Nothing was found in this workspace for `xyzzyplugh`" in text


@pytest.mark.parametrize(
    "quoted", ["a (b", "x* +?", r"\d{2}", "[z", "a-b#c&d~e", "tab\tand  two", "ünï", "<p>", "$^|."]
)
async def test_any_quotation_is_a_pattern_that_the_search_takes(
    tools: tuple[Tool, ...], quoted: str, tmp_path: Path
):
    (tmp_path / "odd.txt").write_text(f"before\n{quoted}\n")
    text, _ = await answer_to(f"where is `{quoted}`", tools)
    assert "odd.txt:2" in text
