"""The promises of the documents port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from attrs import frozen

from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import DoesNotApply, ended, raises, start
from norma.ports.documents import DocumentPage, Documents, Unreadable

TEXTS = ("one\ntwo", "", "three")
"""The pages of the document that is read; the second has no text."""


@frozen
class DocumentsRig:
    """
    *document* has the pages `TEXTS`; *bad* are documents that can't be read at all.

    *endless* is one whose reading does not end by itself, None if that can't be arranged; *there* says
    whether it has come to where it stays, *left* how much of earlier readings still runs.
    """

    documents: Documents
    document: bytes
    bad: tuple[bytes, ...]
    endless: bytes | None = None
    there: Callable[[], bool] = lambda: True
    left: Callable[[], int] = lambda: 0


class _Stop(Exception):
    pass


async def check_pages(rig: DocumentsRig) -> None:
    """All of them, in order, each with its number, and the same each time."""
    wanted = _pages()
    assert await _read(rig) == wanted, "every page comes, in order, with its text"
    assert await _read(rig) == wanted, "the same data gives the same pages"
    assert rig.left() == 0, "when it has ended nothing runs"


async def check_first(rig: DocumentsRig) -> None:
    """It begins where it is told."""
    for first in range(1, len(TEXTS) + 3):
        pages = await _read(rig, first)
        assert pages == _pages()[first - 1 :], f"from page {first} on: got {pages}"


async def check_enough(rig: DocumentsRig) -> None:
    """A page that is one too many is not told of."""
    got: list[DocumentPage] = []

    def two(page: DocumentPage) -> bool:
        got.append(page)
        return len(got) < 2

    await rig.documents.read(rig.document, two)
    assert got == _pages()[:2], f"it ends when it is told that it is enough: got {got}"
    assert rig.left() == 0, "when it has ended nothing runs"


async def check_unreadable(rig: DocumentsRig) -> None:
    """With words on one line, and nothing left behind."""
    for data in rig.bad:
        error = await raises(Unreadable, rig.documents.read(data, lambda page: True), "a bad document")
        words = str(error)
        assert words.strip(), "the message says what is wrong"
        assert "\n" not in words, f"the message is one line: {words!r}"
        assert rig.left() == 0, "when it has ended nothing runs"


async def check_what_the_caller_raises(rig: DocumentsRig) -> None:
    """It passes through."""

    def stops(page: DocumentPage) -> bool:
        raise _Stop

    await raises(_Stop, rig.documents.read(rig.document, stops), "what the caller raises passes through")
    assert rig.left() == 0, "when it has ended nothing runs"


async def check_many_at_once(rig: DocumentsRig) -> None:
    """Readings share nothing."""
    tasks = [start(_read(rig, first)) for first in (1, 2, 3, 1)]
    for task, first in zip(tasks, (1, 2, 3, 1), strict=True):
        await ended(task, "a reading comes to its end")
        assert task.result() == _pages()[first - 1 :], "pages do not mix"


async def check_cancel_everywhere(rig: DocumentsRig) -> None:
    """Cancelled at any await, what runs is ended before the cancellation passes."""
    data = rig.endless
    if data is None:
        raise DoesNotApply("every reading of this rig ends by itself")

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        yield Scenario(rig.documents.read(data, lambda page: True), rig.there, after)

    async def after() -> None:
        assert rig.left() == 0, "what runs is ended before the cancellation passes"

    await cancel_everywhere(make, "cancellation passes through a reading", most=40)


def _pages() -> list[DocumentPage]:
    return [DocumentPage(number, len(TEXTS), text) for number, text in enumerate(TEXTS, 1)]


async def _read(rig: DocumentsRig, first: int = 1) -> list[DocumentPage]:
    got: list[DocumentPage] = []

    def keep(page: DocumentPage) -> bool:
        got.append(page)
        return True

    await rig.documents.read(rig.document, keep, first=first)
    return got


CHECKS = (
    check_pages,
    check_first,
    check_enough,
    check_unreadable,
    check_what_the_caller_raises,
    check_many_at_once,
    check_cancel_everywhere,
)
