"""
The embedded model as the engine sees it.

`GuidedModel` is for models too small to call tools: a plan of ours makes the calls, the answer quotes what
they found, and the model adds a sentence. `SchemaToolsModel` is for bigger ones.
"""

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from attrs import evolve

from norma.adapters.embedded.answer import ADDS, SAYS, findings, question, quotations
from norma.adapters.embedded.planner import Report, Talk, UseTools, next_step
from norma.adapters.embedded.schema_tools import SchemaToolsModel
from norma.domain.model.blocks import Block, Text
from norma.domain.model.failures import Failure
from norma.domain.model.messages import Message
from norma.domain.model.replies import BlockEnded, ReplyEvent, ReplyFinished, Stop, TextDelta
from norma.domain.model.requests import ReplyOptions, ReplyRequest, SystemSegment
from norma.domain.model.usage import NOTHING
from norma.domain.model.values import frozen
from norma.ports.clock import Clock
from norma.ports.errors import ModelError
from norma.ports.model import ChatModel, Reply

__all__ = ["BANNER", "GuidedModel", "SchemaToolsModel", "Speed"]

BANNER = (
    "The embedded model (135 million parameters) finds and quotes places in your files; that part you can "
    "trust; the sentence it adds is often wrong. For real work name a model in norma.toml (models.<name>: "
    "wire, base_url, model, api_key_env), set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server "
    "such as Ollama."
)
"""What a person is told when this model answers."""

# Tried in several wordings: about a text the model does best under the words it was tuned with.
_ABOUT_A_TEXT = "You are a helpful assistant."
_SMALL_TALK = (
    "You are a small assistant inside a program that finds text in files. Answer in one short sentence."
)
_MOST_TOKENS = 90
_LONGEST_PROMPT = 4_000
_SAMPLING = {"repeat_penalty": 1.1, "seed": 1}


@frozen
class Speed:
    """How quick the real model was: *waited_s* until its first words, then *wrote_s* for *output_tokens*."""

    waited_s: float
    wrote_s: float
    output_tokens: int | None

    @property
    def tokens_per_s(self) -> float | None:
        """None where it can't be told: no count, or less than two tokens."""
        if self.output_tokens is None or self.output_tokens < 2 or self.wrote_s <= 0:
            return None
        return (self.output_tokens - 1) / self.wrote_s  # the first one came at the beginning of wrote_s


class GuidedModel(ChatModel):
    """
    Makes a small model useful: the next step follows from the request alone, by a fixed plan.

    Replies that call tools, and reports of failure, never touch *inner*. An answer quotes what was found
    before *inner* is asked, so a failure of *inner* leaves it in the error's `partial`. *inner*'s limit of
    tokens is the plan's and no fault: its sentence then ends in "…" and the reply is complete.
    *report* is told how quick *inner* was. Neither is closed by this object.
    """

    def __init__(
        self, inner: ChatModel, *, clock: Clock, report: Callable[[Speed], None] | None = None
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._report = report

    @property
    def name(self) -> str:
        return f"{self._inner.name}, guided"

    def reply(self, request: ReplyRequest) -> Reply:
        return _GuidedReply(self._inner, request, self._clock, self._report)


class _GuidedReply(Reply):
    """Our own events first; then, in an answer, those of the real model."""

    def __init__(
        self, inner: ChatModel, request: ReplyRequest, clock: Clock, report: Callable[[Speed], None] | None
    ) -> None:
        self._model = inner
        self._request = request
        self._clock = clock
        self._report = report
        self._ready: deque[ReplyEvent] = deque()
        self._blocks: list[Block] = []
        self._inner: Reply | None = None
        self._begun = False
        self._closed = False
        self._asked_at = 0.0
        self._first_at: float | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReplyEvent:
        if not self._begun and not self._closed:
            self._begun = True
            self._begin()
        if self._closed:
            raise StopAsyncIteration
        if not self._ready:
            await self._hear()
        event = self._ready.popleft()
        if isinstance(event, ReplyFinished):
            self._closed = True
        return event

    def _begin(self) -> None:
        match next_step(self._request):
            case UseTools(words, calls):
                self._say(words)
                self._ready.extend(map(BlockEnded, calls))
                self._ready.append(ReplyFinished(Stop("tool_use"), NOTHING))
            case Talk(prompt):
                self._say(SAYS)
                self._ask(_SMALL_TALK, prompt[-_LONGEST_PROMPT:])
            case Report() as report:
                quoted = quotations(report)
                if not quoted:
                    self._say(findings(report, quoted))
                    self._ready.append(ReplyFinished(Stop("end_turn"), NOTHING))
                    return
                self._say(f"{findings(report, quoted)}\n{ADDS}")
                self._ask(_ABOUT_A_TEXT, question(report, quoted[0]))

    def _say(self, text: str) -> None:
        self._blocks.append(Text(text))
        self._ready.extend((TextDelta(text), BlockEnded(Text(text))))

    def _ask(self, system: str, prompt: str) -> None:
        given = self._request.options
        options = ReplyOptions(
            max_tokens=min(_MOST_TOKENS, given.max_tokens or _MOST_TOKENS),
            temperature=0.2,
            stop=("\n",),  # one paragraph: what comes behind it is a made-up next question, or code
            stream=given.stream,
            extra_headers=given.extra_headers,
            extra_body={**_SAMPLING, **given.extra_body},
        )
        message = Message("user", (Text(prompt),))
        self._inner = self._model.reply(ReplyRequest((message,), (SystemSegment(system),), options=options))

    async def _hear(self) -> None:
        """Take one event of the real model."""
        assert self._inner is not None  # only an answer has no end of its own
        if self._first_at is None:
            self._asked_at = self._asked_at or self._clock.monotonic()
        try:
            event = await self._inner.__anext__()
        except StopAsyncIteration:
            self._closed = True
            raise self._failed(ModelError(Failure("protocol", "the reply has no end"))) from None
        except ModelError as error:
            self._closed = True
            raise self._failed(error) from error
        except BaseException:
            self._closed = True
            raise
        if self._first_at is None:
            self._first_at = self._clock.monotonic()
        if isinstance(event, ReplyFinished):
            self._finish(event)
        else:
            self._ready.append(event)

    def _finish(self, event: ReplyFinished) -> None:
        if self._report is not None and self._first_at is not None:
            now = self._clock.monotonic()
            self._report(
                Speed(self._first_at - self._asked_at, now - self._first_at, event.usage.output_tokens)
            )
        if event.empty:
            self._say("nothing.")
        if event.stop.reason == "max_tokens" and self._limit_is_ours():
            self._say(" …")
            event = evolve(event, stop=Stop("end_turn", event.stop.raw))
        self._ready.append(evolve(event, empty=False))

    def _limit_is_ours(self) -> bool:
        given = self._request.options.max_tokens
        return given is None or given > _MOST_TOKENS

    def _failed(self, error: ModelError) -> ModelError:
        return ModelError(
            error.failure,
            partial=(*self._blocks, *error.partial),
            usage=error.usage,
            attempts=error.attempts,
        )

    async def aclose(self) -> None:
        self._closed = True
        self._ready.clear()
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
