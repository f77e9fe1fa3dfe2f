"""The promises of the approver port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from norma.domain.model.actions import Action, Effects
from norma.domain.model.questions import Answer, Later, Question
from norma.domain.model.values import frozen
from norma.ports.approver import Approver
from norma.ports.contracts.cancels import Scenario, cancel_everywhere
from norma.ports.contracts.tasks import ended, start

LONG = "printf '%s' " + "x" * 3000 + " && rm -rf /project/build"


def question(number: int = 1, shows: str = "git status") -> Question:
    """A question about a command."""
    action = Action("Bash", Effects(processes=True), shows, "Bash(git status:*)", command=shows)
    return Question(f"q{number}", f"0.{number}", action, f"digest{number}", "tool", "no rule allows it")


@frozen
class ApproverRig:
    """
    *answering* gives *expected* to every question, and *shown* is all that its person has seen so far.
    *silent* makes an approver whose person never answers; *asked* counts what that one has put.
    """

    answering: Approver
    expected: Answer | Later
    shown: Callable[[], str]
    silent: Callable[[], Approver]
    asked: Callable[[], int]


async def check_answer(rig: ApproverRig) -> None:
    """The person's word comes back as it was given."""
    got = await rig.answering.ask(question())
    assert got == rig.expected, f"the answer is the person's: {got!r} instead of {rig.expected!r}"


async def check_t5_all_is_shown(rig: ApproverRig) -> None:
    """What will run is shown uncut, also when it is long."""
    await rig.answering.ask(question(shows=LONG))
    seen = "".join(rig.shown().split())
    assert "".join(LONG.split()) in seen, "all of what will run is shown, uncut"


async def check_several_at_once(rig: ApproverRig) -> None:
    """Each gets its answer, whatever the order on the screen."""
    tasks = [start(rig.answering.ask(question(number, f"ls {number}"))) for number in range(5)]
    for task in tasks:
        await ended(task, "several questions may be open at once, and each is answered")
        assert task.result() == rig.expected, "each question gets its answer"
    for number in range(5):
        assert f"ls {number}" in rig.shown(), "each question is shown"


async def check_cancel(rig: ApproverRig) -> None:
    """A question that no longer matters is withdrawn, wherever it waits."""

    @asynccontextmanager
    async def make() -> AsyncIterator[Scenario]:
        before = rig.asked()
        yield Scenario(rig.silent().ask(question()), lambda: rig.asked() > before, _nothing)

    await cancel_everywhere(make, "cancellation passes through a question")


async def _nothing() -> None:
    """What is left behind is seen by whoever runs the check."""


CHECKS = (check_answer, check_t5_all_is_shown, check_several_at_once, check_cancel)
