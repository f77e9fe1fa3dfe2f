"""
The gate: whether a call may run, and exactly what would (rule E4).

    known tool → arguments fit the schema → the tool says what it would do → the policy judges that

A call is judged when it is offered and once more when it starts, since a policy, a link or a file may
have changed meanwhile (rule T1). Anything that goes wrong on the way denies (rule T6).
"""

from collections.abc import Iterable, Sequence

from norma.domain.engine.state import Call
from norma.domain.model.actions import Action, action_digest, call_digest, tool_digest
from norma.domain.model.facts import Judged, ToolStarted
from norma.domain.model.questions import Grant, Question
from norma.domain.model.requests import ToolSpec
from norma.domain.model.values import define
from norma.domain.policy.policy import CurrentPolicy, Verdict
from norma.ports.errors import Refused
from norma.ports.schemas import SchemaCheck, SchemaCompiler
from norma.ports.tool import Tool
from norma.ports.tool_source import ToolSource


@define
class _Entry:
    """A tool on the shelf; its check is made at its first call."""

    tool: Tool
    digest: str
    check: SchemaCheck | None = None


@define
class _Denied(Exception):
    reason: str


class Toolbox:
    """
    The tools of an engine, by name: its own, and those that *sources* have at the moment.

    Raises ValueError if two of its own have the same name. Of a source's, one whose name is taken
    is left out; sources promise distinct names, so this is between a source and the others.
    """

    def __init__(
        self, tools: Iterable[Tool], schemas: SchemaCompiler, sources: Sequence[ToolSource] = ()
    ) -> None:
        self._schemas = schemas
        self._sources = tuple(sources)
        self._own: dict[str, _Entry] = {}
        for tool in tools:
            if tool.spec.name in self._own:
                raise ValueError(f"two tools are called {tool.spec.name!r}; give one another name")
            self._own[tool.spec.name] = _Entry(tool, tool_digest(tool.spec))
        self._seen: tuple[tuple[Tool, ...], ...] = ()
        self._entries = self._own
        self._specs = tuple(entry.tool.spec for entry in self._own.values())

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told."""
        self._look()
        return self._specs

    def _look(self) -> None:
        """Take in what has changed since the last look."""
        seen = tuple(source.tools() for source in self._sources)
        if len(seen) == len(self._seen) and all(a is b for a, b in zip(seen, self._seen, strict=True)):
            return
        before, entries = self._entries, dict(self._own)
        for tool in (tool for tools in seen for tool in tools):
            name = tool.spec.name
            old = before.get(name)
            entry = old if old is not None and old.tool is tool else _Entry(tool, tool_digest(tool.spec))
            entries.setdefault(name, entry)
        self._seen, self._entries = seen, entries
        self._specs = tuple(entry.tool.spec for entry in entries.values())

    def find(self, name: str) -> tuple[Tool, str]:
        """The tool of that name and its digest; raises `_Denied` if there is none."""
        self._look()
        entry = self._entries.get(name)
        if entry is None:
            raise _Denied(f"There is no tool {name!r}. There are: {', '.join(self._entries) or 'none'}.")
        return entry.tool, entry.digest

    def misfit(self, call: Call) -> str | None:
        """What is wrong with the call's arguments."""
        entry = self._entries[call.call.name]
        if entry.check is None:
            try:
                entry.check = self._schemas.compile(entry.tool.spec.input_schema)
            except ValueError as error:
                raise _Denied(f"The schema of {call.call.name} is not usable: {error}") from error
        return entry.check(call.call.arguments)


class Gate:
    """Judges the calls of one session."""

    def __init__(self, toolbox: Toolbox, policy: CurrentPolicy, session: str) -> None:
        self._toolbox = toolbox
        self._policy = policy
        self._session = session
        self._started: dict[str, tuple[Tool, Action]] = {}

    def judge(self, call: Call, grants: Sequence[Grant]) -> Judged:
        """The policy's word on an offered call."""
        try:
            tool, verdict, action, digest = self._verdict(call, grants)
        except _Denied as denied:
            return Judged(call.key, "deny", denied.reason)
        reason = verdict.why
        if verdict.decision == "ask":
            question = self._question(call, tool, action, digest, verdict.why)
            return Judged(call.key, "ask", reason, verdict.rule, tool.traits, question)
        return Judged(call.key, verdict.decision, reason, verdict.rule, tool.traits)

    def start(self, call: Call, grants: Sequence[Grant]) -> ToolStarted | Judged:
        """
        The start of a call that may run, or a new judgement.

        It starts if the policy in force allows what it would do now, or if a person said yes to
        exactly that.
        """
        try:
            tool, verdict, action, _ = self._verdict(call, grants)
        except _Denied as denied:
            return Judged(call.key, "deny", denied.reason)
        if verdict.decision == "allow" or (verdict.decision == "ask" and self._answered(call, tool, action)):
            self._started[call.key] = tool, action
            return ToolStarted(call.key, call.call.id, call.call.name)
        return self.judge(call, grants)

    def further(self, call: Call, action: Action, number: int, grants: Sequence[Grant]) -> Question | None:
        """
        What a running call wants to do beyond what it was allowed: None if it may, else the question.

        *number* counts the run's steps. Raises Refused if the policy denies it, or the tool has gone.
        """
        try:
            _, digest = self._toolbox.find(call.call.name)
        except _Denied as denied:
            raise Refused(denied.reason) from denied
        verdict = self._policy.policy.judge(action, tool_digest=digest, grants=grants)
        if verdict.decision == "deny":
            raise Refused(verdict.why)
        if verdict.decision == "allow":
            return None
        # What the call has asked before tells this question from one of a run that died.
        id_ = f"{self._session}:{call.key}+{call.asked}.{number}"
        return Question(id_, call.key, action, action_digest(action), digest, verdict.why)

    def running(self, call: Call) -> tuple[Tool, Action]:
        """The tool of a call that has started, and what it may do: as they were then. Asked once per call."""
        return self._started.pop(call.key)

    def _verdict(self, call: Call, grants: Sequence[Grant]) -> tuple[Tool, Verdict, Action, str]:
        if call.call.invalid:
            raise _Denied(
                "Not run: the arguments were no JSON object. Send the call again with valid JSON. "
                f"What came: {(call.call.raw or '')[:500]}"
            )
        tool, digest = self._toolbox.find(call.call.name)
        misfit = self._toolbox.misfit(call)
        if misfit is not None:
            raise _Denied(f"Not run: the arguments do not fit the schema of {call.call.name}: {misfit}")
        try:
            action = tool.examine(call.call.arguments)
        except Refused as refused:
            raise _Denied(str(refused)) from refused
        except Exception as error:
            # A tool that cannot say what it would do must not do it.
            raise _Denied(
                f"Not run: {call.call.name} could not say what it would do: {describe(error)}"
            ) from error
        return tool, self._policy.policy.judge(action, tool_digest=digest, grants=grants), action, digest

    def _question(self, call: Call, tool: Tool, action: Action, digest: str, why: str) -> Question:
        number = f"/{call.asked + 1}" if call.asked else ""
        return Question(
            id=f"{self._session}:{call.key}{number}",
            key=call.key,
            action=action,
            digest=call_digest(tool.spec, call.call.arguments),
            tool_digest=digest,
            why=why,
        )

    def _answered(self, call: Call, tool: Tool, action: Action) -> bool:
        question, answer = call.question, call.answer
        return (
            question is not None
            and answer is not None
            and answer.allows
            and question.action == action
            and question.digest == call_digest(tool.spec, call.call.arguments)
        )


def describe(error: BaseException) -> str:
    """An exception in words: its message, with its class where the message alone says little."""
    text = str(error)
    if not text:
        return type(error).__name__
    return text if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {text}"
