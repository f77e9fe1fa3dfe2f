"""A tool that does what a script says."""

import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Literal, TypeAlias

from attrs import define

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.domain.model.actions import Action, Effects, Traits
from norma.domain.model.requests import ToolSpec
from norma.ports.tool import Tool, ToolOutput, ToolRun

Step: TypeAlias = ToolOutput | str | Exception | Gate
Result: TypeAlias = Step | Sequence[Step]
"""
What one run does: a text or an output ends it, an exception fails it, a gate waits until the test
opens it (with the output, if nothing follows the gate). A sequence is done step by step.
"""

Behaviour: TypeAlias = Callable[[ToolRun], ToolOutput | str | Awaitable[ToolOutput | str]]

NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}

_ALONE = Traits()
_NOTHING = Effects()


@define
class RecordedRun:
    """One run, as far as it has come."""

    run: ToolRun
    state: Literal["started", "ended", "failed", "cancelled"] = "started"

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What the model asked for."""
        return self.run.arguments


class ScriptedTool(Tool):
    """
    A tool called *name*: its runs take *results* one by one, or do *behaviour*.

    A run that nobody scripted is an AssertionError. `examine` says *effects*, or what *action*
    returns.
    """

    def __init__(
        self,
        name: str,
        *,
        results: Sequence[Result] = (),
        behaviour: Behaviour | None = None,
        traits: Traits = _ALONE,
        effects: Effects = _NOTHING,
        schema: Mapping[str, Any] = NO_ARGUMENTS,
        description: str = "A scripted tool.",
        action: Callable[[Mapping[str, Any]], Action] | None = None,
    ) -> None:
        self._spec = ToolSpec(name, description, schema)
        self._traits = traits
        self._effects = effects
        self._action = action
        self._results = deque(results)
        self._behaviour = behaviour
        self._started = Counter()
        self.runs: list[RecordedRun] = []
        """Every run, in the order in which they began."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema."""
        return self._spec

    @property
    def traits(self) -> Traits:
        """As given."""
        return self._traits

    @property
    def running(self) -> int:
        """How many runs have begun and not ended in any way."""
        return sum(record.state == "started" for record in self.runs)

    async def started(self, runs: int = 1) -> None:
        """Return as soon as that many runs have begun."""
        await self._started.reached(runs)

    def examine(self, arguments: Mapping[str, Any]) -> Action:
        """The action: the name and the arguments are shown, the name is the rule."""
        if self._action is not None:
            return self._action(arguments)
        shows = f"{self._spec.name} {json.dumps(arguments, default=dict)}"
        return Action(self._spec.name, self._effects, shows, self._spec.name)

    async def run(self, run: ToolRun) -> ToolOutput:
        """What was scripted for this run."""
        record = RecordedRun(run)
        self.runs.append(record)
        self._started.add()
        try:
            output = await self._do(run)
        except Exception:
            record.state = "failed"
            raise
        except BaseException:
            record.state = "cancelled"
            raise
        record.state = "ended"
        return ToolOutput.of(output) if isinstance(output, str) else output

    async def _do(self, run: ToolRun) -> ToolOutput | str:
        if self._behaviour is not None:
            made = self._behaviour(run)
            return await made if isawaitable(made) else made
        if not self._results:
            raise AssertionError(f"nobody scripted this run of {self._spec.name}: {dict(run.arguments)!r}")
        result = self._results.popleft()
        steps = [result] if isinstance(result, ToolOutput | str | Exception | Gate) else result
        output: Any = None
        for step in steps:
            output = await step if isinstance(step, Gate) else step
            if isinstance(output, Exception):
                raise output
        if not isinstance(output, ToolOutput | str):
            raise AssertionError(f"a run of {self._spec.name} has no output; open its gate with one")
        return output
