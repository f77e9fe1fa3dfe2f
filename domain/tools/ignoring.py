"""What ignore files leave out of a list or a walk: `.gitignore`, inside a repository, and `.ignore`."""

from collections.abc import Collection

from attrs import evolve

from norma.domain.model.values import define, frozen
from norma.domain.tools.limits import counted
from norma.ports.files import IgnoreList, IgnoreRules, Workspace

FILES = (".rgignore", ".ignore", ".gitignore")
"""The one that is first here has the first word, as in ripgrep."""
OF_GIT = ".gitignore"
REPOSITORY = ".git"
LARGEST = 1 << 20
"""Bytes of an ignore file that are read."""


@frozen
class Placed:
    """*lines* count for paths below *folder*, which ends in a slash."""

    folder: str
    lines: IgnoreList


@define
class Unread:
    """How many ignore files were there and could not be read; their lines do not count."""

    count: int = 0

    def note(self) -> str:
        """In words; empty for none."""
        files = counted(self.count, "ignore file")
        return f"could not be read, so that nothing is left out by it: {files}" if self.count else ""


@frozen
class Ignoring:
    """The ignore files in force in one folder; for each name in `FILES` the nearest first."""

    rules: IgnoreRules
    unread: Unread
    lists: tuple[tuple[Placed, ...], ...] = ((), (), ())
    in_repository: bool = False

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether an ignore file names *path*, which lies right in this folder."""
        for lists in self.lists:
            for placed in lists:
                word = placed.lines.names(path.removeprefix(placed.folder), is_folder=is_folder)
                if word is not None:
                    return word
        return False

    async def within(self, workspace: Workspace, folder: str, names: Collection[str]) -> "Ignoring":
        """What counts inside *folder*, whose entries are *names*."""
        has_repository = REPOSITORY in names
        in_repository = self.in_repository or has_repository
        if not has_repository and not any(name in names for name in FILES):
            return self
        lists = []
        for name, outer in zip(FILES, self.lists, strict=True):
            counts = name in names and (in_repository or name != OF_GIT)
            own = await self._read(workspace, folder, name) if counts else ()
            # A repository inside another is a matter of its own for git.
            lists.append(own if name == OF_GIT and has_repository else own + outer)
        return evolve(self, lists=tuple(lists), in_repository=in_repository)

    async def _read(self, workspace: Workspace, folder: str, name: str) -> tuple[Placed, ...]:
        start = folder.rstrip("/") + "/"
        try:
            found = workspace.resolve(start + name)
            if found.root is None:  # a link out of the workspace is not followed for this
                self.unread.count += 1
                return ()
            data = (await workspace.read(found.path, limit=LARGEST)).data
        except OSError:
            self.unread.count += 1
            return ()
        return (Placed(start, self.rules.read(data)),)


async def ignoring_above(workspace: Workspace, rules: IgnoreRules, folder: str) -> Ignoring:
    """
    What the folders above *folder* say, from its workspace root down; above the root only whether there is
    a repository is looked at.
    """
    root = workspace.resolve(folder).root or folder
    parts = folder.strip("/").split("/")
    depth = len([part for part in root.split("/") if part])
    ignoring = Ignoring(rules, Unread())
    for count in range(len(parts)):
        above = "/" + "/".join(parts[:count])
        if count >= depth:
            names = [name for name in (*FILES, REPOSITORY) if _exists(workspace, above, name)]
            ignoring = await ignoring.within(workspace, above, names)
        elif _exists(workspace, above, REPOSITORY):
            ignoring = evolve(ignoring, in_repository=True)
    return ignoring


def ignored_note(count: int, noun: str, plural: str) -> str:
    """The note on what ignore files left out; empty if nothing was."""
    if not count:
        return ""
    return (
        f"left out, since ignore files name them: {counted(count, noun, plural)}; include_ignored shows them"
    )


def _exists(workspace: Workspace, folder: str, name: str) -> bool:
    try:
        return workspace.resolve(f"{folder.rstrip('/')}/{name}").exists
    except OSError:
        return False
