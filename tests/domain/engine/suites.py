"""
The engine's tests as functions that can be run against a wrong engine, in no time and without hanging.

A suite is a module's test functions, or lives by chance with fixed seeds. They run on a loop whose clock
jumps to the next timer, and which raises `Stuck` where a real one would wait for ever.
"""

import asyncio
import gc
import inspect
import itertools
import selectors
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from norma.adapters.memory.model import call, end, say
from norma.adapters.memory.tools import ScriptedTool
from tests.domain.engine import (
    test_cancel,
    test_faulty_parts,
    test_judged_again,
    test_leaving,
    test_live_answers,
    test_many_turns,
    test_outcomes,
    test_permits,
    test_questions,
    test_recorded_answers,
    test_resume,
    test_turn_tables,
    test_turns,
)
from tests.domain.engine.chance import Chance
from tests.domain.engine.hosts import PARALLEL, ask, check_pairs, engine, outcome

LIVES = 120
MOST_PASSES = 100_000

Case: TypeAlias = tuple[str, Callable[[], Any]]


class Stuck(BaseException):
    """Nothing is left that could go on, or it goes on without end. No `except Exception` hides it."""


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing: time is what is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.passes = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.passes += 1
        if self.passes > MOST_PASSES:
            raise Stuck("it goes on without end")
        events = super().select(0)
        if not events and timeout is None:
            raise Stuck("it hangs")
        if not events and timeout is not None:
            self.now += timeout
        return events


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop that takes no time, and raises `Stuck` instead of waiting for what can't come."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        return self._clock.now


def cases(module: ModuleType) -> list[Case]:
    """The test functions of *module*, once for each of their parameters; not those that need a fixture."""
    found: list[Case] = []
    for name, function in vars(module).items():
        if not name.startswith("test_") or not inspect.isfunction(function):
            continue
        for arguments in _parameters(function):
            if set(inspect.signature(function).parameters) == set(arguments):
                label = ", ".join(str(getattr(value, "__name__", value)) for value in arguments.values())
                found.append((f"{name}[{label}]" if label else name, partial(function, **arguments)))
    return found


def _parameters(function: Any) -> Iterator[Mapping[str, Any]]:
    rows = []
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args
            names = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
            wrapped = [value if len(names) > 1 else (value,) for value in values]
            rows.append([dict(zip(names, value, strict=True)) for value in wrapped])
    for row in itertools.product(*rows):
        yield {name: value for part in row for name, value in part.items()}


def _lives(crash: bool, strange: float) -> list[Case]:
    def life(seed: int) -> None:
        chance = Chance(seed)
        chance.live(25, strange)
        if crash:
            chance.crash()
            chance.live(15, strange)
        chance.finish()

    return [(f"life {seed}", partial(life, seed)) for seed in range(LIVES)]


async def plain() -> None:
    """A turn in which nothing goes wrong."""
    tool = ScriptedTool("look", results=["found"], traits=PARALLEL)
    session = await engine(
        [[say("so"), call("c", "look"), end("tool_use")], [say("x"), end()]], tool
    ).session()
    assert outcome(await ask(session)) == "completed"
    check_pairs(session.messages)


SUITES: Mapping[str, list[Case]] = {
    "tables": cases(test_turn_tables),
    "uniform": _lives(crash=False, strange=1.0),
    "guided": _lives(crash=False, strange=0.2),
    "crashes": _lives(crash=True, strange=0.2),
    "turns": cases(test_turns),
    "outcomes": cases(test_outcomes) + cases(test_faulty_parts),
    "questions": cases(test_questions) + cases(test_recorded_answers) + cases(test_live_answers),
    "permits": cases(test_permits),
    "again": cases(test_judged_again),
    "cancel": cases(test_cancel),
    "leaving": cases(test_leaving),
    "kill": cases(test_resume),
    "many": cases(test_many_turns),
}


def complaint(suite: list[Case]) -> str | None:
    """The first of the suite's tests that fails, and how; None if all pass."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # What a wrong engine leaves behind is no news: its tests have failed, or they have not.
        warnings.simplefilter("ignore")
        patch.setattr(sys, "unraisablehook", lambda unraisable: None)
        patch.setattr(asyncio.events, "new_event_loop", JumpingLoop)
        patch.setattr(test_many_turns, "TURNS", 40)
        try:
            return next(filter(None, (_fault(name, run) for name, run in suite)), None)
        finally:
            gc.collect()


def _fault(name: str, run: Callable[[], Any]) -> str | None:
    try:
        made = run()
        if inspect.iscoroutine(made):
            asyncio.run(made)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        said = str(error).strip().partition("\n")[0]
        return f"{name}: {type(error).__name__} {said:.80}".strip()
    return None
