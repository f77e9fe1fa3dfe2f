"""
A turn as a person sees it: the answer as it streams, tool calls beside it, what it cost at the end.

The answer goes to stdout; the rest goes to stderr, so that `norma ask … > file` keeps the answer alone.
What comes and goes (waiting, progress) is shown on a terminal only.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from norma.adapters.console.visible import one_line, visible
from norma.app.cli.output import Output, forgiving
from norma.app.cli.paint import Tone, painter
from norma.domain.model.blocks import Block, text_of
from norma.domain.model.events import Event, Note, ToolCalled, ToolProgress, UsageReported
from norma.domain.model.facts import ToolEnded, TurnEnded
from norma.domain.model.failures import Failure
from norma.domain.model.replies import TextDelta, ThinkingDelta
from norma.domain.model.usage import Attempt, Usage

_WIDTH = 100
_CLEAR = "\r\x1b[K"


class Screen(Output):
    """Text for a person on two streams, which may be one terminal, two pipes, or one of each."""

    def __init__(self, answer: TextIO | None = None, aside: TextIO | None = None) -> None:
        self._answer = forgiving(answer or sys.stdout)
        self._aside = forgiving(aside or sys.stderr)
        self._live = self._aside.isatty()
        self._one_terminal = self._live and self._answer.isatty()
        self._paint = painter(self._aside)
        self._line_open = False  # the answer's last line lacks its end
        self._passing = False  # a line that will be wiped stands on the terminal
        self._clock = _Stopwatch()
        self.tokens_per_s: Callable[[], float | None] | None = None
        """Who knows better than this clock how quick the model wrote."""

    @property
    def live(self) -> bool:
        """Whether a person watches: what comes and goes is shown."""
        return self._live

    # -- events

    def event(self, event: Event) -> None:
        """Show *event*."""
        match event:
            case TextDelta(text):
                self._clock.writing()
                self._say(text)
            case ThinkingDelta():
                self._clock.writing()
                self.waiting("thinking")
            case ToolCalled():
                self._clock.writing()
                self._line(f"→ {event.name}({_arguments(event)})", "cyan")
            case ToolProgress():
                self.waiting(f"{event.name}: {event.text}")
            case ToolEnded():
                mark = "✗" if event.is_error else "←"
                self._line(f"{mark} {event.name}: {_result(event)}", "red" if event.is_error else "dim")
                self.waiting("waiting for the model")
            case UsageReported():
                self._clock.stop()
            case Note(text):
                self._line(text, "dim")
            case TurnEnded():
                self._ended(event)
            case _:
                pass  # a start follows its call; a question is shown by whoever puts it

    def _ended(self, event: TurnEnded) -> None:
        self._end_answer()
        if event.outcome != "completed":
            why = f": {event.error.message}" if event.error else ""
            self._line(f"norma: the turn ended as {event.outcome}{why}", "red")
        calls = f"{event.turns} model call{'' if event.turns == 1 else 's'}"
        speed = self.tokens_per_s() if self.tokens_per_s is not None else None
        spent = cost(event.usage, self._clock.seconds, speed)
        self._line(f"[{calls} · {spent} · session {event.session}]", "dim")
        self._clock = _Stopwatch()

    # -- the rest of an output

    def record(self, line: Mapping[str, Any], text: str) -> None:
        """The text, on stdout, behind the end of what was streamed there."""
        self._end_answer()
        if text:
            self._say(text if text.endswith("\n") else text + "\n")

    def note(self, text: str) -> None:
        """A line on stderr."""
        self._line(f"norma: {text}", "dim")

    def failure(
        self,
        failure: Failure,
        *,
        partial: Sequence[Block] = (),
        usage: Usage | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """What was wrong, on stderr."""
        tries = f" (after {len(attempts)} attempts)" if len(attempts) > 1 else ""
        self._line(f"norma: {failure.message}{tries}", "red")

    def waiting(self, what: str) -> None:
        """Show on a terminal what is going on, until something else is shown."""
        if self._live and not (self._one_terminal and self._line_open):
            self._aside.write(f"{_CLEAR}… {one_line(what, 70)}")
            self._aside.flush()
            self._passing = True

    def show(self, text: str) -> None:
        """Write on the person's terminal as it is: a question, a prompt."""
        self._end_line()
        self._paint(text, "plain")

    def between(self) -> None:
        """A turn is over: leave the terminal with a clean line."""
        self._end_line()

    # -- writing

    def _say(self, text: str) -> None:
        self._wipe()
        self._answer.write(visible(text) if self._answer.isatty() else text)
        self._answer.flush()
        if text:
            self._line_open = not text.endswith("\n")

    def _line(self, text: str, tone: Tone) -> None:
        self._end_line()
        self._paint(visible(text) + "\n", tone)

    def _end_line(self) -> None:
        """Before a line on stderr: end the answer's line if both stand on one terminal."""
        self._wipe()
        if self._one_terminal:
            self._end_answer()

    def _end_answer(self) -> None:
        self._wipe()
        if self._line_open:
            self._answer.write("\n")
            self._answer.flush()
            self._line_open = False

    def _wipe(self) -> None:
        if self._passing:
            self._aside.write(_CLEAR)
            self._aside.flush()
            self._passing = False


class _Stopwatch:
    """How long the model was writing, from the first piece of each reply to its end."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since: float | None = None

    def writing(self) -> None:
        """A piece has come."""
        if self._since is None:
            self._since = time.monotonic()

    def stop(self) -> None:
        """The reply is over."""
        if self._since is not None:
            self.seconds += time.monotonic() - self._since
            self._since = None


def cost(usage: Usage, seconds: float, tokens_per_s: float | None = None) -> str:
    """
    What a turn cost, in words; what nobody reported is not made up.

    The speed is *tokens_per_s*, else what follows from the *seconds* in which the model was writing.
    """
    if usage.input_tokens is None and usage.output_tokens is None:
        return "tokens not reported"
    parts = []
    if usage.input_tokens is not None:
        cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
        parts.append(f"{usage.input_tokens:,} tokens in{cached}")
    if usage.output_tokens is not None:
        parts.append(f"{usage.output_tokens:,} out")
        speed = tokens_per_s or (usage.output_tokens / seconds if seconds > 0 else 0)
        if speed:
            parts.append(f"{speed:.1f} tokens/s")
    about = "" if usage.provenance == "reported" else f" ({usage.provenance})"
    return ", ".join(parts) + about


def _arguments(call: ToolCalled) -> str:
    if call.invalid:
        return one_line(call.raw or "", _WIDTH)
    return one_line(", ".join(f"{key}={json.dumps(value)}" for key, value in call.arguments.items()), _WIDTH)


def _result(ended: ToolEnded) -> str:
    text = text_of(ended.blocks).strip()
    lines = text.count("\n") + 1
    more = f"  ({lines} lines)" if lines > 1 else ""
    return (one_line(text.partition("\n")[0], _WIDTH) or "done") + more
