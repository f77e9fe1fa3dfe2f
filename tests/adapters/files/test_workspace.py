"""The disk workspace over real files."""

import asyncio
import os
import random
import resource
import signal
import socket
import stat
import threading
from pathlib import Path

import pytest

from norma.adapters.files import writing
from norma.adapters.files.links import MOST_BYTES
from norma.adapters.files.opening import SWAPPED
from norma.adapters.files.threads import Stop
from norma.adapters.files.workspace import DiskWorkspace, WorkspaceMissing, WorkspaceNotFolder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(root: Path) -> DiskWorkspace:
    return DiskWorkspace([str(root)])


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


# roots


def test_a_missing_root_is_named(tmp_path):
    with pytest.raises(WorkspaceMissing, match="nowhere"):
        DiskWorkspace([str(tmp_path / "nowhere")])


def test_a_root_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorkspaceNotFolder, match="file"):
        DiskWorkspace([str(tmp_path / "file")])


def test_no_root_at_all_is_an_error():
    with pytest.raises(WorkspaceMissing, match="at least one"):
        DiskWorkspace([])


def test_roots_are_resolved_and_doubles_count_once(tmp_path, root):
    (tmp_path / "link").symlink_to(root)
    assert DiskWorkspace([str(tmp_path / "link"), str(root)]).roots == (str(root),)


# resolve


def test_G7_a_path_is_resolved_through_links_before_its_root_is_looked_for(tmp_path, root, workspace):
    (tmp_path / "outside").mkdir()
    (root / "way").symlink_to("../outside")
    found = workspace.resolve("way/secret")
    assert (found.path, found.root, found.exists) == (str(tmp_path / "outside/secret"), None, False)


def test_G7_roots_are_compared_by_parts(tmp_path, root, workspace):
    sibling = tmp_path / "root2"
    sibling.mkdir()
    assert workspace.resolve(str(sibling)).root is None
    assert workspace.resolve(str(root)).root == str(root)


def test_the_deepest_root_holds_a_path(root):
    (root / "inner").mkdir()
    workspace = DiskWorkspace([str(root), str(root / "inner")])
    assert workspace.resolve("inner/x").root == str(root / "inner")


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("a//b/./c", "a/b/c"),
        ("a/../b", "b"),
        ("missing/../a", "a"),
        ("~/x", "~/x"),
        ("dangling", "target"),
        ("a/link/x", "b/x"),
        ("a/link/..", ""),
    ],
)
def test_spellings_of_a_path(root, workspace, written, leads_to):
    (root / "a").mkdir()
    (root / "b").mkdir()
    (root / "dangling").symlink_to("target")
    (root / "a/link").symlink_to(root / "b")
    assert workspace.resolve(written).path == str(root / leads_to)


def test_existence_is_seen_again_behind_a_missing_part(root, workspace):
    (root / "a").mkdir()
    assert workspace.resolve("missing/../a").exists
    assert not workspace.resolve("missing/a").exists


def test_a_loop_of_links_is_an_error(root, workspace):
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    with pytest.raises(OSError, match="circle"):
        workspace.resolve("one")
    with pytest.raises(OSError, match="circle"):
        workspace.resolve("missing/../one/x")


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_what_can_be_no_path_is_a_value_error(workspace, path):
    with pytest.raises(ValueError):
        workspace.resolve(path)


# read


async def test_reading_gives_bytes_size_and_stamp(root, workspace):
    (root / "f").write_bytes(b"0123456789")
    content = await workspace.read(str(root / "f"), limit=4)
    assert (content.data, content.whole_size) == (b"0123", 10)
    assert content.stamp == (await workspace.read(str(root / "f"))).stamp


async def test_a_stamp_changes_with_the_file_even_if_its_time_is_set_back(root, workspace):
    (root / "f").write_bytes(b"old")
    before = await workspace.read(str(root / "f"))
    times = (root / "f").stat()
    (root / "f").write_bytes(b"new")
    os.utime(root / "f", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert (await workspace.read(str(root / "f"))).stamp != before.stamp


async def test_a_folder_is_an_error(root, workspace):
    with pytest.raises(IsADirectoryError, match="root"):
        await workspace.read(str(root))


async def test_TC_82_a_fifo_is_refused_and_never_waited_for(root, workspace):
    os.mkfifo(root / "fifo")
    with pytest.raises(OSError, match="FIFO"):
        await asyncio.wait_for(workspace.read(str(root / "fifo")), 5)


def test_to_look_at_what_is_no_file_waits_for_nothing_and_shows_nothing(root, workspace):
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s"))
        for path in (str(root / "fifo"), str(root / "s"), str(root), "/dev/zero", "/"):
            assert workspace.peek(path, 100) is None


def test_a_file_whose_size_says_nothing_is_seen_whole_or_not_at_all(workspace):
    path = f"/proc/{os.getpid()}/limits"  # of Linux: a regular file with a size of 0
    whole = Path(path).read_bytes()
    assert os.stat(path).st_size == 0
    assert workspace.peek(path, len(whole)) == whole
    assert workspace.peek(path, len(whole) - 1) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_not_seen(root, workspace):
    (root / "f").write_text("x")
    (root / "f").chmod(0)
    assert workspace.peek(str(root / "f"), 100) is None


async def test_a_socket_is_refused(root, workspace):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s"))
        with pytest.raises(OSError, match="socket"):
            await workspace.read(str(root / "s"))


async def test_a_device_is_refused(workspace):
    with pytest.raises(OSError, match="device"):
        await workspace.read("/dev/null")


async def test_a_missing_file_is_named_whole(root, workspace):
    with pytest.raises(FileNotFoundError, match=str(root / "sub/none")):
        await workspace.read(str(root / "sub/none"))


async def test_a_path_that_is_not_resolved_is_refused(root, workspace):
    with pytest.raises(ValueError, match="resolved"):
        await workspace.read(f"{root}/sub/../f")
    with pytest.raises(ValueError, match="resolved"):
        await workspace.read("f")
    with pytest.raises(ValueError, match="resolved"):
        workspace.peek("f", 100)


@pytest.mark.parametrize("swapped", ["a", "a/b", "a/b/f"])
async def test_G7_a_part_swapped_for_a_link_after_resolve_is_not_followed(tmp_path, root, workspace, swapped):
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    for folder in (outside, outside / "b"):
        (folder / "f").write_text("canary")
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/f").write_text("mine")
    path = workspace.resolve("a/b/f").path
    (root / swapped).rename(tmp_path / "away")
    (root / swapped).symlink_to({"a": outside, "a/b": outside / "b", "a/b/f": outside / "f"}[swapped])
    with pytest.raises(OSError, match="become a symbolic link"):
        await workspace.read(path)
    with pytest.raises(OSError, match="become a symbolic link"):
        await workspace.write(path, b"spoiled")
    assert workspace.peek(path, 100) is None
    assert (outside / "f").read_text() == "canary"
    assert (outside / "b/f").read_text() == "canary"
    assert tree(outside) == {"b", "f", "b/f"}


async def test_a_path_may_have_more_folders_than_files_may_be_open(root, workspace):
    path = "d/" * 400 + "f"
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    await workspace.write(str(root / path), b"x")
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 50, old[1]))
    try:
        await workspace.write(str(root / path), b"y")
        assert (await workspace.read(str(root / path))).data == b"y"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)


def test_a_path_too_long_for_other_programs_leads_nowhere(root, workspace):
    longest = "d/" * ((MOST_BYTES - len(str(root)) - 1) // 2)
    assert not workspace.resolve(longest).exists
    for path in (longest + "f/f", "d/../" * MOST_BYTES, "\u00e9" * MOST_BYTES):
        with pytest.raises(OSError, match=f"{MOST_BYTES} bytes at most"):
            workspace.resolve(path)


async def test_nothing_stays_open(root, workspace):
    (root / "f").write_text("x")
    await workspace.read(str(root / "f"))
    before = open_files()
    for _ in range(5):
        await workspace.read(str(root / "f"))
        assert workspace.peek(str(root / "f"), 1) == b"x"
        assert workspace.peek(str(root / "f"), 0) is None
        assert workspace.peek(str(root), 1) is None
        await workspace.write(str(root / "d/e/f"), b"x")
        await workspace.list(str(root))
        with pytest.raises(OSError):
            await workspace.read(str(root / "no/thing"))
        with pytest.raises(OSError):
            await workspace.write(str(root / "f/thing"), b"")
    assert open_files() == before


# write


async def test_writing_makes_parents_and_leaves_only_the_file(root, workspace):
    await workspace.write(str(root / "a/b/c"), b"new")
    assert (root / "a/b/c").read_bytes() == b"new"
    assert tree(root) == {"a", "a/b", "a/b/c"}


async def test_the_mode_is_kept(root, workspace):
    (root / "f").write_bytes(b"old")
    (root / "f").chmod(0o741)
    await workspace.write(str(root / "f"), b"new")
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o741


def test_the_new_bytes_of_a_private_file_are_private_from_the_start(root):
    (root / "f").write_bytes(b"old")
    (root / "f").chmod(0o600)
    modes: list[int] = []

    class Watching(Stop):
        def check(self) -> None:
            modes.extend(stat.S_IMODE(path.stat().st_mode) for path in root.glob(".norma-*"))

    writing.write(str(root / "f"), bytes(3 << 20), None, Watching())
    assert len(modes) > 3
    assert set(modes) == {0o600}


async def test_a_new_file_has_the_mode_that_the_umask_leaves(root, workspace):
    await workspace.write(str(root / "f"), b"new")
    (root / "g").write_bytes(b"")
    assert (root / "f").stat().st_mode == (root / "g").stat().st_mode


async def test_a_change_since_the_stamp_refuses_the_write(root, workspace):
    (root / "f").write_bytes(b"old")
    stamp = (await workspace.read(str(root / "f"))).stamp
    (root / "f").write_bytes(b"theirs")
    with pytest.raises(FileExistsError, match="changed after it was read"):
        await workspace.write(str(root / "f"), b"mine", stamp=stamp)
    assert (root / "f").read_bytes() == b"theirs"
    assert tree(root) == {"f"}


async def test_a_removal_since_the_stamp_refuses_the_write(root, workspace):
    (root / "f").write_bytes(b"old")
    stamp = (await workspace.read(str(root / "f"))).stamp
    (root / "f").unlink()
    with pytest.raises(FileExistsError, match="removed after it was read"):
        await workspace.write(str(root / "f"), b"mine", stamp=stamp)
    assert tree(root) == set()


async def test_an_empty_stamp_means_a_new_file(root, workspace):
    await workspace.write(str(root / "f"), b"first", stamp="")
    with pytest.raises(FileExistsError, match="exists already"):
        await workspace.write(str(root / "f"), b"second", stamp="")
    assert (root / "f").read_bytes() == b"first"


async def test_the_stamp_of_what_was_read_lets_the_write_pass(root, workspace):
    (root / "f").write_bytes(b"old")
    stamp = (await workspace.read(str(root / "f"))).stamp
    await workspace.write(str(root / "f"), b"new", stamp=stamp)
    assert (root / "f").read_bytes() == b"new"


@pytest.mark.parametrize("kind", ["folder", "fifo"])
async def test_only_a_regular_file_is_replaced(root, workspace, kind):
    if kind == "folder":
        (root / "x").mkdir()
    else:
        os.mkfifo(root / "x")
    with pytest.raises(OSError):
        await workspace.write(str(root / "x"), b"new")
    assert tree(root) == {"x"}


async def test_a_read_only_file_stays(root, workspace):
    (root / "f").write_bytes(b"old")
    (root / "f").chmod(0o444)
    if os.access(root / "f", os.W_OK):
        pytest.skip("this user may write to read-only files")
    with pytest.raises(PermissionError, match="read-only"):
        await workspace.write(str(root / "f"), b"new")
    assert (root / "f").read_bytes() == b"old"


async def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(workspace):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = Path(workspace.roots[0], "made/deep/f")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, old[1]))
    try:
        with pytest.raises(OSError, match=str(path)):
            await workspace.write(str(path), bytes(3 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert tree(Path(workspace.roots[0])) == set()


async def test_TC_107_a_cancel_in_the_middle_of_a_write_leaves_the_old_file_alone(root, workspace):
    (root / "f").write_bytes(b"old")
    for _ in range(10):
        task = asyncio.create_task(workspace.write(str(root / "f"), bytes(64 << 20)))
        async with asyncio.timeout(20):
            while not list(root.glob(".norma-*")):  # noqa: ASYNC110 - a file on the disk has no event
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert tree(root) == {"f"}
        assert (root / "f").read_bytes() == b"old"


async def test_TC_107_a_cancel_at_any_moment_leaves_an_old_or_a_new_file_and_nothing_else(root, workspace):
    chance = random.Random(107)
    (root / "f").write_bytes(b"old")
    for number in range(200):
        new = b"%d" % number * 100_000
        before = (root / "f").read_bytes()
        task = asyncio.create_task(workspace.write(str(root / "f"), new))
        for _ in range(chance.randrange(400)):
            await asyncio.sleep(0)
        task.cancel()
        task.cancel()
        await asyncio.wait({task}, timeout=20)
        assert task.done()
        assert (root / "f").read_bytes() in ({new} if not task.cancelled() else {before, new})
        assert tree(root) == {"f"}


async def test_TC_107_a_cancelled_write_takes_the_folders_it_made_with_it(root, workspace):
    chance = random.Random(7)
    for _ in range(60):
        task = asyncio.create_task(workspace.write(str(root / "a/b/f"), bytes(8 << 20)))
        for _ in range(chance.randrange(100)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=20)
        assert tree(root) in (set(), {"a", "a/b", "a/b/f"})
        if (root / "a").exists():
            (root / "a/b/f").unlink()
            (root / "a/b").rmdir()
            (root / "a").rmdir()


async def test_a_cancelled_read_has_ended_when_the_cancel_passes(root, workspace):
    (root / "f").write_bytes(bytes(64 << 20))
    await workspace.read(str(root / "f"), limit=1)
    before = open_files()
    task = asyncio.create_task(workspace.read(str(root / "f")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert open_files() == before


# list


async def test_a_listing_is_sorted_and_follows_no_link(tmp_path, root, workspace):
    (root / "b").write_bytes(b"123")
    (root / "a").mkdir()
    (root / "c").symlink_to(tmp_path)
    os.mkfifo(root / "d")
    listed = await workspace.list(str(root))
    assert [(entry.name, entry.kind) for entry in listed] == [
        ("a", "folder"),
        ("b", "file"),
        ("c", "link"),
        ("d", "other"),
    ]
    assert listed[1].size == 3


async def test_TC_79_a_name_that_is_not_utf_8_can_be_read_back(root, workspace):
    (root / "odd\udcff").write_bytes(b"x")
    (entry,) = await workspace.list(str(root))
    assert (await workspace.read(f"{root}/{entry.name}")).data == b"x"


async def test_listing_a_file_is_an_error(root, workspace):
    (root / "f").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match=str(root / "f")):
        await workspace.list(str(root / "f"))


async def test_G7_a_file_that_is_swapped_all_the_time_never_shows_what_is_outside(tmp_path, root, workspace):
    (tmp_path / "outside").write_text("canary")
    (root / "f").write_text("mine")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (root / "link").symlink_to(tmp_path / "outside")
            (root / "link").rename(root / "f")
            (root / "file").write_text("mine")
            (root / "file").rename(root / "f")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for _ in range(2000):
            try:
                seen.add((await workspace.read(str(root / "f"))).data.decode())
            except OSError as error:
                seen.add(error.strerror)
    finally:
        done.set()
        swapping.join()
    assert seen <= {"mine", SWAPPED}


# case


@pytest.mark.parametrize("name", ["a", "README.md", "é"])
def test_T3_a_look_at_the_root_tells_whether_case_matters(root, name):
    (root / name).write_text("")
    assert not DiskWorkspace([str(root)]).ignores_case
    # A second name of the same file is what a file system that ignores case would show.
    os.link(root / name, root / name.swapcase())
    assert DiskWorkspace([str(root)]).ignores_case


def test_T3_a_root_without_letters_inside_is_looked_at_itself(tmp_path, root):
    (root / "1").write_text("")
    assert not DiskWorkspace([str(root)]).ignores_case
    (tmp_path / "ROOT").mkdir()
    assert not DiskWorkspace([str(root)]).ignores_case


def test_T3_the_answer_is_that_of_the_first_look(root):
    workspace = DiskWorkspace([str(root)])
    assert not workspace.ignores_case
    (root / "b").write_text("")
    os.link(root / "b", root / "B")
    assert not workspace.ignores_case
