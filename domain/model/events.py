"""
Events: all that a host is told, in one stream.

Deltas come in the order in which the model yields them; a tool's start after its call, progress
between start and end, the next reply after all results; `TurnEnded` is last.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from norma.domain.model.actions import Action
from norma.domain.model.blocks import ToolCall
from norma.domain.model.facts import ToolEnded, ToolStarted, TurnEnded
from norma.domain.model.questions import Question
from norma.domain.model.replies import TextDelta, ThinkingDelta
from norma.domain.model.tags import tagged
from norma.domain.model.usage import Usage
from norma.domain.model.values import frozen


@tagged("tool_call", when="key")
@frozen
class ToolCalled:
    """Event: the model has asked for a tool. The call's own fields stand beside the engine's key."""

    key: str
    id: str
    name: str
    arguments: Mapping[str, Any]
    invalid: bool = False
    raw: str | None = None

    @classmethod
    def of(cls, key: str, call: ToolCall) -> "ToolCalled":
        """The event for *call*."""
        return cls(key, call.id, call.name, call.arguments, call.invalid, call.raw)


@tagged("tool_progress")
@frozen
class ToolProgress:
    """Something a running tool shows meanwhile."""

    key: str
    id: str
    name: str
    text: str


@tagged("question")
@frozen
class QuestionAsked:
    """
    A person must decide. `session.answer(id, …)` decides.

    *text* is exactly what will run. *rule* is what "session" would grant.
    """

    id: str
    key: str
    tool: str
    text: str
    rule: str
    why: str
    action: Action

    @classmethod
    def of(cls, question: Question) -> "QuestionAsked":
        """The event for *question*."""
        action = question.action
        return cls(question.id, question.key, action.tool, action.shows, action.rule, question.why, action)


@tagged("usage")
@frozen
class UsageReported:
    """What this turn has cost so far; told after each model call."""

    usage: Usage


@tagged("note")
@frozen
class Note:
    """Something a host may want to show or log: a cut, a fallback, a late answer that was dropped."""

    text: str


Event: TypeAlias = (
    TextDelta
    | ThinkingDelta
    | ToolCalled
    | ToolStarted
    | ToolProgress
    | ToolEnded
    | QuestionAsked
    | UsageReported
    | Note
    | TurnEnded
)
