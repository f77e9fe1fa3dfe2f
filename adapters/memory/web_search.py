"""Web search with answers that a test wrote."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from attrs import evolve

from norma.adapters.memory.gates import Gate
from norma.adapters.memory.waiting import Counter
from norma.ports.web_search import DEFAULT_RESULTS, MOST_RESULTS, SearchAnswer, WebSearch

Answered: TypeAlias = SearchAnswer | Exception | Gate


class ScriptedWebSearch(WebSearch):
    """Gives *answers*, by query or made by a function; another query is an AssertionError."""

    def __init__(self, answers: Mapping[str, Answered] | Callable[[str], Answered]) -> None:
        self._answers = answers
        self._asked = Counter()
        self.queries: list[tuple[str, int]] = []
        """Every query and how many results it wanted, in order."""
        self.running = 0
        """How many searches have begun and not ended in any way."""

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def endpoint(self) -> str:
        return "https://search.example/"

    async def asked(self, queries: int = 1) -> None:
        """Return as soon as that many queries were asked."""
        await self._asked.reached(queries)

    async def search(self, query: str, limit: int = DEFAULT_RESULTS) -> SearchAnswer:
        """The scripted answer to *query*."""
        self.queries.append((query, limit))
        self._asked.add()
        self.running += 1
        try:
            found = self._answer(query)
            answer = await found if isinstance(found, Gate) else found
        finally:
            self.running -= 1
        if isinstance(answer, Exception):
            raise answer
        return evolve(answer, results=answer.results[: max(1, min(limit, MOST_RESULTS))])

    def _answer(self, query: str) -> Answered:
        if callable(self._answers):
            return self._answers(query)
        if query not in self._answers:
            raise AssertionError(f"nobody scripted this search: {query}")
        return self._answers[query]
