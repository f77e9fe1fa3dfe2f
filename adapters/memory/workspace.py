"""Files in memory."""

import posixpath
from collections.abc import Mapping, Sequence
from errno import EEXIST, EISDIR, ELOOP, ENOENT, ENOTDIR
from os import strerror
from typing import Literal

from norma.ports.files import Entry, FileContent, Resolved, Workspace

_MOST_LINKS = 40


class MemoryWorkspace(Workspace):
    """
    *files* by absolute path, below *roots*, and *links* (path to target). Folders are there as far as
    something lies in them; roots always are.

    Records every `reads`, `peeks` and `writes` path. `fail_next` makes the next read or write fail.
    """

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        roots: Sequence[str] = ("/project",),
        *,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self._roots = tuple(roots)
        self._files = dict(files or {})
        self._links = dict(links or {})
        self._stamps = dict.fromkeys(self._files, 1)
        self._error: OSError | None = None
        self.reads: list[str] = []
        self.peeks: list[str] = []
        self.writes: list[str] = []

    @property
    def roots(self) -> tuple[str, ...]:
        """As given."""
        return self._roots

    @property
    def ignores_case(self) -> bool:
        """Never: `a` and `A` are two files here."""
        return False

    @property
    def files(self) -> Mapping[str, bytes]:
        """A copy of all files as they are now."""
        return dict(self._files)

    def put(self, path: str, data: bytes) -> None:
        """Change a file behind the workspace's back, as another program would."""
        self._files[path] = data
        self._stamps[path] = self._stamps.get(path, 0) + 1

    def link(self, path: str, target: str) -> None:
        """Make a symlink at *path*, in place of what is there."""
        self._files.pop(path, None)
        self._links[path] = target

    def fail_next(self, error: OSError) -> None:
        """Let the next read or write raise *error* and change nothing."""
        self._error = error

    def resolve(self, path: str) -> Resolved:
        """See `Workspace.resolve`."""
        if "\0" in path:
            raise ValueError("a path has no NUL in it")
        absolute = self._follow(posixpath.join(self._roots[0], path))
        return Resolved(absolute, self._root_of(absolute), self._kind(absolute) is not None)

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        """See `Workspace.read`."""
        self.reads.append(path)
        self._fail()
        self._refuse_links(path)
        kind = self._kind(path)
        if kind == "folder":
            raise _error(EISDIR, path)
        if kind is None:
            raise _error(ENOENT, path)
        data = self._files[path]
        return FileContent(data[:limit], len(data), str(self._stamps[path]))

    def peek(self, path: str, most: int) -> bytes | None:
        """See `Workspace.peek`."""
        self.peeks.append(path)
        try:
            self._refuse_links(path)
        except OSError:
            return None
        data = self._files.get(path)
        return None if data is None or len(data) > most else data

    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        """See `Workspace.write`."""
        self._refuse_links(path)
        if self._kind(path) == "folder":
            raise _error(EISDIR, path)
        for parent in _parents(path):
            if self._kind(parent) == "file":
                raise _error(ENOTDIR, path)
        if stamp is not None and stamp != str(self._stamps.get(path, "")):
            raise FileExistsError(EEXIST, "The file has changed since it was read; read it again", path)
        self._fail()
        self.put(path, data)
        self.writes.append(path)
        return str(self._stamps[path])

    async def list(self, path: str) -> tuple[Entry, ...]:
        """See `Workspace.list`."""
        self._refuse_links(path)
        kind = self._kind(path)
        if kind == "file":
            raise _error(ENOTDIR, path)
        if kind is None:
            raise _error(ENOENT, path)
        prefix = path.rstrip("/") + "/"
        names = {one[len(prefix) :].split("/")[0] for one in self._all() if one.startswith(prefix)}
        return tuple(self._entry(name, prefix + name) for name in sorted(names))

    def _entry(self, name: str, path: str) -> Entry:
        if path in self._links:
            return Entry(name, "link", len(self._links[path].encode()))
        if path in self._files:
            return Entry(name, "file", len(self._files[path]))
        return Entry(name, "folder", 0)

    def _all(self) -> tuple[str, ...]:
        return (*self._files, *self._links, *self._roots)

    def _kind(self, path: str) -> Literal["file", "folder"] | None:
        if path in self._files:
            return "file"
        prefix = path.rstrip("/") + "/"
        inside = path in self._roots or any(one.startswith(prefix) for one in self._all())
        return "folder" if inside else None

    def _root_of(self, path: str) -> str | None:
        inside = (root for root in self._roots if path == root or path.startswith(root.rstrip("/") + "/"))
        return next(inside, None)

    def _follow(self, path: str) -> str:
        """Each part in turn, so that `..` after a link means the link's target's parent."""
        left = path.split("/")[::-1]
        at, links = "/", 0
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            if part == "..":
                at = posixpath.dirname(at)
                continue
            step = posixpath.join(at, part)
            target = self._links.get(step)
            if target is None:
                at = step
                continue
            links += 1
            if links > _MOST_LINKS:
                raise _error(ELOOP, path)
            at = "/" if target.startswith("/") else at
            left += target.split("/")[::-1]
        return at

    def _refuse_links(self, path: str) -> None:
        for part in (*_parents(path), path):
            if part in self._links:
                raise _error(ELOOP, part)

    def _fail(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(2, len(parts))]


def _error(code: int, path: str) -> OSError:
    # OSError picks its own subclass by the code.
    return OSError(code, strerror(code), path)
