"""The promises of the workspace port."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Protocol

from norma.ports.contracts.tasks import ended, raises, start, turn
from norma.ports.files import Workspace

FILES: Mapping[str, bytes] = {
    "a.txt": b"alpha\n",
    "src/b.py": b"b = 1\n",
    "src/deep/c.bin": bytes(range(256)),
}
"""What lies in the root, by relative path, and nothing else does."""

OUTSIDE = b"outside\n"


class WorkspaceRig(Protocol):
    """
    A workspace whose one root holds `FILES`, and a file with `OUTSIDE` in it at `outside`, in no root.

    What the rig does, it does behind the workspace's back.
    """

    workspace: Workspace
    outside: str

    @abstractmethod
    def put(self, path: str, data: bytes) -> None:
        """Change the file at the absolute *path*, as another program would."""

    @abstractmethod
    def look(self, path: str) -> bytes | None:
        """What the file at *path* holds; None if there is none."""

    @abstractmethod
    def link(self, path: str, target: str) -> None:
        """Put a symlink at *path*, in place of a file that is there."""


async def check_roots(rig: WorkspaceRig) -> None:
    """They are resolved, and they are what holds their files."""
    root = _root(rig)
    assert rig.workspace.roots == (root,), "the roots are the same each time"
    found = rig.workspace.resolve(root)
    assert (found.path, found.root, found.exists) == (root, root, True), (
        "a root is resolved, and holds itself"
    )


async def check_resolve(rig: WorkspaceRig) -> None:
    """Relative to the first root; dots are followed; a missing tail is kept as it is written."""
    root = _root(rig)
    for path, wanted, exists in (
        ("a.txt", "a.txt", True),
        ("./src/../a.txt", "a.txt", True),
        (f"{root}/src/b.py", "src/b.py", True),
        ("src", "src", True),
        ("new/deeper/x.txt", "new/deeper/x.txt", False),
        ("~/x", "~/x", False),
        ("src//b.py", "src/b.py", True),
    ):
        found = rig.workspace.resolve(path)
        assert found.path == f"{root}/{wanted}", f"{path} leads to {wanted}, not to {found.path}"
        assert found.root == root, f"{path} lies in the root"
        assert found.exists is exists, f"{path} exists: {exists}"
    for path in (rig.outside, "../" * 40 + rig.outside.lstrip("/")):
        found = rig.workspace.resolve(path)
        assert (found.path, found.root, found.exists) == (rig.outside, None, True), "outside is outside"
    beside = rig.workspace.resolve(f"{root}2/x")
    assert beside.root is None, "a folder whose name begins like a root's is not in it"


async def check_resolve_follows_links(rig: WorkspaceRig) -> None:
    """To their end, also out of the workspace, and a loop is an error."""
    root = _root(rig)
    rig.link(f"{root}/out", rig.outside)
    rig.link(f"{root}/in", "src")
    rig.link(f"{root}/round", "round")
    found = rig.workspace.resolve("out")
    assert (found.path, found.root) == (rig.outside, None), "a link that leads out is outside"
    assert rig.workspace.resolve("in/b.py").path == f"{root}/src/b.py", "links on the way are followed"
    assert rig.workspace.resolve("in/../a.txt").path == f"{root}/a.txt", (
        "`..` is the parent of where a link leads"
    )
    _raises_now(OSError, rig, "round", "a loop of links is an OSError")


async def check_resolve_refuses_what_is_no_path(rig: WorkspaceRig) -> None:
    """A NUL can't be in one."""
    _raises_now(ValueError, rig, "a\0b", "a NUL is a ValueError")


async def check_read(rig: WorkspaceRig) -> None:
    """The bytes, the size, and no more than asked for."""
    for name, data in FILES.items():
        content = await rig.workspace.read(f"{_root(rig)}/{name}")
        assert (content.data, content.whole_size) == (data, len(data)), f"{name} is read as it is"
    content = await rig.workspace.read(f"{_root(rig)}/src/deep/c.bin", limit=10)
    assert (content.data, content.whole_size) == (bytes(range(10)), 256), (
        "a limit cuts, and the size is the whole's"
    )
    assert (await rig.workspace.read(rig.outside)).data == OUTSIDE, (
        "files outside are read by their absolute path"
    )


async def check_read_errors(rig: WorkspaceRig) -> None:
    """Each is OSError's own kind, with words."""
    root = _root(rig)
    for kind, path in (
        (FileNotFoundError, f"{root}/none.txt"),
        (IsADirectoryError, f"{root}/src"),
        ((NotADirectoryError, FileNotFoundError), f"{root}/a.txt/x"),
    ):
        error = await raises(kind, rig.workspace.read(path), f"{path} can't be read")
        assert str(error), "an error says what is wrong"


async def check_peek(rig: WorkspaceRig) -> None:
    """A small file as it is at the moment, whole or not at all."""
    root = _root(rig)
    for name, data in FILES.items():
        path = f"{root}/{name}"
        assert rig.workspace.peek(path, len(data)) == data, f"{name} is seen as it is"
        assert rig.workspace.peek(path, len(data) - 1) is None, "of a larger file nothing is seen, not a part"
    assert rig.workspace.peek(rig.outside, 100) == OUTSIDE, "files outside are seen by their absolute path"
    rig.put(f"{root}/a.txt", b"")
    assert rig.workspace.peek(f"{root}/a.txt", 100) == b"", "a change is seen, and an empty file is a file"
    rig.link(f"{root}/z", rig.outside)
    rig.link(f"{root}/door", rig.outside.rpartition("/")[0])
    for path in ("none.txt", "none/x", "src", "a.txt/x", "z", f"door/{rig.outside.rpartition('/')[2]}"):
        assert _seen(rig, f"{root}/{path}") is None, f"{path} is no file to be seen, and that is no error"


async def check_no_link_is_followed_on_the_way(rig: WorkspaceRig) -> None:
    """A path that has become a link since it was resolved is an error, not another file."""
    root = _root(rig)
    rig.link(f"{root}/a.txt", rig.outside)
    await raises(OSError, rig.workspace.read(f"{root}/a.txt"), "a link is not read through")
    await raises(OSError, rig.workspace.write(f"{root}/a.txt", b"!"), "a link is not written through")
    rig.link(f"{root}/door", rig.outside.rpartition("/")[0])
    through = f"{root}/door/{rig.outside.rpartition('/')[2]}"
    await raises(OSError, rig.workspace.read(through), "a folder that is a link is not entered")
    await raises(OSError, rig.workspace.write(through, b"!"), "a folder that is a link is not entered")
    assert rig.look(rig.outside) == OUTSIDE, "the file behind a link is as it was"


async def check_write(rig: WorkspaceRig) -> None:
    """New files, with their folders, and old ones, whole; nothing else is left lying about."""
    root = _root(rig)
    for name, data in (("a.txt", b""), ("new/deeper/x.bin", b"\0\xff" * 9), ("src/b.py", b"b = 2\n" * 9000)):
        await rig.workspace.write(f"{root}/{name}", data)
        assert rig.look(f"{root}/{name}") == data, f"{name} holds what was written"
        assert (await rig.workspace.read(f"{root}/{name}")).data == data, f"{name} is read as it was written"
    assert await _names(rig, root) == ["a.txt", "new", "src"], "writing leaves nothing else behind"
    assert await _names(rig, f"{root}/src") == ["b.py", "deep"], "writing leaves nothing else behind"


async def check_write_errors(rig: WorkspaceRig) -> None:
    """Nothing is changed by them."""
    root = _root(rig)
    await raises(IsADirectoryError, rig.workspace.write(f"{root}/src", b"!"), "a folder is no file")
    await raises(OSError, rig.workspace.write(f"{root}/a.txt/x", b"!"), "a file is no folder")
    assert rig.look(f"{root}/a.txt") == FILES["a.txt"], "a failed write changes nothing"
    assert await _names(rig, root) == ["a.txt", "src"], "a failed write leaves nothing behind"


async def check_stamps(rig: WorkspaceRig) -> None:
    """A change that was never read is never written over."""
    path = f"{_root(rig)}/a.txt"
    before = await rig.workspace.read(path)
    assert (await rig.workspace.read(path)).stamp == before.stamp, "an unchanged file has the same stamp"
    rig.put(path, b"other\n")
    assert (await rig.workspace.read(path)).stamp != before.stamp, "a changed file has another stamp"
    late = rig.workspace.write(path, b"mine", stamp=before.stamp)
    await raises(FileExistsError, late, "a change since the reading is not written over")
    assert rig.look(path) == b"other\n", "a refused write changes nothing"
    now = await rig.workspace.read(path)
    written = await rig.workspace.write(path, b"mine", stamp=now.stamp)
    assert rig.look(path) == b"mine", "with the right stamp it is written"
    assert (await rig.workspace.read(path)).stamp == written, "a write returns the stamp of what it wrote"
    again = rig.workspace.write(path, b"again", stamp=now.stamp)
    await raises(FileExistsError, again, "an own write is a change, too")


async def check_stamp_of_nothing(rig: WorkspaceRig) -> None:
    """The empty stamp is that of a file that does not exist."""
    root = _root(rig)
    await rig.workspace.write(f"{root}/new.txt", b"1", stamp="")
    taken = rig.workspace.write(f"{root}/new.txt", b"2", stamp="")
    await raises(FileExistsError, taken, "what must not exist yet is not written over")
    assert rig.look(f"{root}/new.txt") == b"1", "a refused write changes nothing"
    gone = rig.workspace.write(f"{root}/gone.txt", b"3", stamp="123")
    await raises(OSError, gone, "a file that is gone has changed")
    assert rig.look(f"{root}/gone.txt") is None, "a refused write makes nothing"


async def check_cancelled_write(rig: WorkspaceRig) -> None:
    """Whole or not at all, and nothing lies about, wherever it was cancelled."""
    root = _root(rig)
    old, new = b"old" * 100_000, b"new" * 100_000
    for passes in range(12):
        rig.put(f"{root}/a.txt", old)
        task = start(rig.workspace.write(f"{root}/a.txt", new))
        await turn(passes)
        task.cancel()
        await ended(task, "a cancelled write ends")
        wanted = old if task.cancelled() else new
        assert rig.look(f"{root}/a.txt") == wanted, "after a cancelled write the old file is as it was"
        assert await _names(rig, root) == ["a.txt", "src"], "a cancelled write leaves nothing behind"


async def check_list(rig: WorkspaceRig) -> None:
    """Sorted by name, each as what it is."""
    root = _root(rig)
    rig.link(f"{root}/z", "src")
    rows = [(entry.name, entry.kind) for entry in await rig.workspace.list(root)]
    assert rows == [("a.txt", "file"), ("src", "folder"), ("z", "link")], (
        "entries are sorted, links not followed"
    )
    first = (await rig.workspace.list(root))[0]
    assert first.size == len(FILES["a.txt"]), "the size is in bytes"
    await raises(FileNotFoundError, rig.workspace.list(f"{root}/none"), "a missing folder is an error")
    await raises(NotADirectoryError, rig.workspace.list(f"{root}/a.txt"), "a file is no folder")


def _root(rig: WorkspaceRig) -> str:
    return rig.workspace.roots[0]


def _seen(rig: WorkspaceRig, path: str) -> bytes | None:
    try:
        return rig.workspace.peek(path, 1000)
    except OSError as error:
        raise AssertionError(f"to look at {path} raises nothing, but it raised {error!r}") from error


async def _names(rig: WorkspaceRig, path: str) -> list[str]:
    return [entry.name for entry in await rig.workspace.list(path)]


def _raises_now(kind: type[BaseException], rig: WorkspaceRig, path: str, promise: str) -> None:
    try:
        found = rig.workspace.resolve(path)
    except kind:
        return
    raise AssertionError(f"{promise}: nothing was raised, got {found!r}")


CHECKS = (
    check_roots,
    check_resolve,
    check_resolve_follows_links,
    check_resolve_refuses_what_is_no_path,
    check_read,
    check_read_errors,
    check_peek,
    check_no_link_is_followed_on_the_way,
    check_write,
    check_write_errors,
    check_stamps,
    check_stamp_of_nothing,
    check_cancelled_write,
    check_list,
)
