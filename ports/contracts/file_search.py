"""The promises of the file-search port. (What expressions and globs mean is tested beside the backends.)"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from attrs import evolve

from norma.domain.model.values import frozen
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import DoesNotApply, ended, raises, start
from norma.ports.file_search import BadPattern, FileSearch, SearchLine, SearchQuery

FILES: Mapping[str, bytes] = {
    "a.txt": b"one\nNeedle here\nthree\n",
    "b/c.py": b"needle = 1\nother\nneedle = needle\n",
    "b/d.md": b"nothing\n",
}
"""The tree that is searched, by path from its root."""

BAD = "needle("


@frozen
class Case:
    """A query and its rows, with paths from the root of the tree."""

    query: SearchQuery
    lines: tuple[SearchLine, ...]
    more: int = 0


def _case(lines: tuple[SearchLine, ...], *, path: str = "", more: int = 0, **wishes: object) -> Case:
    return Case(SearchQuery("needle", path, **wishes), lines, more)  # type: ignore[arg-type]  # by name, below


CASES = (
    _case((SearchLine("b/c.py"),)),
    _case((SearchLine("a.txt"), SearchLine("b/c.py")), ignore_case=True),
    _case((SearchLine("b/c.py", count=2),), mode="count"),
    _case(
        (SearchLine("b/c.py", 1, "needle = 1"), SearchLine("b/c.py", 3, "needle = needle")), mode="content"
    ),
    _case(
        (
            SearchLine("b/c.py", 1, "needle = 1"),
            SearchLine("b/c.py", 2, "other", context=True),
            SearchLine("b/c.py", 3, "needle = needle"),
        ),
        mode="content",
        after=1,
    ),
    _case((), globs=("*.txt",)),
    _case((SearchLine("a.txt"),), ignore_case=True, globs=("!*.py",)),
    _case((SearchLine("a.txt"),), ignore_case=True, path="a.txt"),
    _case((SearchLine("a.txt"),), ignore_case=True, limit=1, more=1),
    _case((SearchLine("b/c.py"),), ignore_case=True, offset=1),
)


def at(root: str, case: Case) -> Case:
    """*case* for a tree that lies in *root*."""
    query = evolve(case.query, path=f"{root}/{case.query.path}".rstrip("/"))
    return evolve(
        case, query=query, lines=tuple(evolve(one, path=f"{root}/{one.path}") for one in case.lines)
    )


@frozen
class SearchRig:
    """
    A search over `FILES` in the folder *root*.

    *endless* is a query whose search does not end by itself, None if that can't be arranged; *there*
    says whether it has come to where it stays, *left* what of earlier searches still runs.
    """

    search: FileSearch
    root: str
    endless: SearchQuery | None = None
    there: Callable[[], bool] = lambda: True
    left: Callable[[], int] = lambda: 0


async def check_answers(rig: SearchRig) -> None:
    """The same rows in the same order from every backend."""
    for case in CASES:
        wanted = at(rig.root, case)
        result = await rig.search.search(wanted.query, progress=_ignore, excluded=_nothing)
        assert result.lines == wanted.lines, f"{wanted.query}: got {result.lines}"
        assert result.more == wanted.more or (wanted.more and result.more == -1), (
            f"{wanted.query}: {wanted.more} more rows, got {result.more}"
        )


async def check_excluded(rig: SearchRig) -> None:
    """Such files are left out, and a note says how many would have matched."""
    case = at(rig.root, CASES[1])
    hidden = f"{rig.root}/b/c.py"
    result = await rig.search.search(case.query, progress=_ignore, excluded=lambda path: path == hidden)
    assert [line.path for line in result.lines] == [f"{rig.root}/a.txt"], "an excluded file is left out"
    assert any("1" in note for note in result.notes), f"a note counts what was left out: {result.notes}"


async def check_errors(rig: SearchRig) -> None:
    """A bad pattern and a missing path are told apart, with words."""
    bad = rig.search.search(SearchQuery(BAD, rig.root), progress=_ignore, excluded=_nothing)
    error = await raises(BadPattern, bad, "a bad pattern is BadPattern")
    assert str(error).strip(), "the message says what is wrong"
    missing = rig.search.search(
        SearchQuery("needle", f"{rig.root}/none"), progress=_ignore, excluded=_nothing
    )
    await raises(FileNotFoundError, missing, "a missing path is FileNotFoundError")


async def check_many_at_once(rig: SearchRig) -> None:
    """Searches share nothing."""
    cases = [at(rig.root, case) for case in CASES]
    tasks = [start(rig.search.search(case.query, progress=_ignore, excluded=_nothing)) for case in cases]
    for task, case in zip(tasks, cases, strict=True):
        await ended(task, "a search comes to its end")
        assert task.result().lines == case.lines, "answers do not mix"


async def check_cancel_everywhere(rig: SearchRig) -> None:
    """Cancelled at any await, what runs is ended before the cancellation passes."""
    query = rig.endless
    if query is None:
        raise DoesNotApply("every search of this rig ends by itself")

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        yield Scenario(rig.search.search(query, progress=_ignore, excluded=_nothing), rig.there, after)

    async def after() -> None:
        assert rig.left() == 0, "what runs is ended before the cancellation passes"

    await cancel_everywhere(make, "cancellation passes through a search", most=40)


def _ignore(line: str) -> None:
    """Progress is for a host."""


def _nothing(path: str) -> bool:
    return False


CHECKS = (check_answers, check_excluded, check_errors, check_many_at_once, check_cancel_everywhere)
