"""The promises of the clock port."""

import re
from collections.abc import Callable
from typing import TypeAlias

from norma.domain.model.values import frozen
from norma.ports.clock import Clock
from norma.ports.contracts.tasks import cancel, ended, start, turn

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")

PassTime: TypeAlias = Callable[[float], None]


@frozen
class ClockRig:
    """
    A clock. *pass_time* makes a clock that does not run by itself go on by that many seconds; over
    one that does, it does nothing.
    """

    clock: Clock
    pass_time: PassTime


async def check_now(rig: ClockRig) -> None:
    """The time of day has one form, and texts of it sort as the times do."""
    before = rig.clock.now()
    assert MOMENT.fullmatch(before), f"now() is ISO 8601 in UTC with milliseconds and Z, not {before!r}"
    await _wait(rig, 0.02)
    assert rig.clock.now() > before, "time goes on"


async def check_monotonic(rig: ClockRig) -> None:
    """It never goes back, and goes on as sleeps do."""
    readings = [rig.clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings), "monotonic() never goes back"
    await _wait(rig, 0.02)
    assert rig.clock.monotonic() >= readings[-1] + 0.02 - 1e-6, "monotonic() goes on by what was slept"


async def check_sleep(rig: ClockRig) -> None:
    """It ends when its time has come, not before, and the loop goes on meanwhile."""
    begun = rig.clock.monotonic()
    task = start(rig.clock.sleep(0.05))
    await turn(3)
    if rig.clock.monotonic() < begun + 0.04:
        assert not task.done(), "a sleep does not end before its time"
    rig.pass_time(0.05)
    await ended(task, "a sleep ends when its time has come")
    assert task.result() is None, "a sleep has no result"
    assert rig.clock.monotonic() >= begun + 0.05 - 1e-6, "a sleep does not end before its time"


async def check_sleep_of_nothing(rig: ClockRig) -> None:
    """It lets everybody else have a pass of the loop, and needs no time."""
    for seconds in (0, -1.0):
        others: list[str] = []
        other = start(_note(others))
        await rig.clock.sleep(seconds)
        assert others == ["ran"], "a sleep of 0 or less lasts one pass of the loop"
        await ended(other, "it ends")


async def check_sleepers_share_nothing(rig: ClockRig) -> None:
    """Each ends by its own time; one that is cancelled takes nobody along."""
    tasks = [start(rig.clock.sleep(seconds)) for seconds in (0.03, 0.01, 60.0)]
    await turn(3)
    await cancel(tasks[2], "cancellation passes through a sleep")
    rig.pass_time(0.03)
    for task in tasks[:2]:
        await ended(task, "a sleep ends when its time has come")
        assert task.result() is None, "a cancelled sleep disturbs no other"


async def check_cancelled_before_it_began(rig: ClockRig) -> None:
    """And at its first pass."""
    for passes in range(3):
        task = start(rig.clock.sleep(60.0))
        await turn(passes)
        await cancel(task, "cancellation passes through a sleep")


async def check_identifiers(rig: ClockRig) -> None:
    """Nobody else has it, it sorts by time, and it may name a session."""
    first = [rig.clock.new_id() for _ in range(500)]
    await _wait(rig, 0.01)
    later = rig.clock.new_id()
    assert len({*first, later}) == 501, "an identifier is given once"
    for name in (first[0], later):
        assert IDENTIFIER.fullmatch(name), f"an identifier has letters, digits and - only, not {name!r}"
        assert len(name) <= 128, "an identifier is short enough to name a session"
    assert max(first) < later, "identifiers sort by time"


async def check_chance(rig: ClockRig) -> None:
    """Numbers from 0 up to but not including 1, spread out."""
    numbers = [rig.clock.random() for _ in range(1000)]
    assert all(0 <= number < 1 for number in numbers), "random() is from 0 up to but not including 1"
    assert len({int(number * 10) for number in numbers}) == 10, "random() reaches all of its range"


async def _wait(rig: ClockRig, seconds: float) -> None:
    task = start(rig.clock.sleep(seconds))
    await turn(2)
    rig.pass_time(seconds)
    await ended(task, "a sleep ends when its time has come")


async def _note(notes: list[str]) -> None:
    notes.append("ran")


CHECKS = (
    check_now,
    check_monotonic,
    check_sleep,
    check_sleep_of_nothing,
    check_sleepers_share_nothing,
    check_cancelled_before_it_began,
    check_identifiers,
    check_chance,
)
