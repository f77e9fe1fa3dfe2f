"""The promises of the tool port."""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from norma.domain.model import to_json
from norma.domain.model.actions import Action, Effects
from norma.domain.model.values import frozen
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.effects import seen_effects
from norma.ports.contracts.tasks import DoesNotApply, ended, start
from norma.ports.tool import Tool, ToolOutput, ToolRun


@frozen
class ToolRig:
    """
    A tool, *arguments* with which a run comes to its end, and what must be seen of its surroundings.

    *endless* are arguments of a run that never ends by itself, None if there is no such thing;
    *there* says whether that run has come to where it stays. *left* says what of earlier runs is
    still about (children, temporary files), and is empty if nothing is. *readers* are the programs
    whose start counts as reading (rule T4), by absolute path.
    """

    tool: Tool
    arguments: Mapping[str, Any]
    endless: Mapping[str, Any] | None = None
    there: Callable[[], bool] = lambda: True
    left: Callable[[], str] = lambda: ""
    readers: tuple[str, ...] = ()


async def check_description(rig: ToolRig) -> None:
    """A model can be told of it, and it does not change."""
    tool = rig.tool
    assert tool.spec.name, "a tool has a name"
    assert tool.spec.description.strip(), "a tool says what it does"
    assert tool.spec.input_schema.get("type") == "object", "a tool's schema is of an object"
    to_json(dict(tool.spec.input_schema))
    assert tool.spec == tool.spec, "a tool's description is the same for its life"
    assert tool.traits == tool.traits, "a tool's traits are the same for its life"


async def check_t8_examining_changes_nothing(rig: ToolRig) -> None:
    """The action is the same each time, and to say it writes nothing and reaches nobody."""
    arguments = _arguments(rig)
    with seen_effects() as seen:
        actions = [rig.tool.examine(arguments) for _ in range(3)]
    assert arguments == _arguments(rig), "examining leaves the arguments as they are"
    assert actions[0] == actions[1] == actions[2], "the same call is the same action"
    assert seen.read_only, f"examining changes nothing and reaches nobody: {seen.report()}"


async def check_t5_action_says_what_will_run(rig: ToolRig) -> None:
    """There is something to show, and a rule that would allow it."""
    action = rig.tool.examine(_arguments(rig))
    name = rig.tool.spec.name
    assert action.tool == name, "an action names its tool"
    assert action.shows.strip(), "an action shows what will run"
    assert action.rule, "an action names a rule that would allow it"
    assert all(use.path.startswith("/") for use in action.paths), "the paths of an action are absolute"
    written = any(use.access == "write" for use in action.paths)
    assert action.effects.writes or not written, "who writes a path declares that it writes"
    assert action.effects.network or not action.hosts, "who reaches a host declares the network"
    assert action.effects.processes or action.command is None, "who runs a command declares processes"


async def check_t8_effects_are_declared(rig: ToolRig) -> None:
    """A run has no effect that its action does not declare, nor one that it was permitted later."""
    action = rig.tool.examine(_arguments(rig))
    permitted = [action]
    with seen_effects(rig.readers) as seen:
        await _run(rig, action, permitted)
    undeclared = seen.beyond(_together(permitted))
    assert not undeclared, f"every effect is declared, but these were not: {', '.join(undeclared)}"


async def check_output(rig: ToolRig) -> None:
    """A run gives blocks that can be stored, and leaves its arguments as they were."""
    arguments = _arguments(rig)
    progress: list[str] = []
    run = ToolRun(arguments, rig.tool.examine(arguments), progress.append, _permit([]))
    output = await rig.tool.run(run)
    assert isinstance(output, ToolOutput), f"a run gives a ToolOutput, not {type(output).__name__}"
    assert not output.is_error, f"with good arguments a run is no failure: {output}"
    to_json(output.blocks)
    assert all(isinstance(line, str) for line in progress), "progress is text"
    assert not rig.left(), f"nothing is left behind: {rig.left()}"


async def check_runs_at_once(rig: ToolRig) -> None:
    """A tool that says that its calls may overlap can do several."""
    if not rig.tool.traits.parallel:
        raise DoesNotApply("calls of this tool do not overlap")
    action = rig.tool.examine(_arguments(rig))
    tasks = [start(_run(rig, action)) for _ in range(5)]
    for task in tasks:
        await ended(task, "a run comes to its end")
        assert not task.result().is_error, "runs do not disturb each other"


async def check_repeated(rig: ToolRig) -> None:
    """A tool that says that a run may be repeated gives no error the second time."""
    if not rig.tool.traits.repeatable:
        raise DoesNotApply("runs of this tool are not repeated")
    for _ in range(2):
        output = await _run(rig, rig.tool.examine(_arguments(rig)))
        assert not output.is_error, "a repeated run is no failure"


async def check_cancel_everywhere(rig: ToolRig) -> None:
    """Cancelled at any await, it lets the cancellation through and leaves nothing."""
    arguments = rig.endless
    if arguments is None:
        raise DoesNotApply("every run of this tool ends by itself")

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        own = copy.deepcopy(dict(arguments))
        run = ToolRun(own, rig.tool.examine(own), lambda _: None, _permit([]))
        yield Scenario(rig.tool.run(run), rig.there, after)

    async def after() -> None:
        assert not rig.left(), f"what a run started is gone when the cancellation has passed: {rig.left()}"

    await cancel_everywhere(make, "cancellation passes through a run", most=60)


def _arguments(rig: ToolRig) -> dict[str, Any]:
    return copy.deepcopy(dict(rig.arguments))


async def _run(rig: ToolRig, action: Action, permitted: list[Action] | None = None) -> ToolOutput:
    permit = _permit([] if permitted is None else permitted)
    return await rig.tool.run(ToolRun(_arguments(rig), action, lambda _: None, permit))


def _permit(permitted: list[Action]) -> Callable[[Action], Awaitable[None]]:
    """Says yes to all that a run asks for beyond its action, and keeps it in *permitted*."""

    async def permit(action: Action) -> None:
        permitted.append(action)

    return permit


def _together(actions: list[Action]) -> Effects:
    return Effects(
        any(action.effects.reads for action in actions),
        any(action.effects.writes for action in actions),
        any(action.effects.network for action in actions),
        any(action.effects.processes for action in actions),
    )


CHECKS = (
    check_description,
    check_t8_examining_changes_nothing,
    check_t5_action_says_what_will_run,
    check_t8_effects_are_declared,
    check_output,
    check_runs_at_once,
    check_repeated,
    check_cancel_everywhere,
)
