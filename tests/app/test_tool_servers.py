"""T1: who may start a server, and what servers may ask of Norma."""

from typing import Any

import pytest

from norma.adapters.memory.approver import FixedApprover
from norma.adapters.memory.clock import ManualClock
from norma.adapters.memory.model import ScriptedModel, end, say
from norma.adapters.memory.tool_server import ScriptedServer
from norma.app.server_offers import server_offers
from norma.app.settings import Settings
from norma.app.tool_servers import start_servers
from norma.domain.model.blocks import Text
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.questions import Answer, Later
from norma.domain.model.requests import ReplyRequest
from norma.domain.policy.policy import CurrentPolicy, Mode, Policy, ScopeRules
from norma.domain.tools.servers import ServerTools
from norma.ports.approver import Approver
from norma.ports.errors import Refused
from norma.ports.tool_server import Filled, Offers, ServerTool

ECHO = ServerTool("echo", "Says its text.", {"type": "object"})
HELLO = ReplyRequest((Message("user", (Text("hello"),)),))


def policy(mode: Mode = "default", **rules: tuple[str, ...]) -> CurrentPolicy:
    return CurrentPolicy(Policy.of(mode, [ScopeRules("user", **rules)]))


def server(name: str = "s", **more: Any) -> ScriptedServer:
    return ScriptedServer(name, tools=[ECHO], **more)


async def started(approver: Approver | None, rules: CurrentPolicy, **more: Any) -> tuple[int, str, list[str]]:
    one = server()
    shelf = ServerTools([one])
    notes = await start_servers(shelf, rules, approver, **more)
    return one.starts, " ".join(notes), [tool.spec.name for tool in shelf.tools()]


async def test_T1_a_yes_starts_it_and_the_question_shows_the_command() -> None:
    for word in ("once", "session"):
        approver = FixedApprover(Answer(word))
        assert await started(approver, policy()) == (1, "", ["mcp__s__echo"])
        (question,) = approver.questions
        assert "scripted s" in question.action.shows
        assert question.action.rule == "mcp__s__server-start"


async def test_T1_a_no_starts_nothing_and_says_why() -> None:
    starts, notes, tools = await started(FixedApprover(Answer("deny", "not today")), policy())
    assert (starts, tools) == (0, [])
    assert "not today" in notes


@pytest.mark.parametrize("approver", [None, FixedApprover(Later())])
async def test_T1_with_no_answer_the_model_may_ask_for_it(approver: Approver | None) -> None:
    starts, notes, tools = await started(approver, policy())
    assert (starts, tools) == (0, ["mcp__s__server-start"])
    assert "mcp__s__server-start would allow it" in notes


@pytest.mark.parametrize("rule", ["mcp__s__server-start", "mcp__s__*"])
async def test_T1_rules_decide_without_a_question(rule: str) -> None:
    approver = FixedApprover([])
    assert (await started(approver, policy(allow=(rule,))))[0] == 1
    for permitted in ((), ("s",)):
        starts, notes, tools = await started(approver, policy(deny=(rule,)), permitted=permitted)
        assert (starts, tools) == (0, [])
        assert rule in notes


async def test_T1_what_was_named_is_not_asked_about_unless_the_mode_denies() -> None:
    approver = FixedApprover([])
    assert (await started(approver, policy(), permitted=("s",)))[0] == 1
    assert (await started(approver, policy("bypass")))[0] == 1
    assert (await started(approver, policy("plan"), permitted=("s",)))[0] == 0
    assert (await started(approver, policy("dont-ask")))[0] == 0


async def test_P8_one_that_fails_is_told_and_the_others_start() -> None:
    bad, good = server("bad", start=Failure("server", "the tool server bad ended")), server("good")
    shelf = ServerTools([bad, good])
    notes = await start_servers(shelf, policy("bypass"), None)
    assert notes == ("the tool server bad ended",)
    assert [tool.spec.name for tool in shelf.tools()] == ["mcp__good__echo"]


async def test_P2_a_name_that_had_to_be_mapped_is_told() -> None:
    """Else a rule for the name as it stands in the settings would look like protection."""
    (note,) = await start_servers(ServerTools([server("my.server")]), policy("bypass"), None)
    assert "'my.server' is called my_server_" in note


# -- offers


def offers(offered: list[str], approver: Approver | None, rules: CurrentPolicy, *replies: Any) -> Offers:
    settings = Settings.from_mapping({"mcp": {"offer": offered, "servers": {"s": {"command": "c"}}}})
    model = ScriptedModel(list(replies))
    return server_offers(settings, ["/w"], rules, approver, lambda: model, ManualClock())


def test_P5_nothing_is_offered_unless_settings_say_so() -> None:
    assert offers([], FixedApprover([]), policy()) == Offers()
    assert offers(["roots"], FixedApprover([]), policy()) == Offers(("/w",))


async def test_T1_an_answer_of_the_model_is_asked_about_and_shown() -> None:
    approver = FixedApprover([Answer("once"), Answer("deny", "no")])
    made = offers(["sampling"], approver, policy(), [say("hi there"), end()])
    assert made.sample is not None
    sampled = await made.sample("s", HELLO)
    assert (sampled.block, sampled.stop) == (Text("hi there"), "end_turn")
    assert "hello" in approver.questions[0].action.shows
    with pytest.raises(Refused, match="no"):
        await made.sample("s", HELLO)


async def test_T1_nobody_and_a_deny_rule_are_a_no() -> None:
    made = offers(["sampling", "elicitation"], None, policy())
    assert made.sample is not None
    assert made.elicit is not None
    with pytest.raises(Refused, match="mcp__s__model-asked"):
        await made.sample("s", HELLO)
    assert await made.elicit("s", "name?", {}) == Filled("cancel")
    denied = offers(["elicitation"], FixedApprover([]), policy(deny=("mcp__s__*",)))
    assert denied.elicit is not None
    assert await denied.elicit("s", "name?", {}) == Filled("decline")


FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("answer", "schema", "filled"),
    [
        (Answer("once"), {}, Filled("accept")),
        (Answer("once"), FORM, Filled("cancel")),
        (
            Answer("once", '{"name": "x", "age": 3, "other": 1}'),
            FORM,
            Filled("accept", {"name": "x", "age": 3}),
        ),
        (
            Answer("once", "words"),
            {"properties": {"a": {}}, "required": ["a"]},
            Filled("accept", {"a": "words"}),
        ),
        (Answer("once", "words"), FORM, Filled("cancel")),
        (Answer("deny"), FORM, Filled("decline")),
        (Answer("stop"), FORM, Filled("cancel")),
        (Later(), FORM, Filled("cancel")),
    ],
)
async def test_a_form_is_filled_in_by_a_person(answer: Answer | Later, schema: Any, filled: Filled) -> None:
    approver = FixedApprover(answer)
    made = offers(["elicitation"], approver, policy())
    assert made.elicit is not None
    assert await made.elicit("s", "what is it?", schema) == filled
    assert "what is it?" in approver.questions[0].action.shows
