"""The clocks keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.clock import ManualClock
from norma.adapters.system.clock import SystemClock
from norma.ports.contracts import clock
from norma.ports.contracts.clock import ClockRig
from norma.ports.contracts.pytest import contract
from tests.contracts.rigs import clock_rig


@asynccontextmanager
async def system(folder: str) -> AsyncIterator[ClockRig]:
    yield ClockRig(SystemClock(), lambda seconds: None)


test_clock = contract(clock.CHECKS, clock_rig(ManualClock), system)
