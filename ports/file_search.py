"""
The file-search port: text in files under a folder (contract G).

Above: the Grep tool and `norma grep`. Below: ripgrep, or the same answers in pure Python.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeAlias

from norma.domain.model.actions import Action
from norma.domain.model.values import frozen

Permit: TypeAlias = Callable[[Action], Awaitable[None]]
"""Returns when the action may be done, raises Refused when not."""

SearchMode: TypeAlias = Literal["files", "content", "count"]


@frozen
class SearchQuery:
    """
    What to look for.

    *pattern* is a regular expression without look-around and back-references (what both backends
    share). *path* is absolute and resolved: a file, or a folder that is searched without following
    links. *globs* as in .gitignore, `!` excludes. *limit* and *offset* count output rows in the
    order of path, then line; *limit* 0 means all.
    """

    pattern: str
    path: str
    mode: SearchMode = "files"
    ignore_case: bool = False
    globs: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    before: int = 0
    after: int = 0
    multiline: bool = False
    limit: int = 250
    offset: int = 0
    hidden: bool = False
    no_ignore: bool = False


@frozen
class SearchLine:
    """
    One row of the answer.

    *path* is absolute. In files mode only it is set, in count mode *count* too, in content mode
    *line* (from 1) and *text*; *context* marks a line beside a match. Long lines are cut.
    """

    path: str
    line: int | None = None
    text: str | None = None
    count: int | None = None
    context: bool = False


@frozen
class SearchResult:
    """
    The rows asked for; *more* rows follow them (-1: some, uncounted). *backend* answered; *notes*
    say why it was that one, and what could not be searched.
    """

    backend: Literal["ripgrep", "python"]
    lines: tuple[SearchLine, ...]
    more: int = 0
    notes: tuple[str, ...] = ()


class BadPattern(ValueError):
    """The pattern is no valid expression of the shared dialect; the message says where."""


class FileSearch(Protocol):
    """Finds text in files. Many searches may run at once."""

    @abstractmethod
    async def search(
        self,
        query: SearchQuery,
        *,
        progress: Callable[[str], None],
        excluded: Callable[[str], bool],
        permit: Permit | None = None,
    ) -> SearchResult:
        """
        The answer to *query*.

        The same tree gives the same answer from every backend. Files whose absolute path is
        *excluded* are left out as if they were not there, and a note counts those that would have
        matched. *progress* gets a line now and then during long work. Cancellation ends what runs
        (also a child process) before it passes.

        What a search needs beyond reading (an installation) is put to *permit* first, as `ToolRun.permit`:
        with None, or refused, it is not done, and a note says so.

        Raises:
            BadPattern: the pattern is not valid.
            FileNotFoundError: the path does not exist.
            TimeoutError: the deadline of the adapter has passed.
        """
