"""A journal that takes its time, as a disk does."""

import asyncio
from collections.abc import Sequence

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.journal import MemoryJournal
from norma.domain.model.facts import Fact

PASSES = 2


class SlowJournal(MemoryJournal):
    """
    An append takes passes of the loop before and after it is written, and can be held at `gate`.

    Cancelled meanwhile it still comes to its end, as the port promises, and raises CancelledError then.
    """

    gate: Gate | None = None

    def another(self) -> "SlowJournal":
        """As that of the memory journal, and slow, too."""
        twin = SlowJournal(self._clock)
        twin._store = self._store
        return twin

    async def append(self, session: str, expected: int, facts: Sequence[Fact]) -> int:
        """See `Journal.append`."""
        before = await self._pass()
        version = await super().append(session, expected, facts)
        cancelled = await self._pass() or before
        if cancelled is not None:
            raise cancelled
        return version

    async def _pass(self) -> asyncio.CancelledError | None:
        """Let time pass, whatever happens; the cancel that came meanwhile, if one did."""
        cancelled: asyncio.CancelledError | None = None
        passed = 0
        while passed < PASSES:
            try:
                if self.gate is not None:
                    await self.gate
                await asyncio.sleep(0)
                passed += 1
            except asyncio.CancelledError as error:
                cancelled = error
        return cancelled
