"""The promises of the command port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from norma.domain.model.values import frozen
from norma.ports.commands import Command, CommandRunner
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import ended, raises, start, until

SAYS = "printf 'one\\n'; printf 'two\\n' >&2; exit 3"
QUIET = "exit 0"
ENDLESS = "printf 'begun\\n'; sleep 1000 & sleep 1000"
MISSING_FOLDER = "/there/is/no/such/folder"


@frozen
class CommandRig:
    """
    A runner that runs the commands of this module, in the folder *cwd*, and can't start one in
    `MISSING_FOLDER`.

    *left* counts the processes that `ENDLESS` has left running. *pass_time* makes a clock that does not
    run by itself go on by that many seconds.
    """

    runner: CommandRunner
    cwd: str
    left: Callable[[], int]
    pass_time: Callable[[float], None] = lambda _: None


async def check_output_and_status(rig: CommandRig) -> None:
    """Both streams, as text, as they come and again at the end."""
    pieces: list[str] = []
    end = await rig.runner.run(Command(SAYS, rig.cwd), pieces.append)
    assert end.status == 3, "the status is the command's"
    assert sorted(end.output.split()) == ["one", "two"], f"the output is both streams: {end.output!r}"
    assert "".join(pieces) == end.output, "the output is told as it comes"
    assert (end.timed_out, end.omitted) == (False, 0), "nothing was left out"


async def check_silence(rig: CommandRig) -> None:
    """A command that says nothing has said nothing."""
    pieces: list[str] = []
    end = await rig.runner.run(Command(QUIET, rig.cwd, timeout_s=None), pieces.append)
    assert (end.status, end.output) == (0, ""), "silence is no output"
    assert not "".join(pieces), "silence is no output"


async def check_deadline(rig: CommandRig) -> None:
    """At the deadline the whole group is ended, and what was said is kept."""
    pieces: list[str] = []
    task = start(rig.runner.run(Command(ENDLESS, rig.cwd, timeout_s=0.5), pieces.append))
    await until(lambda: "begun" in "".join(pieces), "output is told as it comes")
    rig.pass_time(0.5)
    await ended(task, "a command is ended at its deadline")
    end = task.result()
    assert end.timed_out, "a command that was ended at its deadline says so"
    assert end.status != 0, "a command that was ended did not succeed"
    assert "begun" in end.output, "what was said before the deadline is kept"
    assert rig.left() == 0, "nothing of its process group is left"


async def check_cancel_everywhere(rig: CommandRig) -> None:
    """Cancelled at any await, the whole group is gone when the cancellation has passed."""

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        pieces: list[str] = []
        work = rig.runner.run(Command(ENDLESS, rig.cwd, timeout_s=None), pieces.append)
        yield Scenario(work, lambda: "begun" in "".join(pieces), after)

    async def after() -> None:
        assert rig.left() == 0, "nothing of its process group is left"

    await cancel_everywhere(make, "cancellation passes through a command", most=8)


async def check_several_at_once(rig: CommandRig) -> None:
    """Commands share nothing."""
    tasks = [start(rig.runner.run(Command(SAYS, rig.cwd), lambda _: None)) for _ in range(4)]
    for task in tasks:
        await ended(task, "a command comes to its end")
        assert sorted(task.result().output.split()) == ["one", "two"], "outputs do not mix"


async def check_what_cant_be_started(rig: CommandRig) -> None:
    """An OSError, not a status."""
    work = rig.runner.run(Command(QUIET, MISSING_FOLDER), lambda _: None)
    await raises(OSError, work, "a command that can't be started is an OSError")


CHECKS = (
    check_output_and_status,
    check_silence,
    check_deadline,
    check_cancel_everywhere,
    check_several_at_once,
    check_what_cant_be_started,
)
