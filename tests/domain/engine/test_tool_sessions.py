"""A run knows whose it is."""

from norma.adapters.memory.model import call, end, say
from norma.adapters.memory.tools import ScriptedTool
from tests.domain.engine.hosts import ask, engine


async def test_a_run_is_told_its_session() -> None:
    tool = ScriptedTool("look", results=["seen"])
    replies = [[call("c", "look"), end("tool_use")], [say("done"), end()]]
    session = await engine(replies, tool).session("mine")
    await ask(session)
    assert [record.run.session for record in tool.runs] == ["mine"]
