"""
Approvers for a command line: a person at the terminal, or nobody.

Both answer permission questions of the engine (rules T2, T5, T6).
"""

import asyncio
from collections.abc import Callable

from norma.adapters.console.lines import LineInput
from norma.adapters.console.visible import visible
from norma.domain.model.questions import Answer, Question
from norma.ports.approver import Approver

_CHOICES = (
    "  [y] once   [s] for this session, as {rule}   [n] no   [n REASON] no, and say why   [q] no, and stop"
)


class ConsoleApprover(Approver):
    """
    Puts questions to a person, one by one.

    *show* writes text to the person's screen; answers come from *lines*. The end of the input
    (Ctrl-D) stops the turn. Answers that mean nothing are asked for again.
    """

    def __init__(self, lines: LineInput, show: Callable[[str], None]) -> None:
        self._lines = lines
        self._show = show
        self._turn = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        """Show all that will run, and wait for an answer."""
        async with self._turn:
            self._show(_text(question))
            while True:
                self._show("  > ")
                line = await self._lines.read()
                if line is None:
                    self._show("\n")
                    return Answer("stop")
                answer = _answer(line.strip())
                if answer is not None:
                    return answer
                self._show("  Please type y, s, n or q.\n")


def _text(question: Question) -> str:
    action = question.action
    # Every line of what will run is marked, so that none of it can pass for the question itself.
    shown = "\n".join(f"  | {line}" for line in visible(action.shows).split("\n"))
    why = f"  ({visible(question.why)})\n" if question.why else ""
    choices = _CHOICES.format(rule=visible(action.rule))
    return f"\n{visible(action.tool)} wants to do this:\n{shown}\n{why}{choices}\n"


def _answer(line: str) -> Answer | None:
    word, _, reason = line.partition(" ")
    match word.lower():
        case "y" | "yes" | "once" if not reason:
            return Answer("once")
        case "s" | "session" if not reason:
            return Answer("session")
        case "n" | "no":
            return Answer("deny", reason.strip() or None)
        case "q" | "stop" if not reason:
            return Answer("stop")
        case _:
            return None


class NobodyApprover(Approver):
    """Says no, because nobody can be asked, and names the rule that would allow it (rule T2)."""

    async def ask(self, question: Question) -> Answer:
        """Deny at once."""
        rule = question.action.rule
        return Answer(
            "deny",
            f"Nobody is there to ask for permission. The rule {rule} would allow it "
            f"(--allow '{rule}', or permissions.allow in norma.toml).",
        )
