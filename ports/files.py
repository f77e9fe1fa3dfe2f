"""
The workspace port: the files that tools read and write.

Paths are absolute and resolved (`resolve` makes them so). An implementation opens exactly the
path it is given: if a part of it has become a symlink since, that is an error, not another file.
"""

from abc import abstractmethod
from typing import Literal, Protocol

from norma.domain.model.values import frozen


@frozen
class Resolved:
    """
    Where a path leads: *path* is absolute with every symlink followed (a missing tail is kept as it
    is written), *root* is the workspace root that holds it or None.
    """

    path: str
    root: str | None
    exists: bool


@frozen
class Entry:
    """One entry of a folder. *size* is in bytes; of a link, its own."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int


@frozen
class FileContent:
    """
    What was read. *whole_size* is the file's size in bytes; *stamp* changes whenever the file does
    (to refuse a write over a change that was never read).
    """

    data: bytes
    whole_size: int
    stamp: str


class Workspace(Protocol):
    """
    Files under one or more workspace roots, and, by absolute path, outside them.

    Errors are OSError's own subclasses (FileNotFoundError, IsADirectoryError, PermissionError, …)
    whose message is fit for a model. File names that are not UTF-8 arrive with surrogate escapes.
    """

    @property
    @abstractmethod
    def roots(self) -> tuple[str, ...]:
        """The workspace roots, resolved; the first one is where relative paths start."""

    @property
    @abstractmethod
    def ignores_case(self) -> bool:
        """
        Whether names that differ in case alone lead to the same file, as far as a look at the entries
        of the roots tells. In doubt true: rules that forbid then forbid more. The same for its life.
        """

    @abstractmethod
    def resolve(self, path: str) -> Resolved:
        """
        Follow *path* to its end, relative to the first root. `~` is a literal name.

        A few system calls, no waiting. Raises ValueError for what can be no path (a NUL inside),
        OSError for a loop of links.
        """

    @abstractmethod
    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        """The bytes of a regular file, *limit* at most. A device, FIFO or socket gives an OSError."""

    @abstractmethod
    def peek(self, path: str, most: int) -> bytes | None:
        """
        The bytes of a small regular file, at once: a few system calls, no waiting.

        None if it has more than *most* bytes or can't be read as it is now (it is missing, no regular
        file, behind a link, not ours to read): `read` says what stands in the way. To show a file to a
        person before it is changed; what is written must come from `read`, whose stamp guards it.
        """

    @abstractmethod
    async def write(self, path: str, data: bytes, *, stamp: str | None = None) -> str:
        """
        Put *data* in place of the file, whole or not at all; missing parent folders are made.
        Returns the stamp of the file as it was written: a later `read` of just that has the same.

        The file keeps its mode. With *stamp* the write is refused (FileExistsError) unless the
        file is still as it was read; `stamp=""` means that it must not exist yet. When this
        returns, the bytes would survive a power cut; when it raises or is cancelled, the old file
        is as it was and nothing is left behind. A cancel that comes too late to stop the
        replacement passes once that is done: the new file is then in place, whole.
        """

    @abstractmethod
    async def list(self, path: str) -> tuple[Entry, ...]:
        """The entries of a folder, sorted by name; links are not followed."""


class IgnoreList(Protocol):
    """The lines of one ignore file."""

    @abstractmethod
    def names(self, path: str, *, is_folder: bool) -> bool | None:
        """
        Whether a line leaves out *path*, relative to the folder of the file: True, False for one that a
        `!` keeps, None if no line speaks of it. What is beneath a folder that is left out is not asked about.
        """


class IgnoreRules(Protocol):
    """Reads ignore files as git and ripgrep do."""

    @abstractmethod
    def read(self, data: bytes) -> IgnoreList:
        """The list in a `.gitignore` or a file like it. A line that means nothing is passed over."""
