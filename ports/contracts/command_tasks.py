"""The promises of the port for commands that run on by themselves."""

from collections.abc import Callable

from norma.domain.model.values import frozen
from norma.ports.commands import Command, CommandTasks, UnknownTask
from norma.ports.contracts.tasks import cancel, ended, raises, start, turn, until, within

SAYS = "printf 'one\\ntw\\303\\266\\n'; exit 3"
SAID = "one\ntwö\n"
QUIET = "exit 0"
ENDLESS = "printf 'begun\\n'; sleep 1000 & sleep 1000"
MISSING_FOLDER = "/there/is/no/such/folder"


@frozen
class TasksRig:
    """
    Tasks that can run the commands of this module in the folder *cwd*, and can't start one in
    `MISSING_FOLDER`.

    *left* counts what `ENDLESS` has left running; *filed* what is on the disk because of tasks.
    """

    tasks: CommandTasks
    cwd: str
    left: Callable[[], int]
    filed: Callable[[], int] = lambda: 0

    def command(self, text: str, owner: str = "me") -> Command:
        """*text*, to be started for *owner*."""
        return Command(text, self.cwd, None, owner=owner)


async def check_output_and_end(rig: TasksRig) -> None:
    """A task is seen from its start to its end, and its output can be read then."""
    task = await rig.tasks.start(rig.command(SAYS), description="says")
    assert (task.command, task.description) == (SAYS, "says"), "a task is what was started"
    end = await within(rig.tasks.wait(task.id, "me", 10), "a task ends")
    assert (end.state, end.status, end.id) == ("failed", 3, task.id), f"how it ended is known: {end}"
    quiet = await rig.tasks.start(rig.command(QUIET))
    end = await within(rig.tasks.wait(quiet.id, "me", 10), "a task ends")
    assert (end.state, end.status, end.size) == ("completed", 0, 0), f"how it ended is known: {end}"
    assert [one.id for one in rig.tasks.tasks("me")] == [task.id, quiet.id], "all are listed, in order"
    await rig.tasks.aclose()


async def check_reading(rig: TasksRig) -> None:
    """From an offset or the end, and no character is cut."""
    task = await rig.tasks.start(rig.command(SAYS))
    await within(rig.tasks.wait(task.id, "me", 10), "a task ends")
    whole = SAID.encode()
    for limit in range(4, len(whole) + 3):
        at, text = 0, ""
        while at < len(whole):
            piece = rig.tasks.read(task.id, "me", offset=at, limit=limit)
            assert piece.end > at, "reading gets on"
            assert (piece.start, piece.size) == (at, len(whole)), "a piece says where it is"
            assert len(piece.text.encode()) == piece.end - piece.start <= limit, "a piece keeps to its limit"
            at, text = piece.end, text + piece.text
        assert text == SAID, "no character is cut or lost"
        last = rig.tasks.read(task.id, "me", offset=None, limit=limit)
        assert SAID.endswith(last.text), "the last piece is the end"
        assert last.text, "the last piece is not empty"
        assert last.end == len(whole), "the last piece is the end"
    inside = rig.tasks.read(task.id, "me", offset=len(whole) - 2, limit=10)
    assert "\ufffd" not in inside.text, "an offset inside a character moves to the next"
    behind = rig.tasks.read(task.id, "me", offset=1000, limit=10)
    assert (behind.text, behind.end) == ("", len(whole)), "behind the end is nothing"
    await rig.tasks.aclose()


async def check_stop(rig: TasksRig) -> None:
    """The whole group is gone, and what it said is kept; a second stop changes nothing."""
    task = await _endless(rig)
    waited = await within(rig.tasks.wait(task, "me", 0.01), "waiting has a bound")
    assert waited.state == "running", "waiting does not end a task"
    end = await within(rig.tasks.stop(task, "me"), "a task can be stopped")
    assert end.state == "killed", "a stopped task says so"
    assert rig.left() == 0, "nothing of its process group is left"
    assert "begun" in rig.tasks.read(task, "me", offset=0, limit=100).text, "what it said is kept"
    assert (await rig.tasks.stop(task, "me")).state == "killed", "one that has ended stays as it is"
    assert not any("ended" in notice for notice in rig.tasks.notices("me")), "who stopped it knows"
    await rig.tasks.aclose()


async def check_owners(rig: TasksRig) -> None:
    """What one started, another can't see, read or stop; nor is there what nobody started."""
    task = await _endless(rig)
    assert rig.tasks.tasks("you") == (), "others see nothing of it"
    for name, owner in ((task, "you"), ("task_999", "me"), ("../x", "me")):
        await raises(UnknownTask, rig.tasks.wait(name, owner, 0), "another's task is unknown")
        await raises(UnknownTask, rig.tasks.stop(name, owner), "another's task is unknown")
        await raises(UnknownTask, _read(rig, name, owner), "another's task is unknown")
    await rig.tasks.aclose()


async def check_notices(rig: TasksRig) -> None:
    """The owner hears of an end, and of what a watched task prints, once."""
    heard: list[str] = []
    rig.tasks.listen(heard.append)
    task = await rig.tasks.start(rig.command(SAYS), watched=True)
    await within(rig.tasks.wait(task.id, "me", 10), "a task ends")
    said: list[str] = []

    def complete() -> bool:
        said.extend(rig.tasks.notices("me"))
        return any("ended" in one for one in said) and any("twö" in one for one in said)

    await until(complete, f"its end and its lines become notices: {said}")
    assert set(heard) == {"me"}, "the listener is told the owner"
    assert all(task.id in one for one in said), "a notice names its task"
    assert rig.tasks.notices("me") == (), "a notice is told once"
    quiet = await rig.tasks.start(rig.command(SAYS))
    await within(rig.tasks.wait(quiet.id, "me", 10), "a task ends")
    unwatched: list[str] = []

    def told() -> bool:
        unwatched.extend(rig.tasks.notices("me"))
        return bool(unwatched)

    await until(told, "an end is told")
    assert not any("twö" in one for one in unwatched), "nobody watches it"
    await rig.tasks.aclose()


async def check_aclose(rig: TasksRig) -> None:
    """Nothing is left running or on the disk, and nothing is started any more."""
    await _endless(rig)
    await _endless(rig)
    await within(rig.tasks.aclose(), "closing ends")
    assert rig.left() == 0, "nothing is left running"
    assert rig.filed() == 0, "nothing is left on the disk"
    await raises(OSError, rig.tasks.start(rig.command(QUIET)), "nothing is started after the end")
    await rig.tasks.aclose()


async def check_cancelled_close(rig: TasksRig) -> None:
    """Cancelled, closing has still ended everything when the cancellation passes."""
    await _endless(rig)
    closing = start(rig.tasks.aclose())
    await turn()
    closing.cancel()
    await ended(closing, "a cancelled close ends")
    assert rig.left() == 0, "nothing is left running"
    await rig.tasks.aclose()
    assert rig.filed() == 0, "nothing is left on the disk"


async def check_cancelled_callers(rig: TasksRig) -> None:
    """Who waits for a task can be cancelled, and the task runs on."""
    task = await _endless(rig)
    waiting = start(rig.tasks.wait(task, "me", 1000))
    await turn(3)
    await cancel(waiting, "cancellation passes through waiting")
    (still,) = rig.tasks.tasks("me")
    assert still.state == "running", "a task outlives who waits for it"
    await rig.tasks.aclose()


async def check_what_cant_be_started(rig: TasksRig) -> None:
    """An OSError, not a task."""
    work = rig.tasks.start(Command(QUIET, MISSING_FOLDER, None, owner="me"))
    await raises(OSError, work, "a command that can't be started is an OSError")
    assert rig.tasks.tasks("me") == (), "what was not started is no task"
    await rig.tasks.aclose()


async def _read(rig: TasksRig, name: str, owner: str) -> str:
    return rig.tasks.read(name, owner, offset=0, limit=10).text


async def _endless(rig: TasksRig) -> str:
    task = await rig.tasks.start(rig.command(ENDLESS))
    await until(
        lambda: "begun" in rig.tasks.read(task.id, "me", offset=0, limit=100).text,
        "output is there as it comes",
    )
    return task.id


CHECKS = (
    check_output_and_end,
    check_reading,
    check_stop,
    check_owners,
    check_notices,
    check_aclose,
    check_cancelled_close,
    check_cancelled_callers,
    check_what_cant_be_started,
)
