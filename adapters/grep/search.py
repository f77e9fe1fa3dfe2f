"""
The file search: ripgrep where it is found, else the same answer from Python.

Above: the Grep tool and `norma grep`. Below: a child process for each search, and the one search
for ripgrep that all of them share.
"""

import asyncio
import errno
import logging
import os
import stat
from collections.abc import Callable, Mapping
from typing import Literal

from attrs import evolve

from norma.adapters.grep.builtin import Builtin
from norma.adapters.grep.expression import PatternError
from norma.adapters.grep.file_types import globs_of
from norma.adapters.grep.finding import Finder, Found
from norma.adapters.grep.globs import expression
from norma.adapters.grep.npm import Npm
from norma.adapters.grep.page import Job, Page
from norma.adapters.grep.parser import parse
from norma.adapters.grep.records import RipgrepFailed
from norma.adapters.grep.ripgrep import Ripgrep
from norma.adapters.grep.shared import Shared
from norma.ports.errors import Refused
from norma.ports.file_search import BadPattern, FileSearch, Permit, SearchQuery, SearchResult

MOST_NOTES = 5
log = logging.getLogger("norma.grep")


class GrepSearch(FileSearch):
    """
    Searches with ripgrep or, without one, in Python.

    *environ* is looked at again for each search: NORMA_DISABLE_RIPGREP set to anything means
    Python. ripgrep is looked for once, at the first search that may use it, first at *ripgrep* (an
    absolute path) if that is given. Where it is missing and npm is there, the search puts the exact
    command to its *permit*; a no counts for all later searches. A search takes *deadline_s* seconds at
    most, an installation *install_deadline_s*.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        deadline_s: float = 60.0,
        ripgrep: str | None = None,
        install_deadline_s: float = 120.0,
    ) -> None:
        self.environ = environ
        self.deadline_s = deadline_s
        self.finder = Finder(environ, ripgrep, install_deadline_s)
        self.builtin = Builtin(deadline_s)
        self.finding: Shared[Found] = Shared()
        self.installing: Shared[Found] = Shared()
        self.asking = asyncio.Lock()
        self.refused: Found | None = None

    async def search(
        self,
        query: SearchQuery,
        *,
        progress: Callable[[str], None],
        excluded: Callable[[str], bool],
        permit: Permit | None = None,
    ) -> SearchResult:
        """
        The answer to *query*; the port says what it promises.

        Raises OSError, besides, for a path that is neither a file nor a folder or that a link leads
        through, and ValueError for a glob or file type that is none.
        """
        try:
            tree = parse(query.pattern, multiline=query.multiline, ignore_case=query.ignore_case)
        except PatternError as error:
            raise BadPattern(str(error)) from error
        job = Job(checked(query), tree, globs_of(query.types), excluded, progress)
        found = await self.ripgrep(permit)
        limit = asyncio.timeout(self.deadline_s)
        try:
            async with limit:
                return await self.answered(job, found)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(
                f"the search was stopped after {self.deadline_s:g} s; a narrower path or pattern is faster"
            ) from error

    async def answered(self, job: Job, found: Found) -> SearchResult:
        """The answer of ripgrep if it was *found* and gives one, else Python's with the reason."""
        why = found.why
        if found.program is not None:
            try:
                return result("ripgrep", *await Ripgrep(found.program).search(job))
            except RipgrepFailed as error:
                why = f"{found.program} failed: {error}"
                log.warning("%s", why)
        page, notes = await self.builtin.search(job)
        return result("python", page, [f"answered by the built-in search: {why}", *notes])

    async def ripgrep(self, permit: Permit | None = None) -> Found:
        """
        Where ripgrep is, looked for once, and installed once if *permit* allows that.

        Searches that come meanwhile share what is going on. A question belongs to the search that asks it: if
        that one is cancelled, the next one asks.
        """
        if self.environ.get("NORMA_DISABLE_RIPGREP"):
            return Found(None, "NORMA_DISABLE_RIPGREP is set")
        found = await self.finding.get(self.finder.find)
        npm = found.npm
        if npm is None or (permit is None and not self.installing.begun):
            return found
        async with self.asking:
            if self.refused is not None:
                return self.refused
            if permit is not None and not self.installing.begun:
                self.refused = await refusal(npm, permit)
                if self.refused is not None:
                    return self.refused
        return await self.installing.get(lambda: self.finder.install(npm))

    async def aclose(self) -> None:
        """End what still looks for ripgrep or installs it. Each search ends what it started itself."""
        await self.finding.aclose()
        await self.installing.aclose()


async def refusal(npm: Npm, permit: Permit) -> Found | None:
    """Ask whether *npm* may install ripgrep: None for yes. A question that breaks is answered with no."""
    try:
        await permit(npm.action)
    except Refused as error:
        reason = " ".join(str(error).split())
        return Found(None, f"there is no rg on PATH, and `{npm.words}` was not allowed: {reason}")
    except Exception as error:
        log.warning("asking whether `%s` may run failed: %r", npm.words, error)
        return Found(None, f"there is no rg on PATH, and the question whether `{npm.words}` may run failed")
    return None


def checked(query: SearchQuery) -> SearchQuery:
    """*query* if its path and globs are fit to search with; raises OSError and ValueError."""
    for glob in query.globs:
        expression(glob.removeprefix("!"))
    path = os.path.normpath(query.path)
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", path) from None
    if os.path.realpath(path) != path:
        raise OSError(errno.ELOOP, "a link leads through this path, which should have been resolved", path)
    if not stat.S_ISDIR(kind) and not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "this is neither a file nor a folder, so it is not searched", path)
    return evolve(query, path=path)


def result(backend: Literal["ripgrep", "python"], page: Page, notes: list[str]) -> SearchResult:
    """What *page* holds, as *backend* found it."""
    kept = notes[:MOST_NOTES]
    if len(notes) > MOST_NOTES:
        kept.append(f"and {len(notes) - MOST_NOTES} more notes")
    return SearchResult(backend, page.lines(), page.more(), (*kept, *page.notes()))
