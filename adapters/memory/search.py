"""File search with answers that a test wrote."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.ports.file_search import FileSearch, Permit, SearchLine, SearchQuery, SearchResult

Found: TypeAlias = SearchResult | Exception | Gate | Sequence[SearchLine]
"""The answer to one query: whole, as its rows, as an error, or when a gate is opened with it."""


class ScriptedSearch(FileSearch):
    """
    Gives *answers*, by the exact query or made by a function; another query is an AssertionError.

    Rows of excluded files are left out, and a note counts them, as the port promises.
    """

    def __init__(self, answers: Mapping[SearchQuery, Found] | Callable[[SearchQuery], Found]) -> None:
        self._answers = answers
        self._asked = Counter()
        self.queries: list[SearchQuery] = []
        """Every query, in order."""
        self.running = 0
        """How many searches have begun and not ended in any way."""

    async def asked(self, queries: int = 1) -> None:
        """Return as soon as that many queries were asked."""
        await self._asked.reached(queries)

    async def search(
        self,
        query: SearchQuery,
        *,
        progress: Callable[[str], None],
        excluded: Callable[[str], bool],
        permit: Permit | None = None,
    ) -> SearchResult:
        """The scripted answer to *query*."""
        self.queries.append(query)
        self._asked.add()
        self.running += 1
        try:
            found = self._answer(query)
            if isinstance(found, Gate):
                found = await found
        finally:
            self.running -= 1
        if isinstance(found, Exception):
            raise found
        result = found if isinstance(found, SearchResult) else SearchResult("python", tuple(found))
        return _without(result, excluded)

    def _answer(self, query: SearchQuery) -> Found:
        if callable(self._answers):
            return self._answers(query)
        if query not in self._answers:
            raise AssertionError(f"nobody scripted this search: {query}")
        return self._answers[query]


def _without(result: SearchResult, excluded: Callable[[str], bool]) -> SearchResult:
    hidden = {line.path for line in result.lines if excluded(line.path)}
    if not hidden:
        return result
    lines = tuple(line for line in result.lines if line.path not in hidden)
    note = f"{len(hidden)} files that match were left out"
    return evolve(result, lines=lines, notes=(*result.notes, note))
