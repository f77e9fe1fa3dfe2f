"""
The workspace port over a real disk (POSIX).

What reads and writes is imported by the first that does: a workspace is made long before.
"""

import os
from collections.abc import Sequence

from norma.adapters.files.case import ignores_case
from norma.adapters.files.links import follow, holds
from norma.adapters.files.threads import in_thread
from norma.ports.files import Entry, FileContent, Resolved, Workspace


class WorkspaceMissing(ValueError):
    """A workspace root does not exist; the message names it."""


class WorkspaceNotFolder(ValueError):
    """A workspace root is no folder; the message names it."""


class DiskWorkspace(Workspace):
    """
    Files under *roots*, and by absolute path anywhere.

    Relative roots start at the current folder. A write replaces the file: other hard links to it
    keep the old bytes, and extended attributes are not carried over. Its owner is kept where this
    process may give files away. A process killed in a write can leave `.norma-….tmp` behind, and nobody
    clears that away later: to take away what somebody else made is an effect that was not asked for.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        if not roots:
            raise WorkspaceMissing("a workspace needs at least one root; name one in workspace.roots")
        self._roots = tuple(dict.fromkeys(_root(root) for root in roots))
        self._ignores_case: bool | None = None

    @property
    def roots(self) -> tuple[str, ...]:
        return self._roots

    @property
    def ignores_case(self) -> bool:
        if self._ignores_case is None:
            self._ignores_case = any(map(ignores_case, self._roots))
        return self._ignores_case

    def resolve(self, path: str) -> Resolved:
        resolved, exists = follow(path, self._roots[0])
        holding = [root for root in self._roots if holds(root, resolved)]
        return Resolved(resolved, max(holding, key=len, default=None), exists)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        from norma.adapters.files import reading

        return await in_thread(lambda stop: reading.read(path, limit, stop))

    def peek(self, path: str, most: int) -> bytes | None:
        from norma.adapters.files import reading

        return reading.peek(path, most)

    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        from norma.adapters.files import writing

        return await in_thread(lambda stop: writing.write(path, data, stamp, stop))

    async def list(self, path: str) -> tuple[Entry, ...]:
        from norma.adapters.files import reading

        return await in_thread(lambda stop: reading.entries(path, stop))


def _root(root: str) -> str:
    try:
        path, exists = follow(root, os.getcwd())
    except (OSError, ValueError) as error:
        raise WorkspaceMissing(f"workspace root {root!r} can't be found: {error}") from error
    if not exists:
        raise WorkspaceMissing(f"workspace root {root!r} does not exist (looked for {path})")
    if not os.path.isdir(path):
        raise WorkspaceNotFolder(f"workspace root {root!r} is not a folder ({path})")
    return path
