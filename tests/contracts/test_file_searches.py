"""The file searches keep the promises of their port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from norma.adapters.memory.gates import Forever
from norma.adapters.memory.search import Found, ScriptedSearch
from norma.ports.contracts import file_search
from norma.ports.contracts.file_search import BAD, CASES, SearchRig, at
from norma.ports.contracts.pytest import contract
from norma.ports.file_search import BadPattern, SearchQuery, SearchResult

ROOT = "/tree"


@asynccontextmanager
async def scripted(folder: str) -> AsyncIterator[SearchRig]:
    endless = SearchQuery("for ever", ROOT)
    answers: dict[SearchQuery, Found] = {
        endless: Forever(),
        SearchQuery(BAD, ROOT): BadPattern("there is no ) for the ( at 7"),
        SearchQuery("needle", f"{ROOT}/none"): FileNotFoundError(
            2, "No such file or directory", f"{ROOT}/none"
        ),
    }
    for case in CASES:
        own = at(ROOT, case)
        answers[own.query] = SearchResult("python", own.lines, own.more)
    made = ScriptedSearch(answers)
    yield SearchRig(made, ROOT, endless, lambda: made.running > 0, lambda: made.running)


test_file_search = contract(file_search.CHECKS, scripted)
